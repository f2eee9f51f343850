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
import androidx.compose.ui.test.performTextReplacement
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Notice
import com.oneclaw.chat.SampleData
import com.oneclaw.chat.ref
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.CompactReason
import com.oneclaw.core.CoreException
import com.oneclaw.core.Strategy
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertNull
import kotlin.test.assertTrue

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
        ui.onNodeWithText("200K tokens", substring = true).assertIsDisplayed()
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
    fun showsWhatIsKnownOfModelsAndAsksBeforeTakingOneThatIsSwitchedOff() = open {
        tap("GPT-4o")
        ui.onNodeWithText("1.05M tokens · input 922K · \$2 / \$10 per M").assertExists()
        assertTrue(count("Tools · Pictures · PDF · Thinking") > 0)
        tap("GPT-3.5 Turbo")
        ui.onNodeWithText(strings.models.offTitle).assertIsDisplayed()
        ui.onNodeWithText("GPT-3.5 Turbo was switched off on 2026-10-23", substring = true).assertIsDisplayed()
        tap(strings.common.cancel)
        assertEquals(SampleData.models.first().ref, state.chat.model)
        tap("GPT-3.5 Turbo")
        tap(strings.models.switchAnyway)
        assertEquals(SampleData.offModel.ref, fake.file.session("s-1").model)
    }

    @Test
    fun setsAWindowFromTheMenuOfARow() = open {
        tap("GPT-4o")
        val row = SampleData.catalogue.run { providers.flatMap { modelsOf(it.id) } }.indexOf(SampleData.unknownModel)
        ui.onAllNodes(hasContentDescription(strings.common.more) and hasAnyAncestor(isDialog()))[row].performScrollTo().performClick()
        settle()
        tap(strings.models.setWindow)
        field(strings.settings.window).performTextInput("many")
        tap(strings.common.save)
        ui.onNodeWithText(strings.settings.notANumber).assertIsDisplayed()
        field(strings.settings.window).performTextReplacement("64,000")
        tap(strings.common.save)
        assertEquals(64_000, fake.models.last().window)
        assertNull(state.window)
        assertEquals(1, count("64K tokens"))
    }

    @Test
    fun setsAnUnknownWindowInTheSheet() = desk({
        file.change("s-1") { it.copy(model = SampleData.unknownModel.ref) }
    }) {
        act(ChatAction.OpenSession("s-1"))
        ui.onNode(hasContentDescription(strings.models.windowUnknown, substring = true)).assertIsDisplayed()
        openContext()
        ui.onNodeWithText(strings.context.windowUnknown).assertIsDisplayed()
        tap(strings.models.setWindow)
        ui.onNodeWithText(strings.settings.required).assertIsDisplayed()
        field(strings.settings.window).performTextInput("32000")
        tap(strings.models.setWindow)
        assertEquals(32_000, state.context?.status?.window)
        ui.onNodeWithText(strings.context.windowUnknown).assertDoesNotExist()
        ui.onNodeWithText("of 32K tokens", substring = true).assertIsDisplayed()
    }

    @Test
    fun theNoticeOfAnUnknownWindowLeadsToTheSheet() = desk(autoAdvance = false) {
        act(ChatAction.OpenSession("s-1"), ChatAction.EditDraft("More"), ChatAction.Send)
        play { emit(ChatEvent.WindowUnknown(40_000)).text("Yes").complete() }
        later(500)
        ui.onNodeWithText(strings.of(Notice.WindowUnknown(1, "s-1", 40_000))).assertIsDisplayed()
        act(ChatAction.NewSession)
        later(500)
        ui.onNodeWithText(strings.models.setWindow).performClick()
        later(1_000)
        assertEquals("s-1", state.context?.sessionId)
        assertEquals("s-1", state.openId)
        assertNull(state.notice)
    }

    @Test
    fun picturesThatWereLeftOutAreSaid() = desk(autoAdvance = false) {
        act(ChatAction.OpenSession("s-1"), ChatAction.EditDraft("More"), ChatAction.Send)
        play { emit(ChatEvent.PicturesLeftOut(1)) }
        later(500)
        ui.onNodeWithText(strings.of(Notice.PicturesLeftOut(1, 1))).assertIsDisplayed()
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
