package com.oneclaw.chat

import androidx.compose.runtime.Immutable

/**
 * A text that is still growing.
 *
 * What is complete is set aside in [blocks], so that neither appending nor drawing has to touch it again; only [open] is
 * copied when more comes. A block ends at a blank line, but not inside a fenced code block: each can be drawn as Markdown on
 * its own.
 */
@Immutable
data class StreamedText(val blocks: List<String> = emptyList(), val open: String = "") {
    val isEmpty: Boolean get() = blocks.isEmpty() && open.isEmpty()

    /** The whole text, joined anew at each call. */
    val text: String get() = if (blocks.isEmpty()) open else blocks.joinToString("") + open

    fun append(delta: String): StreamedText {
        if (delta.isEmpty()) return this
        val grown = open + delta
        // A blank line can only be new where the delta begins or later.
        val cut = lastBlockEnd(grown, from = maxOf(0, open.length - 1))
        if (cut == 0) return copy(open = grown)
        return StreamedText(blocks + grown.substring(0, cut), grown.substring(cut))
    }

    private fun lastBlockEnd(grown: String, from: Int): Int {
        var end = grown.lastIndexOf(BLANK_LINE)
        while (end >= from) {
            val cut = end + BLANK_LINE.length
            if (!isInsideFence(grown, cut)) return cut
            end = grown.lastIndexOf(BLANK_LINE, end - 1)
        }
        return 0
    }

    private fun isInsideFence(grown: String, end: Int): Boolean {
        var fence: String? = null
        var line = 0
        while (line < end) {
            val marker = FENCES.find { grown.startsWith(it, line + indent(grown, line)) }
            if (marker != null && fence == null) {
                fence = marker
            } else if (marker == fence) {
                fence = null
            }
            line = grown.indexOf('\n', line).let { if (it < 0) end else it + 1 }
        }
        return fence != null
    }

    private fun indent(grown: String, line: Int): Int {
        var spaces = 0
        while (spaces < MAX_INDENT && grown.getOrNull(line + spaces) == ' ') spaces++
        return spaces
    }

    private companion object {
        const val BLANK_LINE = "\n\n"
        const val MAX_INDENT = 3
        val FENCES = listOf("```", "~~~")
    }
}
