package com.oneclaw.chat

import com.oneclaw.bridge.MESSAGE_PAGE
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.CompactReason
import com.oneclaw.core.ErrorCode
import com.oneclaw.core.MessagePage
import com.oneclaw.core.Parts
import com.oneclaw.core.Strategy
import com.oneclaw.core.ToolStatus

/** Random tests look at the same cases every time. */
const val SEED = 20260228

/** A state that is played step by step, without a core. */
class Play(var state: AppUiState = Samples.chat) {
    val chat: ChatUiState get() = state.chat

    fun act(vararg actions: ChatAction) = apply { actions.forEach { state = reduce(state, it) } }

    fun update(update: ChatUpdate) = apply { state = reduce(state, update) }

    fun send(text: String): Long {
        act(ChatAction.EditDraft(text), ChatAction.Send)
        return chat.turns.last().id
    }

    fun events(turn: Long, vararg events: ChatEvent) = apply { events.forEach { update(ChatUpdate.Event(turn, it)) } }

    fun loaded(page: MessagePage, begun: Int = chat.begun, limit: Int = MESSAGE_PAGE) =
        update(ChatUpdate.MessagesLoaded(state.openId, begun, limit, page))

    fun turn(id: Long): LiveTurn = chat.turns.single { it.id == id }
}

object Events {
    val text = ChatEvent.StreamingText("Hello")
    val thinking = ChatEvent.ThinkingText("Hm")
    val toolStarted = ChatEvent.ToolCallStarted("c", "read_file")
    val toolArguments = ChatEvent.ToolCallArgumentsDelta("c", "{}")
    val toolCompleted = ChatEvent.ToolCallCompleted("c", "read_file", ToolStatus.SUCCESS, 12)
    val round = ChatEvent.ToolRoundStarting(1)
    val complete = ChatEvent.ResponseComplete("m-99", null)
    val error = ChatEvent.Error("No connection", ErrorCode.NETWORK, true)
    val usage = ChatEvent.ContextUsage(700, 800, 1_000, 850, Parts(10, 20, 30, 640))
    val picturesLeftOut = ChatEvent.PicturesLeftOut(2)
    val windowUnknown = ChatEvent.WindowUnknown(40_000)
    val compactStarted = ChatEvent.CompactStarted("s-1", CompactReason.THRESHOLD, 12, 1, 0)
    val compacted = compactCompleted(didCompact = true, fallback = false)
    val trimmed = compactCompleted(didCompact = true, fallback = true)
    val notCompacted = compactCompleted(didCompact = false, fallback = false)

    private fun compactCompleted(didCompact: Boolean, fallback: Boolean): ChatEvent {
        val strategy = if (!didCompact) {
            null
        } else if (fallback) {
            Strategy.DIGEST
        } else {
            Strategy.PROSE
        }
        return ChatEvent.CompactCompleted(didCompact, fallback, 1_000, 300, strategy, CompactReason.THRESHOLD, 0)
    }
}

val LivePart.plain: String
    get() = when (this) {
        is LivePart.Reply -> text.text
        is LivePart.Tool -> "[${card.name} ${card.status}]"
    }

/** What a turn has received, as text. */
val LiveTurn.plain: String get() = (parts + listOfNotNull(open)).joinToString("|") { it.plain }
