package com.oneclaw.chat

import java.net.URI
import java.net.URISyntaxException

/** What is wrong with a field. [Strings] has the words. */
enum class FieldError { REQUIRED, NOT_A_URL, NOT_HTTP, HAS_QUERY, HAS_SPACES, NOT_A_NUMBER, TOO_SMALL, TOO_BIG }

private val MIN_THRESHOLD = 10.toBigDecimal()
private val MAX_THRESHOLD = 95.toBigDecimal()
private const val MIN_TOKENS = 256L
private const val MAX_TOKENS = 100_000_000L

fun checkRequired(text: String): FieldError? = if (text.isBlank()) FieldError.REQUIRED else null

/** A base URL is http or https with a host, and has neither query nor fragment: paths are appended to it. */
fun checkBaseUrl(text: String): FieldError? {
    val trimmed = text.trim()
    if (trimmed.isEmpty()) return FieldError.REQUIRED
    val uri = try {
        URI(trimmed)
    } catch (_: URISyntaxException) {
        return FieldError.NOT_A_URL
    }
    return when {
        uri.scheme == null -> FieldError.NOT_A_URL
        uri.scheme.lowercase() !in setOf("http", "https") -> FieldError.NOT_HTTP
        uri.rawAuthority?.substringBefore(':').isNullOrEmpty() -> FieldError.NOT_A_URL
        uri.rawQuery != null || uri.rawFragment != null -> FieldError.HAS_QUERY
        else -> null
    }
}

/** A key may be left out, but has no spaces or line breaks: those come from a bad paste. */
fun checkKey(text: String): FieldError? = when {
    text.isEmpty() -> null
    text.isBlank() -> FieldError.REQUIRED
    text.trim().any { it.isWhitespace() || it.isISOControl() } -> FieldError.HAS_SPACES
    else -> null
}

/** A number of tokens; empty means unknown. Spaces, commas and underscores between digits are allowed. */
fun checkTokens(text: String): FieldError? {
    if (text.isBlank()) return null
    val tokens = tokensOf(text) ?: return FieldError.NOT_A_NUMBER
    return when {
        tokens < MIN_TOKENS -> FieldError.TOO_SMALL
        tokens > MAX_TOKENS -> FieldError.TOO_BIG
        else -> null
    }
}

/** A reply is not longer than the window. */
fun checkFits(part: String, whole: String): FieldError? {
    val small = tokensOf(part) ?: return null
    val big = tokensOf(whole) ?: return null
    return if (small > big) FieldError.TOO_BIG else null
}

fun checkThreshold(text: String): FieldError? {
    if (text.isBlank()) return null
    val percent = text.trim().toBigDecimalOrNull() ?: return FieldError.NOT_A_NUMBER
    return when {
        percent < MIN_THRESHOLD -> FieldError.TOO_SMALL
        percent > MAX_THRESHOLD -> FieldError.TOO_BIG
        else -> null
    }
}

internal fun tokensOf(text: String): Long? = text.filterNot { it in " ,_'\u00a0\u202f" }.toLongOrNull()

/** 85 percent is a share of 0.85. */
internal fun shareText(percent: String): String? = percent.trim().toBigDecimalOrNull()?.movePointLeft(2)?.toPlainString()

internal fun percentText(share: String): String =
    share.toBigDecimalOrNull()?.movePointRight(2)?.stripTrailingZeros()?.toPlainString().orEmpty()
