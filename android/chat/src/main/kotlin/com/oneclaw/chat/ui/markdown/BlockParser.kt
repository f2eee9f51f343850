package com.oneclaw.chat.ui.markdown

private val FENCE = Regex("^( *)(`{3,}|~{3,})([^`]*)$")
private val ITEM = Regex("^( *)(?:[-*+•]|(\\d{1,9})[.)])(?:[ \t]+(.*)|)$")
private val TASK = Regex("^\\[([ xX])][ \t]+(.*)$")
private val DIVIDER_CELL = Regex("^:?-+:?$")
private const val RULE_LENGTH = 3
private const val CHILD_INDENT = 2
private const val MAX_HEADING = 6

/** Longer lines are taken for text: nobody writes a heading or a table row of that length. */
private const val MAX_MARKED_LINE = 10_000

/** Reads lines into blocks. Each level of quotes and lists has a parser of its own. */
internal class BlockParser(private val depth: Int) {
    private val blocks = ArrayList<Block>()
    private val paragraph = ArrayList<String>()
    private var lines: List<String> = emptyList()
    private var at = 0

    fun parse(lines: List<String>): List<Block> {
        this.lines = lines
        while (at < lines.size) {
            val line = lines[at]
            if (line.isBlank()) {
                endParagraph()
                at++
            } else if (!readMarked(line)) {
                paragraph += line
                at++
            }
        }
        endParagraph()
        return blocks
    }

    private fun readMarked(line: String): Boolean = line.length <= MAX_MARKED_LINE &&
        (readFence(line) || readHeading(line) || readRule(line) || readQuote(line) || readItems(line) || readTable(line))

    private fun endParagraph() {
        if (paragraph.isEmpty()) return
        blocks += Block.Paragraph(inlinesOf(paragraph.map { it.trimStart() }))
        paragraph.clear()
    }

    private fun add(block: Block): Boolean {
        endParagraph()
        blocks += block
        return true
    }

    /** An unclosed fence reaches to the end: that is what it looks like while it is being written. */
    private fun readFence(line: String): Boolean {
        val (indent, marks, info) = FENCE.matchEntire(line)?.destructured ?: return false
        val code = ArrayList<String>()
        at++
        while (at < lines.size && !isFenceEnd(lines[at], marks)) code += lines[at++].dropIndent(indent.length)
        at++
        return add(Block.Code(info.trim(), code.joinToString("\n")))
    }

    private fun isFenceEnd(line: String, marks: String): Boolean {
        val trimmed = line.trim()
        return trimmed.length >= marks.length && trimmed.all { it == marks[0] }
    }

    private fun readHeading(line: String): Boolean {
        val level = headingLevel(line) ?: return false
        val text = line.trim().drop(level).trim()
        val bare = text.trimEnd('#')
        at++
        return add(Block.Heading(level, inlinesOf(if (bare.isEmpty() || bare.last().isWhitespace()) bare.trim() else text)))
    }

    private fun headingLevel(line: String): Int? {
        val trimmed = line.trim()
        val level = trimmed.indexOfFirst { it != '#' }.let { if (it < 0) trimmed.length else it }
        val isMarked = level in 1..MAX_HEADING && (level == trimmed.length || trimmed[level].isWhitespace())
        return level.takeIf { isMarked }
    }

    private fun readRule(line: String): Boolean {
        if (!isRule(line)) return false
        at++
        return add(Block.Rule)
    }

    private fun isRule(line: String): Boolean {
        val marks = line.filterNot { it == ' ' || it == '\t' }
        return marks.length >= RULE_LENGTH && marks[0] in "-*_" && marks.all { it == marks[0] }
    }

    private fun readQuote(line: String): Boolean {
        if (depth >= MAX_DEPTH || !line.trimStart().startsWith('>')) return false
        val inside = ArrayList<String>()
        while (at < lines.size && lines[at].trimStart().startsWith('>')) {
            inside += lines[at++].trimStart().removePrefix(">").removePrefix(" ")
        }
        return add(Block.Quote(BlockParser(depth + 1).parse(inside)))
    }

