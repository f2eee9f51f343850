package com.oneclaw.chat

import com.oneclaw.core.ToolStatus
import java.util.Locale

private const val THOUSAND = 1_000
private const val MILLION = 1_000_000

val ToolStatus.isFinal: Boolean
    get() = this == ToolStatus.SUCCESS || this == ToolStatus.ERROR || this == ToolStatus.TIMEOUT

/** A number of tokens, short: 950, 8.2K, 128K, 1M. */
fun formatTokens(tokens: Long): String = when {
    tokens < THOUSAND -> tokens.toString()
    tokens < MILLION -> shorten(tokens, THOUSAND) + "K"
    else -> shorten(tokens, MILLION) + "M"
}

private fun shorten(value: Long, unit: Int): String {
    val tenths = value * 10 / unit
    val hasTenths = tenths < 100 && tenths % 10 != 0L
    return if (hasTenths) String.format(Locale.ROOT, "%d.%d", tenths / 10, tenths % 10) else (tenths / 10).toString()
}
