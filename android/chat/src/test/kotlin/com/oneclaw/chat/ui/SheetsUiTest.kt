package com.oneclaw.chat.ui

import androidx.compose.ui.test.assertIsDisplayed
import androidx.compose.ui.test.assertIsNotEnabled
import androidx.compose.ui.test.hasAnyAncestor
import androidx.compose.ui.test.hasContentDescription
import androidx.compose.ui.test.hasText
import androidx.compose.ui.test.isDialog
import androidx.compose.ui.test.onAllNodesWithText
import androidx.compose.ui.test.onLast
import androidx.compose.ui.test.onNodeWithContentDescription
import androidx.compose.ui.test.onNodeWithText
import androidx.compose.ui.test.performClick
import androidx.compose.ui.test.performScrollTo
import androidx.compose.ui.test.performTextInput
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.SampleData
import com.oneclaw.chat.ref
import com.oneclaw.core.CompactReason
import com.oneclaw.core.CoreException
import com.oneclaw.core.Strategy
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertNull

class SheetsUiTest {
    private fun open(test: Desk.() -> Unit) = desk {
        act(ChatAction.OpenSession("s-1"))
        test()
    }

    private fun Desk.grow() {
        send("More")
        play {
            usage(expected = 61_200, window = 128_000)
            text("Yes").answer().startCompaction().endCompaction().finish()
        }
    }

    @Test
    fun takesAModelThatIsBigEnoughAtOnce() = open {
        tap("GPT-4o")
        ui.onNodeWithText("200K tokens").assertIsDisplayed()
        tap("Claude Sonnet 4.5")
        assertNull(state.picker)
        assertEquals(SampleData.bigModel.ref, fake.file.session("s-1").model)
        ui.onNodeWithText("Claude Sonnet 4.5").assertIsDisplayed()
    }

    @Test
    fun warnsBeforeTakingAModelThatIsTooSmall() = open {
        send("More")
        play { usage(expected = 61_200, window = 128_000).text("Yes").finish() }
        // The meter was read again; what counts is that the conversation is bigger than the window.
        fake.models = fake.models.map { if (it.id == "qwen3-8b") it.copy(window = 10) else it }
        tap("GPT-4o")
        tap("Qwen3 8B")
        ui.onNodeWithText(strings.models.warningTitle).assertIsDisplayed()
        tap(strings.common.cancel)
        assertEquals(SampleData.models.first().ref, state.chat.model)
        tap("Qwen3 8B")
        tap(strings.models.switchAnyway)
        assertNull(state.picker)
        assertEquals(SampleData.smallModel.ref, fake.file.session("s-1").model)
    }

    @Test
    fun showsTheContextAndCompactsWithAFocus() = open {
        openContext()
        ui.onNodeWithText(strings.context.noSummary).assertExists()
        ui.onNodeWithText(strings.context.noPins).assertExists()
        field(strings.context.focus).performTextInput("prices")
        tap(strings.context.compactNow)
        assertNull(state.context)
        assertEquals("compact" to "prices", turn().name to turn().detail)
        ui.onNodeWithText(strings.chat.stop).assertDoesNotExist()
        play { startCompaction() }
        ui.onNodeWithText(strings.chat.compacting).assertIsDisplayed()
    }

    @Test
    fun unfoldsAndUndoesACompaction() = open {
        grow()
        openContext()
        assertEquals(1, count("Summary 1"))
        ui.onNodeWithText("No. 1", substring = true).performScrollTo().performClick()
        settle()
        assertEquals(2, count("Summary 1"))
        ui.onNodeWithText(strings.context.undo).performScrollTo().performClick()
        settle()
        assertEquals(0, state.context?.status?.epochs?.size)
        assertEquals(0, count(strings.context.undo))
    }

    @Test
    fun forgetsSummariesOnlyAfterAQuestion() = open {
        grow()
        openContext()
        ui.onNodeWithText(strings.context.reset).performScrollTo().performClick()
        settle()
        ui.onNodeWithText(strings.context.resetHint).assertIsDisplayed()
        tap(strings.common.cancel)
        assertEquals(1, state.context?.status?.epochs?.size)
        ui.onNodeWithText(strings.context.reset).performScrollTo().performClick()
        settle()
        ui.onAllNodesWithText(strings.context.reset).onLast().performClick()
        settle()
        assertEquals(0, state.context?.status?.epochs?.size)
    }

    @Test
    fun whatCannotBeUndoneIsSaidInTheSheet() = desk(autoAdvance = false) {
        act(ChatAction.OpenSession("s-1"), ChatAction.EditDraft("More"), ChatAction.Send)
        play { text("Yes").answer().startCompaction().endCompaction().finish() }
        act(ChatAction.OpenContext)
        later(1_000)
        fake.fail("undoCompaction", CoreException.Storage("disk full"))
        act(ChatAction.UndoCompaction)
        later(500)
        ui.onNode(hasText(strings.problems.storage) and hasAnyAncestor(isDialog())).assertIsDisplayed()
        assertEquals(1, count(strings.problems.storage))
    }

    @Test
    fun saysHowAndWhyItWasCompacted() = open {
        grow()
        openContext()
        assertEquals(1, count(strings.of(Strategy.PROSE)))
        assertEquals(1, count(strings.of(CompactReason.THRESHOLD)))
    }

    @Test
    fun unpins() = open {
        act(ChatAction.Pin("m-1"))
        openContext()
        ui.onNodeWithContentDescription(strings.chat.unpin).performScrollTo().performClick()
        settle()
        assertEquals(emptyList(), state.context?.status?.pins)
        ui.onNodeWithText(strings.context.noPins).assertExists()
    }

    @Test
    fun nothingIsChangedWhileAReplyIsReceived() = open {
        send("More")
        act(ChatAction.OpenContext)
        ui.onNodeWithText(strings.context.compactNow).assertIsNotEnabled()
    }

    private fun Desk.openContext() = ui.onNode(hasContentDescription(strings.context.title, substring = true))
        .performClick().also { settle() }
}
