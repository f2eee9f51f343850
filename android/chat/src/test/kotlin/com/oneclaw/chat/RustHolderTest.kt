package com.oneclaw.chat

import com.oneclaw.bridge.RustChatRepository
import com.oneclaw.bridge.real.House
import com.oneclaw.bridge.real.LoopbackService
import com.oneclaw.bridge.real.house
import com.oneclaw.core.ErrorCode
import com.oneclaw.core.ModelRef
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeoutOrNull
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertIs
import kotlin.test.assertNull
import kotlin.test.assertTrue
import kotlin.test.fail
import kotlin.time.Duration.Companion.seconds

/** The state holder with the real core and its demo service, in real time. */
class RustHolderTest {
    private class Real(val core: RustChatRepository, val scope: CoroutineScope) {
        val holder = ChatStateHolder(core, scope)
        val chat get() = holder.state.value.chat
        val texts get() = chat.items.map { (it as ChatItem.Written).text }

        suspend fun act(vararg actions: ChatAction) = scope.async { actions.forEach(holder::onAction) }.await()

        suspend fun until(what: String, condition: (AppUiState) -> Boolean): AppUiState =
            withTimeoutOrNull(20.seconds) { holder.state.first(condition) } ?: fail("no $what: ${holder.state.value.chat}")

        /** Sends, and waits until what is stored is shown. */
        suspend fun ask(text: String) {
            val before = chat.items.size
            act(ChatAction.EditDraft(text), ChatAction.Send)
            until("answer") { it.chat.turns.isEmpty() && it.chat.items.size > before }
        }
    }

    private suspend fun House.stage(block: suspend Real.() -> Unit) = open().use { core ->
        val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default.limitedParallelism(1))
        try {
            Real(core, scope).block()
        } finally {
            scope.cancel()
        }
    }

    @Test
    fun aReplyStreamsIntoTheStateAndIsThereAfterARestart() = house {
        var id = ""
        stage {
            val growing = mutableSetOf<Int>()
            val watching = scope.launch {
                holder.state.collect { state -> state.chat.turns.firstOrNull()?.open?.let { growing += it.text.text.length } }
            }
            ask("Write 60 words.")
            watching.cancel()
            assertTrue(growing.size > 3, "it grew in $growing")
            assertEquals(60, texts.last().split(' ').size)
            id = checkNotNull(holder.state.value.openSessionId)
            until("list") { state -> state.sessions.sessions.any { it.id == id } }
            assertTrue(chat.isQuiet && chat.draft.isEmpty)
            assertEquals(16_000, chat.meter?.window)
        }
        stage {
            act(ChatAction.OpenSession(id))
            until("conversation") { it.chat.items.size == 2 }
            ask("Remember: the port = 8080.")
            assertEquals("Noted: the port = 8080.", texts.last())
        }
    }

    @Test
    fun aCompactionByHandIsShownAndTakenBack() = house {
        stage {
            ask("Remember: the port = 8080.")
            repeat(5) { ask("Note $it: ${"gravel road ".repeat(300)}") }
            act(ChatAction.OpenContext)
            until("context") { it.context?.status != null }
            var wasCompacting = false
            val watching = scope.launch { holder.state.collect { wasCompacting = wasCompacting || it.chat.isCompacting } }
            act(ChatAction.CompactNow)
            until("notice") { it.notice is Notice.Compacted }
            act(ChatAction.OpenContext)
            until("epoch") { it.context?.status?.epochs?.size == 1 && it.chat.isQuiet }
            watching.cancel()
            assertTrue(wasCompacting)
            until("line") { it.chat.items.contains(ChatItem.Boundary) }
            act(ChatAction.UndoCompaction)
            until("undo") { it.context?.status?.epochs?.isEmpty() == true && ChatItem.Boundary !in it.chat.items }
        }
    }

    @Test
    fun aStopKeepsWhatWasSaidAndAnotherReplyTakesItsPlace() = house {
        stage {
            act(ChatAction.EditDraft("Write 900 words."), ChatAction.Send)
            until("stream") { it.chat.turns.firstOrNull()?.open != null }
            act(ChatAction.Stop)
            until("end") { it.chat.turns.isEmpty() }
            val reply = assertIs<ChatItem.Reply>(chat.items.last())
            assertTrue(reply.isInterrupted && reply.isNewest)
            act(ChatAction.StartEdit((chat.items.first() as ChatItem.User).messageId), ChatAction.EditDraft("Write 5 words."), ChatAction.Send)
            until("edit") { it.chat.turns.isEmpty() && it.chat.items.size == 2 }
            assertEquals("Write 5 words.", texts.first())
            act(ChatAction.Regenerate((chat.items.last() as ChatItem.Reply).messageId))
            until("another") { it.chat.turns.isEmpty() && it.chat.items.size == 2 }
            assertEquals(5, texts.last().split(' ').size)
        }
    }

    @Test
    fun anErrorIsShownAndRetriedWithAnotherModel() = house {
        stage {
            val gone = LoopbackService { it.end() }
            val id = gone.session(core)
            gone.close()
            act(ChatAction.OpenSession(id), ChatAction.EditDraft("Remember: the port = 8080."), ChatAction.Send)
            until("failure") { it.chat.failure != null && it.chat.turns.isEmpty() }
            assertEquals(ErrorCode.NETWORK, assertIs<Failure.Reported>(chat.failure).code)
            assertIs<ChatItem.Failed>(chat.items.last())
            core.setSessionModel(id, ModelRef("provider-demo", "demo"))
            act(ChatAction.Retry)
            until("reply") { it.chat.turns.isEmpty() && it.chat.items.lastOrNull() is ChatItem.Reply }
            assertEquals(listOf("Remember: the port = 8080.", "Noted: the port = 8080."), texts)
            assertNull(chat.failure)
        }
    }
}
