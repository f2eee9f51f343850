package com.oneclaw.chat

import com.oneclaw.core.Attachment
import com.oneclaw.core.Message
import com.oneclaw.core.MessageKind
import com.oneclaw.core.Session

/** The open conversation: writing, sending, and what was stored of it. */
internal fun reduceChat(state: AppUiState, action: ChatAction): AppUiState? = when (action) {
    is ChatAction.EditDraft -> state.changeDraft { it.copy(text = action.text) }
    is ChatAction.AddAttachment -> attach(state, action.attachment)
    is ChatAction.RemoveAttachment -> state.changeDraft { draft ->
        draft.copy(attachments = draft.attachments.filterIndexed { index, _ -> index != action.index })
    }
    is ChatAction.Send -> send(state)
    is ChatAction.Stop -> state.changeOpen { it.stopping() }
    is ChatAction.Retry -> if (state.chat.canRetry) retry(state) else state
    is ChatAction.DismissFailure -> state.changeOpen { it.copy(failure = null) }
    is ChatAction.Regenerate -> regenerate(state, action.messageId)
    is ChatAction.StartEdit -> startEdit(state, action.messageId)
    is ChatAction.CancelEdit -> state.changeOpen { if (it.draft.editing == null) it else it.editEnded() }
    is ChatAction.LoadEarlier -> state.changeOpen { it.copy(isLoadingEarlier = it.hasEarlier) }
    else -> null
}

private fun AppUiState.changeDraft(change: (Draft) -> Draft) = changeOpen { it.copy(draft = change(it.draft)) }

private fun attach(state: AppUiState, attachment: Attachment): AppUiState {
    val there = state.chat.draft.attachments
    val size = (there + attachment).sumOf { it.bytes }
    // How large a single picture may be is the platform's to say.
    val fits = there.isEmpty() || (there.size < MOST_PICTURES && size <= MOST_PICTURE_BYTES)
    return if (fits) state.changeDraft { it.copy(attachments = there + attachment) } else state.tellTooManyPictures()
}

private fun send(state: AppUiState): AppUiState {
    val chat = state.chat
    val draft = chat.draft
    if (!chat.canSend) return state
    val request = if (draft.editing == null) {
        TurnRequest.Send(draft.text.trim(), draft.attachments)
    } else {
        TurnRequest.Edit(draft.editing, draft.text.trim(), draft.attachments)
    }
    val bubble = Draft(draft.text.trim(), draft.attachments)
    val cleared = state.changeOpen {
        if (draft.editing == null) {
            it.copy(draft = Draft())
        } else {
            it.editEnded().copy(transcript = it.transcript.until(draft.editing))
        }
    }
    return cleared.begin(request, bubble)
}

private fun ChatUiState.editEnded() = copy(draft = aside, aside = Draft())

private fun regenerate(state: AppUiState, messageId: String): AppUiState {
    val messages = state.chat.transcript.messages
    val isNewest = messages.indexOfFirst { it.id == messageId } > newestQuestion(messages)
    return if (state.chat.isQuiet && isNewest) answerAgain(state) else state
}

private fun retry(state: AppUiState): AppUiState {
    val again = (state.chat.failure as? Failure.Reported)?.again
    return if (again?.isCompactionOnly == true) state.begin(again) else answerAgain(state)
}

/** All that the newest message led to is about to be replaced. */
private fun answerAgain(state: AppUiState): AppUiState {
    val messages = state.chat.transcript.messages
    // While a turn is shown as it was received, its message is not among the stored ones yet.
    val old = messages.getOrNull(newestQuestion(messages) + 1)?.takeIf { state.chat.turns.isEmpty() }
    val cut = if (old == null) state else state.changeOpen { it.copy(transcript = it.transcript.until(old.id)) }
    return cut.begin(TurnRequest.Regenerate)
}

private fun startEdit(state: AppUiState, messageId: String): AppUiState {
    val messages = state.chat.transcript.messages
    val message = messages.getOrNull(newestQuestion(messages))?.takeIf { it.id == messageId }
    val written = message?.kind as? MessageKind.User ?: return state
    val revision = state.lastId + 1
    return state.copy(lastId = revision).changeOpen {
        val aside = if (it.draft.editing == null) it.draft else it.aside
        it.copy(draft = Draft(written.text, written.attachments, messageId, revision), aside = aside)
    }
}

