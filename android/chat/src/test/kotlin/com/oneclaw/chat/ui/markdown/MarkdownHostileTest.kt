package com.oneclaw.chat.ui.markdown

import com.oneclaw.chat.SampleData
import java.time.Duration
import kotlin.random.Random
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue
import org.junit.jupiter.api.Assertions.assertTimeout

private const val MEGABYTE = 1 shl 20
private const val SEED = 20260228

/** Whatever a model writes: nothing is lost, nothing fails, nothing takes long. */
class MarkdownHostileTest {
    private val pieces = listOf(
        "a", "b7", "word", " ", "  ", "\n", "\n\n", "*", "**", "***", "_", "__", "~~", "`", "``", "```", "```kt\n", "~~~", "#", "## ", "> ",
        ">", "- ", "* ", "1. ", "12) ", "[", "]", "(", ")", "](", "![", "|", "| ", "|---|", "---", "\\", "\\*", "<", "https://x.org/p", "!",
        "\t", "\r\n", "中文", "。", "é", "🙂", "\u200f", "ع", "- [x] ", "    ", "<b>", "&amp;",
    )

    private fun random(random: Random) = buildString { repeat(random.nextInt(1, 60)) { append(pieces.random(random)) } }

    private fun letters(text: String) = text.filter { it.isLetterOrDigit() }

    @Test
    fun noLetterIsLost() {
        val random = Random(SEED)
        repeat(20_000) {
            val source = random(random)
            assertEquals(letters(source), letters(plainText(parseMarkdown(source))), "of ${source.replace("\n", "⏎")}")
        }
    }

    @Test
    fun nestingIsLimited() {
        val random = Random(SEED)
        val sources = List(2_000) { random(random) } +
            listOf("> ".repeat(5_000) + "x", "- ".repeat(5_000) + "x", "*a ".repeat(5_000) + "a* ".repeat(5_000), "[".repeat(9_000) + "x")
        sources.forEach { source -> assertTrue(depth(parseMarkdown(source)) <= 2 * MAX_DEPTH + 2) }
    }

    @Test
    fun aMegabyteOfAnythingIsReadInTime() {
        val units = listOf(
            "x", " ", "\n", "*", "* ", "*a ", "a*", "**a", "_a_ ", "~~", "`", "` ", "`` `", "[", "]", "[]", "[a](", "[a](b) ", "(", "![", "<",
            "<http", "http://", "https://a ", "h", "|", "|-", "| a ", "-", "- ", "- a\n", "  - a\n", "- a\n\n\n", "> ", "> a\n", ">", "#", "# a\n",
            "# ", "```\n", "```", "~~~\n", "\\", "\\*", "1. ", "1. a\n", "a\n", "a|b\n", "|a|b|\n|-|-|\n", "\t", "- [x] a\n", "***a", "*a **b ",
        )
        for (unit in units) {
            // What takes twice as long for twice the length takes seconds here, what takes four times as long takes hours.
            val source = unit.repeat(MEGABYTE / unit.length)
            assertTimeout(Duration.ofSeconds(20), { parseMarkdown("- a$source*b*]") }, unit)
        }
    }

    @Test
    fun unclosedThingsStayText() {
        assertEquals("a **b `c [d](e", plainText(parseMarkdown("a **b `c [d](e")).trim())
        assertEquals(Block.Code("kt", "val a"), parseMarkdown("```kt\nval a").single())
    }

    @Test
    fun everyBeginningOfATextCanBeRead() {
        val text = SampleData.markdown
        for (end in 0..text.length) {
            val source = text.substring(0, end)
            assertEquals(letters(source), letters(plainText(parseMarkdown(source))))
        }
    }

    private fun depth(blocks: List<Block>): Int = 1 + (blocks.maxOfOrNull(::depth) ?: 0)

    private fun depth(block: Block): Int = when (block) {
        is Block.Quote -> depth(block.blocks)
        is Block.Items -> block.items.maxOf { depth(it.blocks) }
        is Block.Paragraph -> inlineDepth(block.content)
        is Block.Heading -> inlineDepth(block.content)
        is Block.Table, is Block.Code, is Block.Rule -> 0
    }

    private fun inlineDepth(content: List<Inline>): Int = content.maxOfOrNull {
        when (it) {
            is Inline.Styled -> 1 + inlineDepth(it.content)
            is Inline.Link -> 1 + inlineDepth(it.content)
            else -> 0
        }
    } ?: 0
}
