package com.oneclaw.chat.ui.models

import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.text.style.TextOverflow
import com.oneclaw.chat.ModelFacts
import com.oneclaw.chat.Strings
import com.oneclaw.chat.abilitiesOf
import com.oneclaw.chat.endOf
import com.oneclaw.chat.sizeAndPriceOf

private const val DISABLED = 0.6f

/** The name of a model; pale where it is switched off. */
@Composable
internal fun ModelName(name: String, isSwitchedOff: Boolean) {
    val color = MaterialTheme.colorScheme.onSurface
    Text(
        name,
        style = MaterialTheme.typography.bodyLarge,
        color = if (isSwitchedOff) color.copy(alpha = DISABLED) else color,
        maxLines = 1,
        overflow = TextOverflow.Ellipsis,
    )
}

/** What is known of a model, below its name. [others] stand first. */
@Composable
internal fun ModelDetails(facts: ModelFacts, strings: Strings, others: List<String> = emptyList()) {
    val colors = MaterialTheme.colorScheme
    SmallLine((others + strings.sizeAndPriceOf(facts)).joinToString(" · "), colors.onSurfaceVariant)
    strings.abilitiesOf(facts)?.let { SmallLine(it, colors.onSurfaceVariant) }
    strings.endOf(facts)?.let { SmallLine(it, if (facts.isSwitchedOff) colors.error else colors.onSurfaceVariant) }
}

@Composable
private fun SmallLine(text: String, color: Color) = Text(text, style = MaterialTheme.typography.bodySmall, color = color)