internal fun AppUiState.begin(request: TurnRequest, bubble: Draft? = null, chatId: String = openId): AppUiState {
    val id = lastId + 1
    return copy(lastId = id).changeChat(chatId) {
        it.copy(turns = it.turns + LiveTurn(id, request, bubble), begun = it.begun + 1, failure = null)
    }
}

/** What is already going on ends the compaction by itself. */
internal fun compactionCutShort(state: AppUiState, sessionId: String): AppUiState =
    if (state.chats[sessionId]?.turns?.isEmpty() == true) state.begin(TurnRequest.Resume, chatId = sessionId) else state

private fun ChatUiState.stopping() = copy(
    turns = turns.map { if (it.phase == TurnPhase.ENDED) it else it.copy(phase = TurnPhase.STOPPING) },
)

/** The conversation that had no name gets one, in place. */
internal fun nameChat(state: AppUiState, update: ChatUpdate.SessionCreated): AppUiState {
    val key = state.chatIdOf(update.turn) ?: return state
    val chat = state.chats.getValue(key).copy(session = update.session)
    val openId = if (state.openId == key) update.session.id else state.openId
    val chats = state.chats - key + (update.session.id to chat)
    return state.copy(openId = openId, chats = chats)
}

internal fun sessionLoaded(state: AppUiState, session: Session): AppUiState =
    state.changeSession(session.id) { session }.changeChat(session.id) {
        it.copy(session = session, model = session.model ?: it.model)
    }

/**
 * The newest messages were read. They replace the turns they contain; a page read before the latest turn began, while a reply is
 * being received, or before earlier messages came, says less than is known already.
 */
internal fun ChatUiState.loaded(update: ChatUpdate.MessagesLoaded): ChatUiState {
    if (update.begun != begun || isAnswering || update.limit < transcript.messages.size) return copy(isLoading = false)
    val left = turns.filter { it.phase != TurnPhase.ENDED }
        .map { it.copy(bubble = null, parts = emptyList(), open = null) }
    return copy(
        isLoading = false,
        transcript = Transcript(update.page.messages, update.page.before),
        turns = left,
    )
}

internal fun ChatUiState.loadedEarlier(update: ChatUpdate.EarlierLoaded): ChatUiState {
    if (update.cursor != transcript.before) return copy(isLoadingEarlier = false)
    val messages = update.page.messages + transcript.messages
    return copy(isLoadingEarlier = false, transcript = Transcript(messages, update.page.before))
}

/**
 * The core was not asked, or refused. Unless something was received, nothing was stored: the text goes back to where it was
 * written, before what was written since.
 */
internal fun ChatUiState.giveBack(turn: LiveTurn): ChatUiState {
    if (turn.open != null || turn.parts.isNotEmpty()) return this
    val left = copy(turns = turns.filterNot { it.id == turn.id })
    val bubble = turn.bubble ?: return left
    if (!draft.isEmpty) {
        val text = listOf(bubble.text, draft.text).filter { it.isNotBlank() }.joinToString("\n\n")
        val attachments = bubble.attachments + draft.attachments
        return left.copy(draft = draft.copy(text = text, attachments = attachments, revision = turn.id))
    }
    val editing = (turn.request as? TurnRequest.Edit)?.messageId
    return left.copy(draft = bubble.copy(editing = editing, revision = turn.id))
}

/** Results of tools that are stored by now. */
internal fun LiveTurn.withResults(messages: List<Message>): LiveTurn {
    val results = messages.mapNotNull { it.kind as? MessageKind.ToolResult }.associateBy { it.callId }
    return copy(
        parts = parts.map { part ->
            val isAwaited = part is LivePart.Tool && !part.isRunning && part.card.output == null
            val result = if (isAwaited) results[part.card.callId] else null
            if (isAwaited && result != null) part.copy(card = part.card.with(result)) else part
        },
    )
}
