package com.oneclaw.chat

import com.oneclaw.bridge.ChatRepository
import com.oneclaw.bridge.SESSION_PAGE
import com.oneclaw.core.Session
import com.oneclaw.core.Shelf
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.update

/** How long to wait for the next letter of a search. */
internal const val SEARCH_DELAY_MS = 250L

/** What the list of conversations asks of the core. */
internal class SessionEffects(
    private val repository: ChatRepository,
    private val states: MutableStateFlow<AppUiState>,
    private val launch: (suspend () -> Unit) -> Job,
) {
    private var listing: Job? = null

    fun perform(action: ChatAction, before: AppUiState) {
        when (action) {
            is ChatAction.Search -> list(SEARCH_DELAY_MS)
            is ChatAction.ShowShelf -> list()
            is ChatAction.LoadMoreSessions -> if (!before.sessions.isLoading) before.sessions.next?.let(::more)
            is ChatAction.SaveRename -> before.sessions.renaming?.takeIf { it.isValid }?.let(::rename)
            is ChatAction.DeleteSession -> delete(action.session)
            is ChatAction.RestoreSession -> restore(action.sessionId)
            is ChatAction.ConfirmPurge -> before.sessions.purging?.let(::purge)
            else -> Unit
        }
    }

    /** Reads the list again, as far as it was read. */
    fun refresh() = list()

    private fun list(delayMs: Long = 0) {
        listing?.cancel()
        listing = launch {
            delay(delayMs)
            load(cursor = null)
        }
    }

    private fun more(cursor: String) {
        listing?.cancel()
        listing = launch { load(cursor) }
    }

    private suspend fun load(cursor: String?) {
        val list = states.value.sessions
        val limit = if (cursor == null) maxOf(SESSION_PAGE, list.sessions.size) else SESSION_PAGE
        val page = try {
            repository.sessions(list.search.trim(), list.shelf, cursor, limit)
        } catch (cancelled: CancellationException) {
            throw cancelled
        } catch (error: Exception) {
            update(ChatUpdate.SessionsFailed)
            throw error
        }
        update(ChatUpdate.SessionsLoaded(list.search, list.shelf, cursor == null, page))
    }

    private fun rename(renaming: Renaming) {
        val title = renaming.title.trim()
        launch {
            repository.renameSession(renaming.sessionId, title)
            update(ChatUpdate.SessionRenamed(renaming.sessionId, title))
        }
    }

    private fun delete(session: Session) {
        launch {
            repository.deleteSession(session.id)
            update(ChatUpdate.SessionDeleted(session))
        }
    }

    private fun restore(sessionId: String) {
        launch {
            repository.restoreSession(sessionId)
            if (states.value.sessions.shelf == Shelf.DELETED) update(ChatUpdate.SessionGone(sessionId)) else refresh()
        }
    }

    private fun purge(session: Session) {
        launch {
            repository.purgeSession(session.id)
            update(ChatUpdate.SessionGone(session.id))
        }
    }

    private fun update(update: ChatUpdate) = states.update { reduce(it, update) }
}