    private fun readItems(line: String): Boolean {
        if (depth >= MAX_DEPTH || itemAt(line) == null) return false
        val first = checkNotNull(itemAt(line))
        val items = ArrayList<Item>()
        while (at < lines.size) {
            val start = itemAt(lines[at]) ?: break
            if (isRule(lines[at]) || start.isNumbered != first.isNumbered) break
            items += readItem(start)
            // Items may have blank lines between them.
            val next = nextWritten(at)
            if (next < lines.size && itemAt(lines[next])?.isNumbered == first.isNumbered) at = next
        }
        return add(Block.Items(items))
    }

    private fun readItem(start: ItemStart): Item {
        val task = TASK.matchEntire(start.text)
        val inside = arrayListOf(task?.groupValues?.get(2) ?: start.text)
        at++
        while (at < lines.size) {
            val line = lines[at]
            if (line.isBlank()) {
                val next = nextWritten(at)
                if (next >= lines.size || indentOf(lines[next]) < start.childIndent) break
                inside += ""
                at = next - 1
            } else if (indentOf(line) >= start.childIndent) {
                inside += line.dropIndent(start.textIndent)
            } else if (inside.last().isNotBlank() && isPlain(line)) {
                inside += line.trimStart()
            } else {
                break
            }
            at++
        }
        val isDone = task?.let { it.groupValues[1] != " " }
        return Item(start.number, isDone, BlockParser(depth + 1).parse(inside))
    }

    private fun nextWritten(from: Int): Int {
        var next = from
        while (next < lines.size && lines[next].isBlank()) next++
        return next
    }

    /** Whether a line goes on with what stands above it. */
    private fun isPlain(line: String): Boolean = line.length > MAX_MARKED_LINE ||
        (itemAt(line) == null && FENCE.matchEntire(line) == null && headingLevel(line) == null &&
            !isRule(line) && !line.trimStart().startsWith('>'))

    private fun readTable(line: String): Boolean {
        val divider = lines.getOrNull(at + 1) ?: return false
        if ('|' !in line || '-' !in divider || divider.length > MAX_MARKED_LINE) return false
        val marks = cellsOf(divider)
        val header = cellsOf(line)
        if (marks.size != header.size || !marks.all { DIVIDER_CELL.matches(it) }) return false
        at += 2
        val rows = ArrayList<List<Cell>>()
        while (at < lines.size && '|' in lines[at] && lines[at].length <= MAX_MARKED_LINE) {
            rows += cellsOf(lines[at++]).map { Cell(inlinesOf(it)) }
        }
        return add(Block.Table(header.map { Cell(inlinesOf(it)) }, marks.map(::alignmentOf), rows))
    }

    private fun alignmentOf(mark: String): Alignment = when {
        mark.startsWith(':') && mark.endsWith(':') -> Alignment.CENTER
        mark.endsWith(':') -> Alignment.END
        else -> Alignment.START
    }

    private fun cellsOf(line: String): List<String> {
        val cells = ArrayList<String>()
        val cell = StringBuilder()
        val row = line.trim().removePrefix("|")
        var isEscaped = false
        for (char in row) {
            if (char == '|' && !isEscaped) {
                cells += cell.toString().trim()
                cell.clear()
            } else {
                // "\|" is a bar inside a cell.
                if (char == '|') cell.setLength(cell.length - 1)
                cell.append(char)
            }
            isEscaped = char == '\\' && !isEscaped
        }
        if (cell.isNotBlank()) cells += cell.toString().trim()
        return cells
    }

    private fun itemAt(line: String): ItemStart? {
        if (line.length > MAX_MARKED_LINE) return null
        val match = ITEM.matchEntire(line) ?: return null
        val indent = match.groupValues[1].length
        val text = match.groupValues[3]
        return ItemStart(match.groupValues[2].ifEmpty { null }, indent, line.length - text.length, text)
    }

    private class ItemStart(val number: String?, indent: Int, val textIndent: Int, val text: String) {
        val isNumbered = number != null

        /** Models indent by two even where the mark is longer. */
        val childIndent = minOf(indent + CHILD_INDENT, textIndent)
    }
}

private fun indentOf(line: String): Int = line.indexOfFirst { it != ' ' && it != '\t' }.coerceAtLeast(0)

private fun String.dropIndent(most: Int): String = drop(minOf(indentOf(this), most))
