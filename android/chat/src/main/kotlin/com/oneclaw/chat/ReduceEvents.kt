package com.oneclaw.chat

import com.oneclaw.bridge.Problem
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.ToolStatus

/** The state after a step of a turn. Steps of a turn that has ended, or that nobody knows, change nothing. */
internal fun reduceEvent(state: AppUiState, id: Long, event: ChatEvent): AppUiState {
    val turn = state.turn(id)?.takeIf { it.phase != TurnPhase.ENDED } ?: return state
    return when (event) {
        is ChatEvent.StreamingText -> state.changeTurn(id) {
            it.grow { reply -> reply.copy(text = reply.text.append(event.text)) }
        }
        is ChatEvent.ThinkingText -> state.changeTurn(id) {
            it.grow { reply -> reply.copy(thinking = reply.thinking.append(event.text)) }
        }
        is ChatEvent.ToolCallStarted -> state.changeTurn(id) { it.started(event) }
        is ChatEvent.ToolCallArgumentsDelta -> state.changeTurn(id) {
            it.changeTool(event.toolCallId) { tool -> tool.copy(arguments = tool.arguments.append(event.delta)) }
        }
        is ChatEvent.ToolCallCompleted -> state.changeTurn(id) { it.completed(event) }
        is ChatEvent.ToolRoundStarting -> state.changeTurn(id) { it.closed() }
        is ChatEvent.ResponseComplete -> state.changeTurn(id) { it.answered() }
        is ChatEvent.Error -> state.changeTurn(id) { it.closed() }.failed(turn, event)
        is ChatEvent.ContextUsage -> state.changeChatOf(id) {
            it.copy(meter = Meter(event.expected, event.upper, event.window, event.trigger, event.parts))
        }
        is ChatEvent.CompactStarted -> state.changeTurn(id) { it.copy(isCompacting = true) }
        is ChatEvent.CompactCompleted ->
            state.changeTurn(id) { it.copy(isCompacting = false, foundNothing = !event.didCompact) }.tellCompaction(turn, event)
        is ChatEvent.PicturesLeftOut -> state.tell { Notice.PicturesLeftOut(it, event.count) }
        is ChatEvent.WindowUnknown -> state.chatIdOf(id).let { chat ->
            if (chat == null) state else state.tell { Notice.WindowUnknown(it, chat, event.expected) }
        }
        is ChatEvent.Finished -> endTurn(state, id, null)
    }
}

/** Nothing more comes: whatever was going on is over. */
internal fun endTurn(state: AppUiState, id: Long, problem: Problem?): AppUiState {
    val turn = state.turn(id) ?: return state
    val ended = state.changeTurn(id) { it.closed().copy(phase = TurnPhase.ENDED, isCompacting = false) }
    if (problem == null) return if (state.wasInVain(turn)) ended.tell { Notice.NothingToCompact(it) } else ended
    return ended.changeChatOf(id) { it.giveBack(turn).copy(failure = Failure.Refused(problem)) }
}

internal fun withdrawTurn(state: AppUiState, id: Long): AppUiState {
    val turn = state.turn(id) ?: return state
    return state.changeChatOf(id) { it.giveBack(turn) }
}

private fun AppUiState.changeChatOf(turn: Long, change: (ChatUiState) -> ChatUiState): AppUiState =
    chatIdOf(turn)?.let { changeChat(it, change) } ?: this

/** Where the reply is whole, only what followed it has failed: it stands, and is not to be asked for again. */
private fun AppUiState.failed(turn: LiveTurn, event: ChatEvent.Error): AppUiState {
    if (turn.hasReply) return tell { Notice.Unfinished(it, event.code) }
    // A compaction is tried again as such: the newest reply has nothing to do with it.
    val again = turn.request.takeIf(TurnRequest::isCompactionOnly) ?: TurnRequest.Regenerate
    return changeChatOf(turn.id) { it.copy(failure = Failure.Reported(event.text, event.code, again)) }
}

private fun AppUiState.tellCompaction(turn: LiveTurn, event: ChatEvent.CompactCompleted): AppUiState = when {
    event.fallback -> tell { Notice.Trimmed(it) }
    turn.request !is TurnRequest.Compact -> this
    event.didCompact -> tell { Notice.Compacted(it, event.tokensBefore, event.tokensAfter) }
    else -> this
}

/** Whether a compaction that was asked for ends without a word on why nothing was done. */
private fun AppUiState.wasInVain(turn: LiveTurn): Boolean {
    val isSilent = turn.phase == TurnPhase.RUNNING && chats[chatIdOf(turn.id)]?.failure == null
    return turn.request is TurnRequest.Compact && turn.foundNothing && isSilent
}

private fun LiveTurn.grow(change: (LivePart.Reply) -> LivePart.Reply) = copy(open = change(open ?: LivePart.Reply()))

/** The reply that was growing is complete. */
private fun LiveTurn.closed() = if (open == null) this else copy(parts = parts + open, open = null)

private fun LiveTurn.started(event: ChatEvent.ToolCallStarted): LiveTurn {
    val turn = closed()
    val card = ChatItem.Tool(
        key = "turn-$id-${turn.parts.size}",
        callId = event.toolCallId,
        name = event.toolName,
        arguments = "",
        status = ToolStatus.EXECUTING,
    )
    return turn.copy(parts = turn.parts + LivePart.Tool(card))
}

private fun LiveTurn.completed(event: ChatEvent.ToolCallCompleted): LiveTurn {
    val isKnown = parts.any { it is LivePart.Tool && it.isRunning && it.card.callId == event.toolCallId }
    val turn = if (isKnown) this else started(ChatEvent.ToolCallStarted(event.toolCallId, event.toolName))
    return turn.changeTool(event.toolCallId) {
        val card = it.card.copy(status = event.status, durationMs = event.durationMs, arguments = it.arguments.text)
        it.copy(card = card)
    }
}

private fun LiveTurn.answered(): LiveTurn =
    closed().copy(phase = if (phase == TurnPhase.STOPPING) phase else TurnPhase.ANSWERED, hasReply = true)

/** The latest call of that name: a service may use a name again in a later round. */
private fun LiveTurn.changeTool(callId: String, change: (LivePart.Tool) -> LivePart.Tool): LiveTurn {
    val at = parts.indexOfLast { it is LivePart.Tool && it.card.callId == callId }
    return copy(parts = parts.mapIndexed { index, part -> if (index == at) change(part as LivePart.Tool) else part })
}
