package com.oneclaw.chat

import com.oneclaw.core.Session

/** The list of conversations, and which of them is open. */
internal fun reduceSessions(state: AppUiState, action: ChatAction): AppUiState? = when (action) {
    is ChatAction.Search -> state.changeList { it.copy(search = action.text, isLoading = true) }
    is ChatAction.ShowShelf -> state.changeList {
        it.copy(shelf = action.shelf, sessions = emptyList(), next = null, isLoading = true)
    }
    is ChatAction.LoadMoreSessions -> state.changeList { it.copy(isLoading = it.isLoading || it.hasMore) }
    is ChatAction.NewSession -> state.open(NEW_CHAT) { ChatUiState(model = state.catalogue.defaultModel?.ref) }
    is ChatAction.OpenSession -> state.open(action.sessionId) { ChatUiState(isLoading = true) }
    // What is going on there is listened to no longer, and so ends: see [ChatStateHolder].
    is ChatAction.DeleteSession -> state.changeChat(action.session.id) { it.copy(turns = emptyList()) }
    is ChatAction.StartRename -> state.changeList {
        it.copy(renaming = Renaming(action.session.id, action.session.title))
    }
    is ChatAction.RenameTo -> state.changeList { it.copy(renaming = it.renaming?.copy(title = action.title)) }
    is ChatAction.SaveRename -> state.changeList { if (it.renaming?.isValid == true) it.copy(renaming = null) else it }
    is ChatAction.CancelRename -> state.changeList { it.copy(renaming = null) }
    is ChatAction.StartPurge -> state.changeList { it.copy(purging = action.session) }
    is ChatAction.ConfirmPurge, is ChatAction.CancelPurge -> state.changeList { it.copy(purging = null) }
    else -> null
}

private fun AppUiState.changeList(change: (SessionListState) -> SessionListState) = copy(sessions = change(sessions))

/** Opens a conversation. Those left behind are kept while there is something to keep. */
private fun AppUiState.open(id: String, fresh: () -> ChatUiState): AppUiState {
    val kept = chats.filter { (key, chat) -> key == id || chat.turns.isNotEmpty() || chat.hasDraft }
    return copy(
        screen = Screen.CHAT,
        openId = id,
        chats = kept + (id to (kept[id] ?: fresh())),
        picker = null,
        context = null,
        window = null,
    )
}

internal fun sessionsLoaded(state: AppUiState, update: ChatUpdate.SessionsLoaded): AppUiState {
    val list = state.sessions
    if (update.search != list.search || update.shelf != list.shelf) return state
    val all = if (update.isFirst) update.page.sessions else list.sessions + update.page.sessions
    return state.changeList {
        // A conversation may have moved up between two pages.
        it.copy(sessions = all.distinctBy(Session::id), next = update.page.next, isLoading = false)
    }
}

/** It may come back: what was being written in it is kept. */
internal fun sessionDeleted(state: AppUiState, update: ChatUpdate.SessionDeleted): AppUiState {
    val id = update.session.id
    val draft = state.chats.filter { (key, chat) -> key == id && chat.hasDraft }
    val without = state.withoutSession(id)
    return without.copy(chats = without.chats + draft).tell { Notice.SessionDeleted(it, id, update.session.title) }
}

/** The conversation is no longer in the list that is shown; if it was open, a new one is. */
internal fun AppUiState.withoutSession(sessionId: String): AppUiState {
    val left = chats - sessionId
    val wasOpen = openId == sessionId
    val fresh = ChatUiState(model = catalogue.defaultModel?.ref)
    return changeList { list -> list.copy(sessions = list.sessions.filterNot { it.id == sessionId }) }.copy(
        openId = if (wasOpen) NEW_CHAT else openId,
        chats = if (wasOpen) left + (NEW_CHAT to (left[NEW_CHAT] ?: fresh)) else left,
        context = context?.takeUnless { it.sessionId == sessionId },
        picker = picker.takeUnless { wasOpen },
    )
}

internal fun AppUiState.changeSession(sessionId: String, change: (Session) -> Session): AppUiState {
    val list = changeList { list -> list.copy(sessions = list.sessions.map { if (it.id == sessionId) change(it) else it }) }
    return list.changeChat(sessionId) { chat -> chat.copy(session = chat.session?.let(change)) }
}
