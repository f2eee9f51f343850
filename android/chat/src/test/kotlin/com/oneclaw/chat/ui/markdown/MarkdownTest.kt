package com.oneclaw.chat.ui.markdown

import kotlin.test.Test
import kotlin.test.assertEquals

class MarkdownTest {
    private fun text(text: String) = Inline.Text(text)

    private fun paragraph(vararg content: Inline) = Block.Paragraph(content.toList())

    private fun styled(style: Style, vararg content: Inline) = Inline.Styled(style, content.toList())

    private fun inline(source: String) = (parseMarkdown(source).single() as Block.Paragraph).content

    @Test
    fun headings() {
        assertEquals(listOf<Block>(Block.Heading(1, listOf(text("One")))), parseMarkdown("# One"))
        assertEquals(listOf<Block>(Block.Heading(3, listOf(text("Three")))), parseMarkdown("### Three ###"))
        assertEquals(listOf<Block>(paragraph(text("#hashtag"))), parseMarkdown("#hashtag"))
        assertEquals(listOf<Block>(paragraph(text("####### seven"))), parseMarkdown("####### seven"))
    }

    @Test
    fun emphasis() {
        assertEquals(listOf(text("a "), styled(Style.STRONG, text("b")), text(" c")), inline("a **b** c"))
        assertEquals(listOf(styled(Style.EMPHASIS, text("b"))), inline("_b_"))
        assertEquals(listOf(styled(Style.STRONG, styled(Style.EMPHASIS, text("b")))), inline("***b***"))
        assertEquals(listOf(styled(Style.STRONG, text("a "), styled(Style.EMPHASIS, text("b")), text(" c"))), inline("**a *b* c**"))
        assertEquals(listOf(styled(Style.STRIKE, text("gone"))), inline("~~gone~~"))
        assertEquals(listOf(styled(Style.STRONG, text("粗体。")), text("后面")), inline("**粗体。**后面"))
    }

    @Test
    fun whatIsNotEmphasis() {
        for (source in listOf("2 * 3 * 4", "snake_case_name", "**open", "a ~ b", "~one~", "* ", "a*", "**")) {
            assertEquals(source.trim(), plainText(parseMarkdown("x $source")).removePrefix("x ").trim(), source)
        }
        assertEquals(listOf(text("*not*")), inline("\\*not\\*"))
    }

    @Test
    fun inlineCode() {
        assertEquals(listOf(text("a "), Inline.Code("b*c*"), text(" d")), inline("a `b*c*` d"))
        assertEquals(listOf(Inline.Code("a ` b")), inline("`` a ` b ``"))
        assertEquals(listOf(text("`open")), inline("`open"))
    }

    @Test
    fun links() {
        val link = Inline.Link("https://a.org/b", listOf(text("here")))
        assertEquals(listOf(text("see "), link, text(".")), inline("see [here](https://a.org/b)."))
        assertEquals(Inline.Link("https://a.org", listOf(text("https://a.org"))), inline("<https://a.org>").single())
        assertEquals(listOf(Inline.Link("https://a.org/x", listOf(text("https://a.org/x"))), text(").")), inline("https://a.org/x)."))
        assertEquals(Inline.Link("https://a.org/p.png", listOf(text("alt"))), inline("![alt](https://a.org/p.png)").single())
    }

    @Test
    fun dangerousLinksAreText() {
        for (url in listOf("javascript:alert(1)", "file:///etc/passwd", "intent://x", "data:text/html,x")) {
            assertEquals(listOf(text("go ($url)")), inline("[go]($url)"), url)
        }
    }

    @Test
    fun fences() {
        assertEquals(Block.Code("kotlin", "val a = 1\n\n  *b*"), parseMarkdown("```kotlin\nval a = 1\n\n  *b*\n```").single())
        assertEquals(Block.Code("", "open\nto the end"), parseMarkdown("~~~\nopen\nto the end").single())
        assertEquals(Block.Code("", "```\ninner\n```"), parseMarkdown("````\n```\ninner\n```\n````").single())
        assertEquals("python", Block.Code("python title=x", "").language)
    }

    @Test
    fun lists() {
        val nested = parseMarkdown("1. one\n   - a\n   - b\n2. two\n\n3. three").single() as Block.Items
        assertEquals(listOf("1", "2", "3"), nested.items.map { it.number })
        val first = nested.items[0].blocks
        assertEquals(paragraph(text("one")), first[0])
        assertEquals(2, (first[1] as Block.Items).items.size)
        val tasks = parseMarkdown("- [x] done\n- [ ] open").single() as Block.Items
        assertEquals(listOf(true, false), tasks.items.map { it.isDone })
    }

    @Test
    fun aFenceInsideAList() {
        val list = parseMarkdown("1. run\n\n   ```sh\n   ls\n   ```\n2. done").single() as Block.Items
        assertEquals(Block.Code("sh", "ls"), list.items[0].blocks[1])
        assertEquals(2, list.items.size)
    }

    @Test
    fun quotes() {
        val quote = parseMarkdown("> a\n> > b\n\nc")
        assertEquals(Block.Quote(listOf(paragraph(text("a")), Block.Quote(listOf(paragraph(text("b")))))), quote[0])
        assertEquals(paragraph(text("c")), quote[1])
    }

    @Test
    fun tables() {
        val table = parseMarkdown("| a | b |\n|:-:|--:|\n| 1 | 2 \\| 3 |\n| 4 |").single() as Block.Table
        assertEquals(listOf(Alignment.CENTER, Alignment.END), table.alignments)
        assertEquals("a | b\n1 | 2 | 3\n4\n", plainText(listOf(table)))
        assertEquals(2, table.columns)
        assertEquals(1, parseMarkdown("a | b\nc | d").size)
    }

    @Test
    fun rulesAndBreaks() {
        assertEquals(listOf(Block.Rule, Block.Rule, Block.Rule), parseMarkdown("---\n***\n_ _ _"))
        assertEquals(listOf(text("a"), Inline.Break, text("b")), inline("a\nb"))
        assertEquals(listOf(text("a"), Inline.Break, text("b")), inline("a<br>b"))
        assertEquals(listOf(text("<b>x</b>")), inline("<b>x</b>"))
    }
}
