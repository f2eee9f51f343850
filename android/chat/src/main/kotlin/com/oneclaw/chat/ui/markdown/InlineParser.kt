package com.oneclaw.chat.ui.markdown

private const val ESCAPABLE = "\\`*_{}[]()#+-.!|>~<\"'"
private const val MAX_URL = 2_000
private const val MAX_BRACKETS = 8
private const val MAX_TICKS = 32
private val BREAK_TAG = Regex("<br ?/?>", RegexOption.IGNORE_CASE)
private val BARE_URL = Regex("https?://[^\\s<>\"`\\[\\]]+")
private val SAFE_SCHEME = Regex("^(https?|mailto):.+", RegexOption.IGNORE_CASE)

/** The lines of a paragraph. A line break is kept: models mean it. */
internal fun inlinesOf(lines: List<String>): List<Inline> =
    InlineParser(lines.joinToString("\n") { it.trimEnd().removeSuffix("\\") }).parse()

internal fun inlinesOf(line: String): List<Inline> = InlineParser(line).parse()

/**
 * Reads the text of a paragraph. Marks of emphasis wait on a stack until they are closed; those that never are stay text. All
 * searches are short or remember that they found nothing, so that the time grows with the length only.
 */
internal class InlineParser(private val source: String, private val isInLink: Boolean = false) {
    private val nodes = ArrayList<Inline>()
    private val pending = StringBuilder()
    private val openMarks = ArrayList<Int>()
    private val endless = HashSet<Int>()
    private var at = 0

    fun parse(): List<Inline> {
        while (at < source.length) step(source[at])
        flush()
        return merged(nodes)
    }

    private fun step(char: Char) {
        val isRead = when (char) {
            '\\' -> readEscape()
            '`' -> readCode()
            '\n' -> readBreak(1)
            '<' -> readTag()
            '[' -> readLink(at)
            '!' -> source.startsWith("![", at) && readLink(at + 1)
            '*', '_', '~' -> readMark(char)
            'h' -> readBareUrl()
            else -> false
        }
        if (!isRead) {
            pending.append(char)
            at++
        }
    }

    private fun flush() {
        if (pending.isEmpty()) return
        nodes += Inline.Text(pending.toString())
        pending.clear()
    }

    private fun add(inline: Inline, end: Int): Boolean {
        flush()
        nodes += inline
        at = end
        return true
    }

    private fun readEscape(): Boolean {
        val next = source.getOrNull(at + 1) ?: return false
        if (next !in ESCAPABLE) return false
        pending.append(next)
        at += 2
        return true
    }

    private fun readCode(): Boolean {
        var length = 1
        while (source.getOrNull(at + length) == '`') length++
        val end = if (length > MAX_TICKS || length in endless) -1 else codeEnd(at + length, length)
        if (end < 0) {
            endless += length
            pending.append(source, at, at + length)
            at += length
            return true
        }
        val inside = source.substring(at + length, end).replace('\n', ' ')
        val isPadded = inside.length > 2 && inside.startsWith(' ') && inside.endsWith(' ')
        return add(Inline.Code(if (isPadded) inside.substring(1, inside.length - 1) else inside), end + length)
    }

    /** The next run of exactly [length] back-ticks. */
    private fun codeEnd(from: Int, length: Int): Int {
        var start = source.indexOf('`', from)
        while (start >= 0) {
            var end = start
            while (source.getOrNull(end) == '`') end++
            if (end - start == length) return start
            start = source.indexOf('`', end)
        }
        return -1
    }

    private fun readBreak(length: Int): Boolean = add(Inline.Break, at + length)

    private fun readTag(): Boolean {
        BREAK_TAG.matchAt(source, at)?.let { return readBreak(it.value.length) }
        val url = BARE_URL.matchAt(source, at + 1)?.value ?: return false
        val end = at + 1 + url.length
        if (source.getOrNull(end) != '>') return false
        return add(Inline.Link(url, listOf(Inline.Text(url))), end + 1)
    }

    private fun readBareUrl(): Boolean {
        if (isInLink || source.getOrNull(at - 1)?.isLetterOrDigit() == true) return false
        if (!source.startsWith("http", at)) return false
        val url = BARE_URL.matchAt(source, at)?.value?.trimEnd('.', ',', ';', ':', '!', '?', '\'', '*', '_', '~', ')') ?: return false
        if (url.endsWith("//")) {
            pending.append(url)
            at += url.length
            return true
        }
        return add(Inline.Link(url, listOf(Inline.Text(url))), at + url.length)
    }

