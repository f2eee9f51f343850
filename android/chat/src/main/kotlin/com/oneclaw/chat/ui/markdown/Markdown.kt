package com.oneclaw.chat.ui.markdown

import androidx.compose.runtime.Immutable

/** A piece of a Markdown text that stands on lines of its own. */
@Immutable
sealed interface Block {
    data class Paragraph(val content: List<Inline>) : Block

    data class Heading(val level: Int, val content: List<Inline>) : Block

    /** A fenced block. [info] is what follows the fence; its first word names the language. */
    data class Code(val info: String, val text: String) : Block {
        val language: String get() = info.substringBefore(' ').trim('{', '}', '.')
    }

    data class Items(val items: List<Item>) : Block

    data class Quote(val blocks: List<Block>) : Block

    /** [rows] may be longer or shorter than [header]. */
    data class Table(val header: List<Cell>, val alignments: List<Alignment>, val rows: List<List<Cell>>) : Block {
        val columns: Int get() = maxOf(header.size, rows.maxOfOrNull { it.size } ?: 0)
    }

    data object Rule : Block
}

/** One entry of a list. [number] is as written, null for a bullet; [isDone] is that of a task. */
@Immutable
data class Item(val number: String?, val isDone: Boolean?, val blocks: List<Block>)

@Immutable
data class Cell(val content: List<Inline>)

enum class Alignment { START, CENTER, END }

/** A piece of a line. */
@Immutable
sealed interface Inline {
    data class Text(val text: String) : Inline

    data class Code(val text: String) : Inline

    data class Styled(val style: Style, val content: List<Inline>) : Inline

    /** A link or, as pictures are not fetched from elsewhere, a picture. */
    data class Link(val url: String, val content: List<Inline>) : Inline

    data object Break : Inline
}

enum class Style { EMPHASIS, STRONG, STRIKE }

/** How deep quotes, lists and emphasis may lie in each other; what is deeper stays as it was written. */
internal const val MAX_DEPTH = 10

/**
 * Reads the Markdown that models write: headings, emphasis, code, lists, tasks, quotes, tables, links and rules. HTML stays
 * text. Takes any text without failing, in time that grows with its length only.
 */
fun parseMarkdown(text: String): List<Block> = BlockParser(depth = 0).parse(linesOf(text))

private fun linesOf(text: String): List<String> = text.replace("\r\n", "\n").replace('\r', '\n').split('\n')
