package com.oneclaw.chat.ui

import androidx.compose.ui.geometry.Size
import androidx.compose.ui.semantics.SemanticsProperties
import androidx.compose.ui.test.SkikoComposeUiTest
import androidx.compose.ui.test.assertIsEnabled
import androidx.compose.ui.test.hasContentDescription
import androidx.compose.ui.test.hasSetTextAction
import androidx.compose.ui.test.isDisplayed
import androidx.compose.ui.test.onAllNodesWithText
import androidx.compose.ui.test.onNodeWithContentDescription
import androidx.compose.ui.test.onNodeWithText
import androidx.compose.ui.test.performClick
import androidx.compose.ui.test.performTextInput
import androidx.compose.ui.test.v2.runSkikoComposeUiTest
import androidx.compose.ui.unit.Density
import com.oneclaw.bridge.RustChatRepository
import com.oneclaw.bridge.real.LoopbackService
import com.oneclaw.bridge.real.asked
import com.oneclaw.bridge.real.demo
import com.oneclaw.chat.ChatItem
import com.oneclaw.chat.ChatStateHolder
import com.oneclaw.chat.ENGLISH
import com.oneclaw.core.Model
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.runBlocking
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Semaphore
import kotlin.coroutines.CoroutineContext
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertIs
import kotlin.test.assertTrue
import kotlin.test.fail

private const val WAIT_MS = 60_000

/** From the key press to the file and back: real screens, real state holder, real core, and a service on the loopback address. */
class RealCoreUiTest {
    @Test
    fun aMessageIsTypedSentAnsweredAndStored() = real {
        send("Remember: the port = 8080.")
        until("answer") { shows("Noted: the port = 8080.") && state.chat.isQuiet }
        send("What time is it now?")
        until("tool") { state.chat.isQuiet && state.chat.items.any { it is ChatItem.Tool } }
        val card = state.chat.items.filterIsInstance<ChatItem.Tool>().single()
        val label = ui.onNode(hasContentDescription("Tool ${card.name}: ${strings.tools.success}", substring = true))
        label.performClick()
        until("result") { shows(checkNotNull(card.output).lines().first()) }
        send("Write 40 words.")
        until("words") { state.chat.isQuiet && state.chat.items.size == 8 }
        val words = assertIs<ChatItem.Reply>(state.chat.items.last()).text
        assertEquals(40, words.split(' ').size)
        until("words on the screen") { shows(words) }
        val stored = runBlocking { core.asked(checkNotNull(state.openSessionId)) }
        assertEquals(listOf("Remember: the port = 8080.", "What time is it now?", "Write 40 words."), stored)
    }

    @Test
    fun theLineAndTheSnackbarComeWithARealCompaction() {
        // A summary, the one request without tools, waits until the test has looked at the screen; then it is empty.
        val seen = Semaphore(0)
        val service = LoopbackService {
            if ("\"tools\"" in it.request) it.text("Noted.") else seen.acquire()
            it.end()
        }
        service.use {
            real({
                it.session(this)
                saveModel(Model("loopback", "m", "M", window = 8_000, maxOutput = 1_000, isDefault = false, isPreset = false))
            }) {
                press(strings.sessions.title)
                until("list") { shows("Loopback") }
                ui.onNodeWithText("Loopback").performClick()
                until("conversation") { state.chat.session?.title == "Loopback" && !state.chat.isLoading }
                var sent = 0
                while (!state.chat.isCompacting) {
                    assertEquals(0, count(strings.chat.compacting))
                    send("Note ${++sent}: ${"gravel road ".repeat(400)}")
                    until("answer or compaction") { state.chat.isCompacting || state.chat.isQuiet }
                    assertTrue(sent < 30, "nothing was compacted")
                }
                until("line") { shows(strings.chat.compacting) && ui.onNodeWithText(strings.chat.compacting).isDisplayed() }
                input().assertIsEnabled().performTextInput("And meanwhile?")
                until("typing") { state.chat.draft.text == "And meanwhile?" }
                assertTrue(ui.onNodeWithText(strings.chat.compacting).isDisplayed())
                seen.release(100)
                until("end") { state.chat.isQuiet }
                // The core falls back, and says so.
                until("notice") { shows(strings.chat.trimmed) }
                until("no line") { !shows(strings.chat.compacting) }
                assertEquals("And meanwhile?", input().fetchSemanticsNode().config[SemanticsProperties.EditableText].text)
                assertEquals(sent, runBlocking { core.asked(checkNotNull(state.openSessionId)) }.size)
            }
        }
    }

    /** The screens over the real core. What the core says arrives on the test's own thread, one task after another. */
    private class Real(val ui: SkikoComposeUiTest, val core: RustChatRepository) : CoroutineDispatcher() {
        private val tasks = ConcurrentLinkedQueue<Runnable>()
        private val scope = CoroutineScope(this + SupervisorJob())
        val holder = ChatStateHolder(core, scope)
        val strings = ENGLISH
        val state get() = holder.state.value

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            tasks += block
        }

        fun until(what: String, condition: () -> Boolean) {
            val end = System.currentTimeMillis() + WAIT_MS
            while (true) {
                generateSequence(tasks::poll).forEach(Runnable::run)
                ui.mainClock.advanceTimeByFrame()
                ui.waitForIdle()
                if (condition()) return
                if (System.currentTimeMillis() > end) fail("no $what; ${state.chat.items.size} rows, turns ${state.chat.turns.map { it.phase }}")
                Thread.sleep(2)
            }
        }

        fun input() = ui.onNode(hasContentDescription(strings.chat.input) and hasSetTextAction())

        fun press(label: String) = ui.onNodeWithContentDescription(label).performClick()

        fun send(text: String) {
            input().performTextInput(text)
            until("button") { state.chat.canSend }
            press(strings.chat.send)
        }

        fun count(text: String) = ui.onAllNodesWithText(text, substring = true).fetchSemanticsNodes().size

        fun shows(text: String) = count(text) > 0

        fun leave() = scope.cancel()
    }

    private fun real(prepare: suspend RustChatRepository.() -> Unit = {}, test: Real.() -> Unit) = demo { core ->
        core.prepare()
        runSkikoComposeUiTest(Size(412f, 915f), Density(1f)) {
            val real = Real(this, core)
            try {
                // Otherwise the time of a Snackbar would be over before it is looked at.
                mainClock.autoAdvance = false
                setContent { OneClawRoute(real.holder, real.strings, TestPlatform().platform) }
                real.test()
            } finally {
                real.leave()
            }
        }
    }
}
