package com.oneclaw.shadow.background

import com.oneclaw.bridge.ChatRepository
import com.oneclaw.bridge.problemOf
import com.oneclaw.chat.AppUiState
import com.oneclaw.chat.ChatAction
import com.oneclaw.shadow.start.StartState
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.combine
import kotlinx.coroutines.flow.distinctUntilChanged
import kotlinx.coroutines.flow.flatMapLatest
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.flow.map

/** Answers and compactions that are going on, and whether somebody looks on. On the main thread. */
class Work(private val start: StateFlow<StartState>) {
    private val seen = MutableStateFlow(false)

    /** The process has to be kept alive: something goes on, and the app is not in front. */
    @OptIn(ExperimentalCoroutinesApi::class)
    val isGoingOnUnseen: Flow<Boolean> = start
        .flatMapLatest { (it as? StartState.Ready)?.holder?.state ?: flowOf(AppUiState()) }
        .map { it.busy.isNotEmpty() }
        .combine(seen) { isGoingOn, isSeen -> isGoingOn && !isSeen }
        .distinctUntilChanged()

    val isGoingOn: Boolean get() = ready?.holder?.state?.value?.busy.orEmpty().isNotEmpty()

    /** Whether the user has left while something went on, and was not asked about notifications in this process. */
    var wasLeft = false
        private set

    private var wasAsked = false

    private val ready get() = start.value as? StartState.Ready

    fun cameToFront() {
        seen.value = true
    }

    fun leftFront() {
        seen.value = false
    }

    fun left() {
        wasLeft = !wasAsked && (wasLeft || isGoingOn)
    }

    fun askedAboutNotifications() {
        wasAsked = true
        wasLeft = false
    }

    /** Stops all of it. What was received is kept. */
    suspend fun stop() {
        val (repository, holder) = ready ?: return
        val state = holder.state.value
        if (state.openId in state.busy) holder.onAction(ChatAction.Stop)
        (state.busy - state.openId).forEach { stop(repository, it) }
    }

    /** Where it cannot be stopped there is nobody to tell; the others are stopped all the same. */
    private suspend fun stop(repository: ChatRepository, sessionId: String) {
        try {
            repository.stop(sessionId)
        } catch (error: Exception) {
            // Throws on what only says that this coroutine is to end.
            problemOf(error)
        }
    }
}

/** The conversations in which something goes on; more than are being answered, as compactions count too. */
private val AppUiState.busy: Set<String> get() = chats.filterValues { !it.isQuiet }.keys
