package com.oneclaw.shadow

import androidx.compose.ui.test.assertIsDisplayed
import androidx.compose.ui.test.getBoundsInRoot
import androidx.compose.ui.test.onNodeWithText
import com.oneclaw.bridge.fake.FakeChatRepository
import com.oneclaw.bridge.real.LoopbackService
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Notice
import com.oneclaw.core.Model
import kotlinx.coroutines.runBlocking
import org.junit.Test
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.test.assertEquals
import kotlin.test.assertTrue

/** The line and the Snackbar in the real activity, also when the phone is turned meanwhile. */
class CompactionTest : AppTest() {
    @Test
    fun theLineStaysWhileThePhoneIsTurned() {
        val holdsBack = AtomicBoolean()
        val turned = CountDownLatch(1)
        LoopbackService { stream ->
            if (holdsBack.get()) turned.await()
            stream.text("Gravel was discussed.")
            stream.end()
        }.use { service ->
            launchReady()
            val id = runBlocking {
                val repository = checkNotNull(app.ready).repository
                service.session(repository).also {
                    // A window that four long messages nearly fill.
                    repository.saveModel(Model("loopback", "m", "M", 16_000, 2_000, isDefault = false, isPreset = false))
                }
            }
            act(ChatAction.OpenSession(id))
            until("conversation") { !state.chat.isLoading }
            repeat(4) { say("Note $it: ${"gravel road ".repeat(600)}") }
            holdsBack.set(true)
            act(ChatAction.OpenContext, ChatAction.CompactNow)
            until("compaction") { state.chat.isCompacting }
            act(ChatAction.CloseContext)
            ui.onNodeWithText(strings.chat.compacting).assertIsDisplayed()
            turn()
            ui.onNodeWithText(strings.chat.compacting).assertIsDisplayed()
            assertTrue(state.chat.isCompacting)
            turned.countDown()
            until("end of the compaction") { !state.chat.isCompacting && state.chat.isQuiet }
            assertEquals(0, count(strings.chat.compacting))
            assertEquals(1, runBlocking { checkNotNull(app.ready).repository.contextStatus(id) }.epochs.size)
        }
    }

    @Test
    fun theSnackbarStandsAboveTheLineAndIsShownOnce() {
        val core = FakeChatRepository()
        app.playedBy(core)
        launchReady()
        ui.mainClock.autoAdvance = false
        act(ChatAction.EditDraft("Hello"), ChatAction.Send)
        settle()
        core.turns.last().startCompaction().endCompaction(fallback = true).startCompaction()
        settle()
        val line = ui.onNodeWithText(strings.chat.compacting).assertIsDisplayed().getBoundsInRoot()
        val bar = ui.onNodeWithText(strings.chat.trimmed).assertIsDisplayed().getBoundsInRoot()
        assertTrue(bar.bottom <= line.top, "the Snackbar ends at ${bar.bottom}, the line begins at ${line.top}")
        assertTrue(state.notice is Notice.Trimmed)
        repeat(8) { settle() }
        assertEquals(0, count(strings.chat.trimmed))
        assertTrue(state.notices.isEmpty())
        ui.onNodeWithText(strings.chat.compacting).assertIsDisplayed()
    }

    private fun say(text: String) {
        val before = state.chat.items.size
        act(ChatAction.EditDraft(text), ChatAction.Send)
        until("answer") { state.chat.turns.isEmpty() && state.chat.items.size == before + 2 }
    }

    private fun settle() {
        ui.waitForIdle()
        ui.mainClock.advanceTimeBy(1_000)
        ui.waitForIdle()
    }
}
