package com.oneclaw.chat.ui.settings

import com.oneclaw.chat.ModelForm
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertNull

class FormEditsTest {
    private val form = ModelForm("p")
    private val edits = FormEdits(form)

    @Test
    fun aChangeStartsFromTheNewestForm() {
        val first = edits.change { it.copy(id = "m") }
        assertEquals(form.copy(id = "m"), first)
        edits.received(form)
        assertEquals(form.copy(id = "m", window = "8"), edits.change { it.copy(window = "8") })
        // The screen lags behind, and skips steps.
        edits.received(form.copy(id = "m"))
        assertEquals(form.copy(id = "m", window = "8", maxOutput = "2"), edits.change { it.copy(maxOutput = "2") })
    }

    @Test
    fun whatWasChangedElsewhereCounts() {
        edits.change { it.copy(id = "m") }
        edits.received(form.copy(id = "m", showsErrors = true))
        assertEquals(form.copy(id = "n", showsErrors = true), edits.change { it.copy(id = "n") })
    }

    @Test
    fun nothingIsToldOfNothing() {
        assertNull(edits.change { it.copy(id = "") })
    }
}
