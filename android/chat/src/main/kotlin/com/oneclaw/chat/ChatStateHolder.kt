package com.oneclaw.chat

import com.oneclaw.bridge.ChatRepository
import com.oneclaw.bridge.MESSAGE_PAGE
import com.oneclaw.bridge.problemOf
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.CoreException
import com.oneclaw.core.ModelRef
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.update
import kotlinx.coroutines.flow.updateAndGet
import kotlinx.coroutines.launch
import java.util.UUID

/** When to look for the title of a new conversation. */
private val TITLE_WAITS_MS = listOf(0L, 500, 1_000, 2_000, 4_000, 8_000)

/**
 * Holds the state, and asks of the core what an action calls for. What an action or an answer means for the state is decided
 * by [reduce]; here is only who is asked, and when.
 *
 * [onAction] is to be called from one thread, the one that [scope] runs on. Answers go on arriving while the screen is away:
 * the scope is that of the app or its view model, not that of a screen.
 */
class ChatStateHolder(
    private val repository: ChatRepository,
    private val scope: CoroutineScope,
    initial: AppUiState = AppUiState(),
    newId: () -> String = { UUID.randomUUID().toString() },
) {
    private val states = MutableStateFlow(initial)
    private val sessions = SessionEffects(repository, states, ::launch)
    private val settings = SettingsEffects(repository, states, ::launch, ::loadContext, newId)

    val state: StateFlow<AppUiState> = states.asStateFlow()

    init {
        sessions.refresh()
        settings.load()
        if (initial.openId != NEW_CHAT) load(initial.openId)
    }

    fun onAction(action: ChatAction) {
        val before = states.value
        val after = states.updateAndGet { reduce(it, action) }
        runNew(before, after)
        sessions.perform(action, before)
        settings.perform(action, before, after)
        perform(action, before, after)
    }

    /** The bytes of what is attached to a stored message. The state holds only its description. */
    suspend fun readAttachment(messageId: String, nth: Int): ByteArray = repository.attachment(messageId, nth)

    private fun perform(action: ChatAction, before: AppUiState, after: AppUiState) {
        val sessionId = after.openSessionId
        when (action) {
            is ChatAction.OpenSession -> load(action.sessionId)
            is ChatAction.Stop -> launch { sessionId?.let { repository.stop(it) } }
            is ChatAction.LoadEarlier -> if (!before.chat.isLoadingEarlier) loadEarlier(sessionId, after.chat)
            is ChatAction.Pin -> pin(sessionId, action.messageId, isPinned = true)
            is ChatAction.Unpin -> pin(sessionId, action.messageId, isPinned = false)
            is ChatAction.UndoCompaction -> if (mayChange(before)) change(sessionId) { repository.undoCompaction(it) }
            is ChatAction.ConfirmReset -> if (mayChange(before)) change(sessionId) { repository.resetCompactions(it) }
            is ChatAction.OpenPicker -> {
                settings.loadCatalogue()
                sessionId?.let(::loadContext)
            }
            is ChatAction.PickModel, is ChatAction.ConfirmModel -> {
                val model = after.chat.model
                if (model != null && model != before.chat.model) takeModel(sessionId, model, before.chat.model)
            }
            is ChatAction.OpenContext -> sessionId?.let(::loadContext)
            else -> Unit
        }
    }

    private fun mayChange(before: AppUiState) = before.chat.isQuiet && before.context?.isChanging != true

    /** Runs [block] and reports what it could not do. */
    private fun launch(block: suspend () -> Unit): Job = scope.launch {
        try {
            block()
        } catch (cancelled: CancellationException) {
            throw cancelled
        } catch (error: Exception) {
            update(ChatUpdate.Failed(problemOf(error)))
        }
    }

    private fun update(update: ChatUpdate) = states.update { reduce(it, update) }

    private fun runNew(before: AppUiState, after: AppUiState) {
        val known = before.chats.values.flatMap { it.turns }.map { it.id }
        after.chats.values.flatMap { it.turns }.filterNot { it.id in known }.forEach(::run)
    }

    private fun run(turn: LiveTurn) {
        scope.launch {
            var sessionId: String? = null
            try {
                sessionId = sessionOf(turn)
                if (states.value.turn(turn.id)?.phase == TurnPhase.RUNNING) {
                    listen(turn, sessionId)
                    update(ChatUpdate.TurnEnded(turn.id))
                } else {
                    update(ChatUpdate.TurnWithdrawn(turn.id))
                }
            } catch (cancelled: CancellationException) {
                throw cancelled
            } catch (error: Exception) {
                update(ChatUpdate.TurnEnded(turn.id, problemOf(error)))
            }
            sessionId?.let(::settle)
        }
    }

    /**
     * Hears a turn to its end, or as long as it is in the state: who deletes a conversation ends what goes on there, also what is
     * still in line.
     */
    private suspend fun listen(turn: LiveTurn, sessionId: String) = coroutineScope {
        val hearing = this.launch {
            var isFirst = true
            stream(sessionId, turn.request).collect {
                handle(turn.id, sessionId, it)
                // A stop does not reach a turn that was still in line: it is said again as soon as the turn begins.
                if (isFirst && states.value.turn(turn.id)?.phase == TurnPhase.STOPPING) repository.stop(sessionId)
                isFirst = false
            }
        }
        val watching = this.launch {
            states.first { it.turn(turn.id) == null }
            hearing.cancel()
        }
        hearing.join()
        watching.cancel()
    }

    private suspend fun sessionOf(turn: LiveTurn): String {
        val state = states.value
        val id = checkNotNull(state.chatIdOf(turn.id)) { "turn ${turn.id} was not begun" }
        if (id != NEW_CHAT) return id
        val session = repository.createSession(model = state.chats.getValue(id).model)
        update(ChatUpdate.SessionCreated(turn.id, session))
        return session.id
    }

    private fun stream(sessionId: String, request: TurnRequest): Flow<ChatEvent> = when (request) {
        is TurnRequest.Send -> repository.send(sessionId, request.text, request.attachments)
        is TurnRequest.Edit -> repository.editAndResend(sessionId, request.messageId, request.text, request.attachments)
        is TurnRequest.Regenerate -> repository.regenerate(sessionId)
        is TurnRequest.Compact -> repository.compact(sessionId, request.focus)
        is TurnRequest.Resume -> repository.resume(sessionId)
    }

    private fun handle(turn: Long, sessionId: String, event: ChatEvent) {
        update(ChatUpdate.Event(turn, event))
        when (event) {
            is ChatEvent.ToolCallCompleted -> launch {
                update(ChatUpdate.ToolsLoaded(turn, repository.messages(sessionId, limit = rowsOf(turn))))
            }
            is ChatEvent.ResponseComplete -> {
                launch { ifThere { reload(sessionId) } }
                launch { ifThere { readTitle(sessionId) } }
            }
            else -> Unit
        }
    }

    /** At most so many rows a turn has stored: more are not read. */
    private fun rowsOf(turn: Long): Int {
        val parts = states.value.turn(turn)?.parts.orEmpty().size
        return (3 * parts + 2).coerceAtMost(MESSAGE_PAGE)
    }

    /** Shows the stored form of what was received, once nothing is being received any more. */
    private fun settle(sessionId: String) {
        launch {
            ifThere {
                reload(sessionId)
                update(ChatUpdate.SessionLoaded(repository.session(sessionId)))
            }
        }
        sessions.refresh()
        if (states.value.context?.sessionId == sessionId) loadContext(sessionId)
    }

    /** Nobody has to be told that what they removed meanwhile is gone. */
    private suspend fun ifThere(block: suspend () -> Unit) {
        try {
            block()
        } catch (_: CoreException.NotFound) {
            return
        }
    }

    /** A model writes the title of a new conversation in the background, while the core says that the turn is over. */
    private suspend fun readTitle(sessionId: String) {
        for (wait in TITLE_WAITS_MS) {
            delay(wait)
            val session = repository.session(sessionId)
            update(ChatUpdate.SessionLoaded(session))
            if (session.title != DEFAULT_TITLE) return
        }
    }

    private fun load(sessionId: String) {
        scope.launch {
            try {
                update(ChatUpdate.SessionLoaded(repository.session(sessionId)))
                reload(sessionId)
                loadContext(sessionId)
                launch { if (sessionId in repository.interruptedCompactions()) resume(sessionId) }
            } catch (cancelled: CancellationException) {
                throw cancelled
            } catch (error: Exception) {
                update(ChatUpdate.OpenFailed(sessionId, problemOf(error)))
            }
        }
    }

    private fun resume(sessionId: String) {
        val before = states.value
        runNew(before, states.updateAndGet { reduce(it, ChatUpdate.CompactionCutShort(sessionId)) })
    }

    private suspend fun reload(sessionId: String) {
        var chat = states.value.chats[sessionId] ?: return
        do {
            val limit = maxOf(MESSAGE_PAGE, chat.transcript.messages.size)
            update(ChatUpdate.MessagesLoaded(sessionId, chat.begun, limit, repository.messages(sessionId, limit = limit)))
            chat = states.value.chats[sessionId] ?: return
            // Earlier messages came in the meantime: a page without them was left aside.
        } while (chat.transcript.messages.size > limit)
    }

    private fun loadEarlier(sessionId: String?, chat: ChatUiState) {
        val cursor = chat.transcript.before
        if (sessionId == null || cursor == null) return
        launch {
            try {
                update(ChatUpdate.EarlierLoaded(sessionId, cursor, repository.messages(sessionId, cursor)))
            } catch (error: Exception) {
                update(ChatUpdate.EarlierFailed(sessionId))
                throw error
            }
        }
    }

    /** Does something to the conversation as it is stored, and reads it again. */
    private fun change(sessionId: String?, block: suspend (String) -> Unit) {
        if (sessionId == null) return
        launch {
            try {
                block(sessionId)
                reload(sessionId)
            } finally {
                loadContext(sessionId)
            }
        }
    }

    private fun pin(sessionId: String?, messageId: String, isPinned: Boolean) = change(sessionId) {
        if (isPinned) repository.pin(it, messageId) else repository.unpin(it, messageId)
        // While a reply is received, no page replaces what is shown.
        update(ChatUpdate.Pinned(it, messageId, isPinned))
    }

    private fun takeModel(sessionId: String?, model: ModelRef, old: ModelRef?) {
        if (sessionId == null) return
        launch {
            try {
                repository.setSessionModel(sessionId, model)
            } catch (error: Exception) {
                update(ChatUpdate.ModelKept(sessionId, old))
                throw error
            }
            update(ChatUpdate.SessionLoaded(repository.session(sessionId)))
            loadContext(sessionId)
        }
    }

    private fun loadContext(sessionId: String) {
        scope.launch {
            try {
                update(ChatUpdate.ContextLoaded(sessionId, repository.contextStatus(sessionId)))
            } catch (cancelled: CancellationException) {
                throw cancelled
            } catch (error: Exception) {
                update(ChatUpdate.ContextFailed(sessionId, problemOf(error)))
            }
        }
    }
}
