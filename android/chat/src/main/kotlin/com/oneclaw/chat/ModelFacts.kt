package com.oneclaw.chat

import androidx.compose.runtime.Immutable
import com.oneclaw.core.ListedModel
import com.oneclaw.core.Model
import com.oneclaw.core.ModelPrice
import java.math.BigDecimal
import java.math.RoundingMode

private const val PRICE_DIGITS = 4

/** What is known of a model, as all lists of models show it. What nobody says is null. */
@Immutable
data class ModelFacts(
    val window: Long?,
    val inputLimit: Long?,
    val price: ModelPrice?,
    val abilities: List<Ability>,
    val ends: String?,
    val isSwitchedOff: Boolean,
)

/** What a model can do besides reading and writing text. */
enum class Ability { TOOLS, PICTURES, PDF, THINKING }

val Model.facts: ModelFacts
    get() = ModelFacts(window, inputLimit, price, abilities(callsTools, seesPictures, readsPdf, reasons), ends, isSwitchedOff)

val ListedModel.facts: ModelFacts
    get() = ModelFacts(window, inputLimit, price, abilities(callsTools, seesPictures, readsPdf, reasons), ends, isSwitchedOff)

private fun abilities(tools: Boolean?, pictures: Boolean?, pdf: Boolean?, thinking: Boolean?): List<Ability> = listOfNotNull(
    Ability.TOOLS.takeIf { tools == true },
    Ability.PICTURES.takeIf { pictures == true },
    Ability.PDF.takeIf { pdf == true },
    Ability.THINKING.takeIf { thinking == true },
)

/** The window, the limit on the prompt where that is another, and the price where it is known. */
fun Strings.sizeAndPriceOf(facts: ModelFacts): List<String> = listOfNotNull(
    windowOf(facts.window),
    facts.inputLimit?.takeIf { it != facts.window }?.let { models.inputText.fill(formatTokens(it)) },
    facts.price?.let(::priceOf),
)

/** The price of a million tokens, in and out; what is unknown is a question mark. */
private fun Strings.priceOf(price: ModelPrice): String {
    if (price.input == 0.0 && price.output == 0.0) return models.free
    return models.priceText.fill(dollars(price.input), dollars(price.output))
}

fun Strings.abilitiesOf(facts: ModelFacts): String? = facts.abilities.joinToString(" · ", transform = ::of).ifEmpty { null }

/** Until when the model can be used, or since when it cannot. */
fun Strings.endOf(facts: ModelFacts): String? = facts.ends?.let { day ->
    (if (facts.isSwitchedOff) models.switchedOffText else models.untilText).fill(day)
}

/** Dollars, and cents where there are any: 2, 2.50, 0.075. */
internal fun dollars(amount: Double?): String {
    val exact = BigDecimal(amount ?: return "?").setScale(PRICE_DIGITS, RoundingMode.HALF_UP).stripTrailingZeros()
    return (if (exact.scale() == 1) exact.setScale(2) else exact).toPlainString()
}
