package com.oneclaw.chat

import kotlin.random.Random
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue

class StreamedTextTest {
    @Test
    fun completeParagraphsAreSetAside() {
        val text = streamed("First.\n\nSec", "ond.\n", "\nThird")
        assertEquals(listOf("First.\n\n", "Second.\n\n"), text.blocks)
        assertEquals("Third", text.open)
    }

    @Test
    fun codeIsNotTornApart() {
        val code = "```\nval a = 1\n\nval b = 2\n```\n\n"
        val text = streamed(*code.map { it.toString() }.toTypedArray(), "After")
        assertEquals(listOf(code), text.blocks)
        assertEquals("After", text.open)
    }

    @Test
    fun aFenceInsideAnotherIsText() {
        val code = "~~~\n```\n\nstill code\n~~~\n\n"
        assertEquals(listOf(code), streamed(code).blocks)
        assertEquals(emptyList(), streamed("~~~\n```\n\nstill code\n").blocks)
    }

    @Test
    fun nothingIsLostHoweverItIsCut() {
        val random = Random(SEED)
        val pieces = listOf("a", "word ", "\n", "\n\n", "```", "~~~", "```kotlin\n", " ", "中文", "🙂", "| a |", "- item\n")
        repeat(500) {
            val whole = List(random.nextInt(60)) { pieces.random(random) }.joinToString("")
            var text = StreamedText()
            var at = 0
            while (at < whole.length) {
                val end = minOf(whole.length, at + 1 + random.nextInt(9))
                text = text.append(whole.substring(at, end))
                at = end
            }
            assertEquals(whole, text.text)
            assertTrue(text.blocks.all { it.endsWith("\n\n") }, "a block ends at a blank line")
        }
    }

    @Test
    fun aLongReplyIsNotCopiedAgainAndAgain() {
        var text = StreamedText()
        var copied = 0L
        repeat(20_000) {
            text = text.append(if (it % 20 == 19) "end.\n\n" else "some words ")
            copied += text.open.length
        }
        assertEquals(1_000, text.blocks.size)
        assertTrue(copied < 20L * text.text.length, "copied $copied characters for ${text.text.length}")
    }

    private fun streamed(vararg deltas: String) = deltas.fold(StreamedText()) { text, delta -> text.append(delta) }
}
