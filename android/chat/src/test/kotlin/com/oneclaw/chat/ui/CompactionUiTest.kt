package com.oneclaw.chat.ui

import androidx.compose.ui.test.assertIsDisplayed
import androidx.compose.ui.test.assertIsEnabled
import androidx.compose.ui.test.getBoundsInRoot
import androidx.compose.ui.test.onNodeWithContentDescription
import androidx.compose.ui.test.onNodeWithText
import androidx.compose.ui.test.onRoot
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Notice
import com.oneclaw.chat.Screen
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue

private const val INDICATOR = "Optimizing conversation context..."
private const val TRIMMED = "Conversation history has been automatically trimmed"

class CompactionUiTest {
    @Test
    fun theLineIsThereOnlyWhileContextIsCompacted() = desk {
        send("Hello")
        assertEquals(0, count(INDICATOR))
        play { startCompaction() }
        ui.onNodeWithText(INDICATOR).assertIsDisplayed()
        play { endCompaction() }
        assertEquals(0, count(INDICATOR))
        play { text("Hi").answer().startCompaction() }
        ui.onNodeWithText(INDICATOR).assertIsDisplayed()
        play { finish() }
        assertEquals(0, count(INDICATOR))
    }

    @Test
    fun oneCanWriteAndSendMeanwhile() = desk {
        send("Hello")
        play { text("Hi").answer().startCompaction() }
        type("What else?")
        ui.onNodeWithText(INDICATOR).assertIsDisplayed()
        ui.onNodeWithContentDescription(strings.chat.send).assertIsEnabled()
        press(strings.chat.send)
        assertEquals(listOf("Hello", "What else?"), fake.turns.map { it.detail })
    }

    @Test
    fun theSnackbarDoesNotHideTheLine() = desk(autoAdvance = false) {
        act(ChatAction.OpenSession("s-1"), ChatAction.EditDraft("Hello"), ChatAction.Send)
        play { startCompaction().endCompaction(fallback = true).startCompaction() }
        later(1_000)
        val line = ui.onNodeWithText(INDICATOR).assertIsDisplayed().getBoundsInRoot()
        val bar = ui.onNodeWithText(TRIMMED).assertIsDisplayed().getBoundsInRoot()
        val field = input().getBoundsInRoot()
        assertTrue(bar.bottom <= line.top && line.bottom <= field.top)
        assertTrue(field.bottom <= ui.onRoot().getBoundsInRoot().bottom)
    }

    @Test
    fun theSnackbarIsShownOncePerFallback() = desk(autoAdvance = false) {
        act(ChatAction.EditDraft("Hello"), ChatAction.Send)
        play { startCompaction().endCompaction(fallback = true) }
        later(1_000)
        ui.onNodeWithText(TRIMMED).assertIsDisplayed()
        assertEquals(1, state.notices.size)
        later(6_000)
        assertEquals(0, count(TRIMMED))
        assertTrue(state.notices.isEmpty())
        play { text("Hi").complete() }
        later(3_000)
        assertEquals(0, count(TRIMMED))
        act(ChatAction.EditDraft("Again"), ChatAction.Send)
        play { startCompaction().endCompaction(fallback = true) }
        later(1_000)
        ui.onNodeWithText(TRIMMED).assertIsDisplayed()
    }

    @Test
    fun aNoticeThatWasNotShownYetIsStillThere() = desk(autoAdvance = false) {
        act(ChatAction.EditDraft("Hello"), ChatAction.Send)
        play { startCompaction().endCompaction(fallback = true) }
        later(500)
        // Another screen, as after a rotation, shows what the state says.
        act(ChatAction.ShowScreen(Screen.SETTINGS))
        later(500)
        ui.onNodeWithText(TRIMMED).assertIsDisplayed()
        assertTrue(state.notice is Notice.Trimmed)
    }
}
