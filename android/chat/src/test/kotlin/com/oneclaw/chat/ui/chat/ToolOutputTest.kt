package com.oneclaw.chat.ui.chat

import kotlin.test.Test
import kotlin.test.assertEquals

class ToolOutputTest {
    private fun text(text: String) = OutputPart.Text(text)

    private fun marker(text: String) = OutputPart.Marker(text)

    @Test
    fun theHeadIsKept() {
        val marker = "[... content truncated, showing first 12 of 48211 characters ...]"
        assertEquals(listOf(text("line of log"), marker(marker)), toolOutput("line of log\n\n$marker"))
    }

    @Test
    fun theMiddleIsLeftOut() {
        val omitted = "[... 400 lines / 3561 bytes omitted ...]"
        assertEquals(listOf(text("a\nb"), marker(omitted), text("y\nz")), toolOutput("a\nb\n$omitted\ny\nz\n"))
        val hint = "[... use read_file with offset/limit to see more ...]"
        assertEquals(listOf(text("a"), marker(omitted), marker(hint), text("  z")), toolOutput("a\n$omitted\n$hint\n  z"))
        assertEquals(listOf(marker(omitted)), toolOutput(omitted))
    }

    @Test
    fun whatToolsDoNotShow() {
        val markers = listOf(
            "[... lines 1-2 shown; read on with offset 3 ...]",
            "[... line 1 is too long, only its beginning is shown; read on with offset 2 ...]",
            "[... binary content not shown: image/png, 12 bytes ...]",
        )
        for (it in markers) assertEquals(listOf(text("a"), marker(it)), toolOutput("a\n\n$it"))
    }

    @Test
    fun everythingElseIsText() {
        val texts = listOf("a", "[... the file is empty ...]", "see [... 1 lines / 2 bytes omitted ...]", "[... ", "[... x ...]")
        for (it in texts) assertEquals(listOf(text(it)), toolOutput(it))
        assertEquals(emptyList(), toolOutput("\n \n"))
    }

    @Test
    fun aMegabyteIsReadInTime() {
        val output = "[... 1 lines / 2 ".repeat(30_000) + "\n[... ".repeat(100_000)
        assertEquals(listOf(text(output)), toolOutput(output))
    }
}
