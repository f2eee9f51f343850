package com.oneclaw.chat

import com.oneclaw.bridge.Problem

/**
 * The state after a person did something. Pure: what has to be asked of the core is the work of [ChatStateHolder].
 */
fun reduce(state: AppUiState, action: ChatAction): AppUiState = when (action) {
    is ChatAction.ShowScreen -> show(state, action.screen)
    is ChatAction.Back -> back(state) ?: state
    is ChatAction.NoticeShown -> state.copy(notices = state.notices.filterNot { it.id == action.id })
    is ChatAction.Copied -> state.tell { Notice.Copied(it) }
    is ChatAction.RefusePicture -> state.tell { Notice.PictureRefused(it) }
    is ChatAction.RefuseMorePictures -> state.tellTooManyPictures()
    else -> reduceSessions(state, action)
        ?: reduceChat(state, action)
        ?: reduceContext(state, action)
        ?: reduceSettings(state, action)
        ?: state
}

/** The state after the core answered. Pure. */
fun reduce(state: AppUiState, update: ChatUpdate): AppUiState = when (update) {
    is ChatUpdate.Event -> reduceEvent(state, update.turn, update.event)
    is ChatUpdate.TurnEnded -> endTurn(state, update.turn, update.problem)
    is ChatUpdate.TurnWithdrawn -> withdrawTurn(state, update.turn)
    is ChatUpdate.SessionCreated -> nameChat(state, update)
    is ChatUpdate.SessionLoaded -> sessionLoaded(state, update.session)
    is ChatUpdate.MessagesLoaded -> state.changeChat(update.sessionId) { it.loaded(update) }
    is ChatUpdate.EarlierLoaded -> state.changeChat(update.sessionId) { it.loadedEarlier(update) }
    is ChatUpdate.EarlierFailed -> state.changeChat(update.sessionId) { it.copy(isLoadingEarlier = false) }
    is ChatUpdate.Pinned -> state.changeChat(update.sessionId) {
        it.copy(transcript = it.transcript.pinned(update.messageId, update.isPinned))
    }
    is ChatUpdate.ToolsLoaded -> state.changeTurn(update.turn) { it.withResults(update.page.messages) }
    is ChatUpdate.ModelKept -> state.changeChat(update.sessionId) { it.copy(model = update.model) }
    is ChatUpdate.CompactionCutShort -> compactionCutShort(state, update.sessionId)
    is ChatUpdate.OpenFailed -> state.changeChat(update.sessionId) {
        it.copy(isLoading = false, failure = Failure.Refused(update.problem))
    }
    is ChatUpdate.SessionsLoaded -> sessionsLoaded(state.listFailed(false), update)
    is ChatUpdate.SessionsFailed -> state.listFailed(true)
    is ChatUpdate.SessionDeleted -> sessionDeleted(state, update)
    is ChatUpdate.SessionGone -> state.withoutSession(update.sessionId)
    is ChatUpdate.SessionRenamed -> state.changeSession(update.sessionId) { it.copy(title = update.title) }
    is ChatUpdate.CatalogueLoaded -> catalogueLoaded(state, update.catalogue)
    is ChatUpdate.SettingsLoaded -> settingsLoaded(state, update)
    is ChatUpdate.ContextLoaded -> contextLoaded(state, update)
    is ChatUpdate.ContextFailed -> state.changeContext(update.sessionId) {
        it.copy(problem = update.problem, isChanging = false)
    }
    is ChatUpdate.ProviderSaved -> providerSaved(state, update.isSaved)
    is ChatUpdate.ModelSaved -> modelSaved(state, update.isSaved)
    is ChatUpdate.WindowSaved -> windowSaved(state, update.isSaved)
    is ChatUpdate.OfferLoaded -> state.changeOffer(update.providerId) { it.copy(models = update.models) }
    is ChatUpdate.OfferFailed -> state.changeOffer(update.providerId) { it.copy(problem = update.problem) }
    is ChatUpdate.Failed -> state.tellProblem(update.problem)
}

private fun show(state: AppUiState, screen: Screen): AppUiState {
    val before = if (state.screen == Screen.SETTINGS) state.beforeSettings else state.screen
    return state.copy(screen = screen, beforeSettings = before)
}

/** Whether [ChatAction.Back] does something; otherwise the platform closes the app. */
fun goesBack(state: AppUiState): Boolean = back(state) != null

private fun back(state: AppUiState): AppUiState? = when {
    state.window?.isDialog == true -> state.copy(window = null)
    state.picker?.warning != null -> state.copy(picker = state.picker.copy(warning = null))
    state.picker != null -> state.copy(picker = null)
    state.context?.confirmsReset == true -> state.copy(context = state.context.copy(confirmsReset = false))
    state.context != null -> state.copy(context = null, window = null)
    state.settings.removing != null -> state.copy(settings = state.settings.copy(removing = null))
    state.settings.model != null -> state.copy(settings = state.settings.copy(model = null))
    state.settings.offer != null -> state.copy(settings = state.settings.copy(offer = null))
    state.settings.provider != null -> state.copy(settings = state.settings.copy(provider = null))
    state.sessions.renaming != null -> state.copy(sessions = state.sessions.copy(renaming = null))
    state.sessions.purging != null -> state.copy(sessions = state.sessions.copy(purging = null))
    state.screen == Screen.SETTINGS -> state.copy(screen = state.beforeSettings)
    state.screen == Screen.CHAT && state.chat.draft.editing != null -> reduce(state, ChatAction.CancelEdit)
    state.screen == Screen.CHAT -> state.copy(screen = Screen.SESSIONS)
    else -> null
}

private fun AppUiState.listFailed(isFailed: Boolean): AppUiState =
    copy(sessions = sessions.copy(isLoading = sessions.isLoading && !isFailed, isFailed = isFailed))

internal fun AppUiState.tell(notice: (Long) -> Notice): AppUiState {
    val id = lastId + 1
    return copy(lastId = id, notices = notices + notice(id))
}

/** Once for all that were left out together. */
internal fun AppUiState.tellTooManyPictures(): AppUiState =
    if (notices.lastOrNull() is Notice.TooManyPictures) this else tell { Notice.TooManyPictures(it) }

internal fun AppUiState.tellProblem(problem: Problem): AppUiState = tell { Notice.Failed(it, problem) }

internal fun AppUiState.changeChat(sessionId: String, change: (ChatUiState) -> ChatUiState): AppUiState {
    val chat = chats[sessionId] ?: return this
    return copy(chats = chats + (sessionId to change(chat)))
}

internal fun AppUiState.changeOpen(change: (ChatUiState) -> ChatUiState): AppUiState = changeChat(openId, change)

internal fun AppUiState.chatIdOf(turn: Long): String? =
    chats.entries.find { (_, chat) -> chat.turns.any { it.id == turn } }?.key

internal fun AppUiState.turn(id: Long): LiveTurn? =
    chats.values.firstNotNullOfOrNull { chat -> chat.turns.find { it.id == id } }

internal fun AppUiState.changeTurn(id: Long, change: (LiveTurn) -> LiveTurn): AppUiState {
    val key = chatIdOf(id) ?: return this
    return changeChat(key) { chat -> chat.copy(turns = chat.turns.map { if (it.id == id) change(it) else it }) }
}
