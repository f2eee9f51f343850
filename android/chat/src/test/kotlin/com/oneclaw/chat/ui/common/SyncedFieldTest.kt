package com.oneclaw.chat.ui.common

import androidx.compose.foundation.text.input.TextFieldState
import androidx.compose.foundation.text.input.setTextAndPlaceCursorAtEnd
import kotlin.test.Test
import kotlin.test.assertEquals

class SyncedFieldTest {
    private val field = SyncedField(TextFieldState())
    private val text get() = field.state.text.toString()

    private fun type(text: String) {
        field.state.setTextAndPlaceCursorAtEnd(text)
        assertEquals(text, field.typed())
    }

    @Test
    fun anEchoDoesNotDisturb() {
        listOf("a", "ab", "abc").forEach(::type)
        field.received("ab")
        assertEquals("abc", text)
        field.received("abc")
        field.received("from elsewhere")
        assertEquals("from elsewhere", text)
    }

    @Test
    fun whatWasPutThereIsNoEcho() {
        listOf("a", "ab").forEach(::type)
        field.received("a", revision = 1)
        assertEquals("a", text)
    }

    @Test
    fun whatIsTypedAfterItWasEmptiedStays() {
        type("sent")
        field.received("sent")
        field.clear()
        type("n")
        field.received("")
        assertEquals("n", text)
    }

    @Test
    fun whatWasEmptiedComesBack() {
        type("sent")
        field.received("sent")
        field.clear()
        field.received("sent", revision = 3)
        assertEquals("sent", text)
    }
}
