package com.oneclaw.shadow

import androidx.compose.ui.test.assertIsDisplayed
import androidx.compose.ui.test.onNodeWithText
import com.oneclaw.bridge.real.LoopbackService
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ChatItem
import kotlinx.coroutines.runBlocking
import org.junit.Test
import java.util.concurrent.CountDownLatch
import kotlin.test.assertEquals
import kotlin.test.assertIs
import kotlin.test.assertTrue

class SendTest : AppTest() {
    @Test
    fun theDemoServiceAnswers() {
        launch()
        untilText(strings.chat.empty)
        send("Remember: the port = 8080.")
        untilText("Noted: the port = 8080.")
        until("stored form") { state.chat.turns.isEmpty() && state.chat.items.size == 2 }
    }

    @Test
    fun aReplyIsReceivedWhileThePhoneIsTurned() {
        val turned = CountDownLatch(1)
        LoopbackService { stream ->
            stream.text("The first half")
            turned.await()
            stream.text(" and the second.")
            stream.end()
        }.use { service ->
            launchReady()
            openSession(service)
            send("Speak")
            untilText("The first half")
            turn()
            untilText("The first half")
            turned.countDown()
            untilText("The first half and the second.")
            until("stored form") { state.chat.turns.isEmpty() && state.chat.items.size == 2 }
            assertEquals("The first half and the second.", assertIs<ChatItem.Reply>(state.chat.items.last()).text)
            assertTrue(!isUpright())
        }
    }

    @Test
    fun whatWasWrittenAndWhereSurvivesTheEndOfTheProcess() {
        launch()
        untilText(strings.chat.empty)
        send("Remember: the port = 8080.")
        untilText("Noted: the port = 8080.")
        until("rest") { state.chat.isQuiet }
        act(ChatAction.EditDraft("half a thou"))
        val id = state.openSessionId
        dieAndComeBack()
        untilText("Noted: the port = 8080.")
        assertEquals(id, state.openSessionId)
        ui.onNodeWithText("half a thou").assertIsDisplayed()
    }

    @Test
    fun aReplyThatTheEndOfTheProcessCutOffIsKeptAsFarAsItCame() {
        val held = CountDownLatch(1)
        LoopbackService { stream ->
            stream.text("Cut off ")
            held.await()
        }.use { service ->
            launchReady()
            openSession(service)
            send("Speak")
            untilText("Cut off")
            dieAndComeBack()
            untilText("Cut off")
            assertTrue(assertIs<ChatItem.Reply>(state.chat.items.last()).isInterrupted)
            held.countDown()
        }
    }

    private fun openSession(service: LoopbackService) {
        val id = runBlocking { service.session(checkNotNull(app.ready).repository) }
        act(ChatAction.OpenSession(id))
        until("conversation") { !state.chat.isLoading }
    }
}
