package com.oneclaw.chat

import com.oneclaw.core.ToolStatus
import java.math.BigDecimal
import java.math.RoundingMode

private const val THOUSAND = 1_000
private const val MILLION = 1_000_000

val ToolStatus.isFinal: Boolean
    get() = this == ToolStatus.SUCCESS || this == ToolStatus.ERROR || this == ToolStatus.TIMEOUT

/** A number of tokens, short: 950, 8.1K, 128K, 1.05M. Never more than there are. */
fun formatTokens(tokens: Long): String = when {
    tokens < THOUSAND -> tokens.toString()
    tokens < MILLION -> shorten(tokens, THOUSAND, digits = 1) + "K"
    else -> shorten(tokens, MILLION, digits = 2) + "M"
}

/** Below ten units with so many digits behind the point, above with none. */
private fun shorten(value: Long, unit: Int, digits: Int): String {
    val scale = if (value < 10L * unit) digits else 0
    return BigDecimal(value).divide(BigDecimal(unit), scale, RoundingMode.DOWN).stripTrailingZeros().toPlainString()
}