    private fun readLink(open: Int): Boolean {
        if (isInLink) return false
        val close = bracketEnd(open)
        if (close < 0 || source.getOrNull(close + 1) != '(') return false
        val end = urlEnd(close + 1)
        if (end < 0) return false
        val url = source.substring(close + 2, end).trim()
        val label = InlineParser(source.substring(open + 1, close), isInLink = true).parse()
        if (SAFE_SCHEME.matches(url.substringBefore(' '))) {
            add(Inline.Link(url.substringBefore(' '), label), end + 1)
            pending.append(titleOf(url))
            return true
        }
        // Other addresses lead nowhere here, and some are dangerous: they are shown, not linked.
        flush()
        nodes += label
        if (url.isNotEmpty()) nodes += Inline.Text(" ($url)")
        at = end + 1
        return true
    }

    private fun titleOf(url: String): String {
        val title = url.substringAfter(' ', "").trim().trim('"', '\'', '(', ')')
        return if (title.isEmpty()) "" else " ($title)"
    }

    private fun bracketEnd(open: Int): Int = pairEnd(open, '[', ']')

    private fun urlEnd(open: Int): Int = pairEnd(open, '(', ')')

    /** The bracket that closes the one at [open]. Labels and addresses are short and hardly nested: the search is, too. */
    private fun pairEnd(open: Int, opening: Char, closing: Char): Int {
        var depth = 0
        for (index in open until minOf(source.length, open + MAX_URL)) {
            when (source[index]) {
                opening -> if (++depth > MAX_BRACKETS) return -1
                closing -> if (--depth == 0) return index
                '\n' -> return -1
            }
        }
        return -1
    }

    private fun readMark(char: Char): Boolean {
        var run = 1
        while (source.getOrNull(at + run) == char) run++
        val before = source.getOrNull(at - 1)
        val after = source.getOrNull(at + run)
        val opens = canOpen(char, before, after)
        val closes = canOpen(char, after, before)
        var left = run
        flush()
        while (left > 0) {
            val mark = markOf(char, left)
            val isKnown = mark.length > 1 || char != '~'
            val isDone = isKnown && ((closes && close(mark)) || (opens && open(mark)))
            if (!isDone) nodes += Inline.Text(mark)
            left -= mark.length
        }
        at += run
        return true
    }

    /** Three are one and two: the inner ones are closed first. */
    private fun markOf(char: Char, left: Int): String {
        val isSingle = left == 1 || (left == 3 && openMarks.lastOrNull()?.let(::markAt) == "$char")
        return if (isSingle) "$char" else "$char$char"
    }

    private fun markAt(node: Int): String = (nodes[node] as Inline.Text).text

    /** Whether a mark beside [outer] and [inner] can begin something. Underscores inside a word are part of it. */
    private fun canOpen(char: Char, outer: Char?, inner: Char?): Boolean =
        inner != null && !inner.isWhitespace() && (char != '_' || outer?.isLetterOrDigit() != true)

    private fun open(mark: String): Boolean {
        // Of too many that are open, the oldest stay text.
        if (openMarks.size >= MAX_DEPTH) openMarks.removeAt(0)
        openMarks += nodes.size
        nodes += Inline.Text(mark)
        return true
    }

    /** Everything since the opening mark becomes one node; marks in between that were not closed stay text. */
    private fun close(mark: String): Boolean {
        val opener = openMarks.indexOfLast { markAt(it) == mark }
        if (opener < 0) return false
        val start = openMarks[opener]
        if (start == nodes.size - 1) return false
        openMarks.subList(opener, openMarks.size).clear()
        val inside = merged(nodes.subList(start + 1, nodes.size))
        nodes.subList(start, nodes.size).clear()
        nodes += Inline.Styled(styleOf(mark), inside)
        return true
    }

    private fun styleOf(mark: String): Style = when {
        mark.startsWith('~') -> Style.STRIKE
        mark.length == 1 -> Style.EMPHASIS
        else -> Style.STRONG
    }
}

/** Neighbouring texts become one. */
private fun merged(inlines: List<Inline>): List<Inline> {
    val all = ArrayList<Inline>(inlines.size)
    val text = StringBuilder()
    for (inline in inlines) {
        if (inline is Inline.Text) {
            text.append(inline.text)
        } else {
            if (text.isNotEmpty()) all += Inline.Text(text.toString())
            text.clear()
            all += inline
        }
    }
    if (text.isNotEmpty()) all += Inline.Text(text.toString())
    return all
}
