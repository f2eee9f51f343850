package com.oneclaw.shadow.start

import com.oneclaw.bridge.ChatRepository
import com.oneclaw.bridge.Problem
import com.oneclaw.bridge.problemOf
import com.oneclaw.chat.AppUiState
import com.oneclaw.chat.ChatStateHolder
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.update
import kotlinx.coroutines.launch
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds

/** How far the app is before it can show conversations. */
sealed interface StartState {
    /** The file is being opened. Nothing is shown: most often it takes no time. */
    data object Opening : StartState

    /** It takes long enough to say so, as when the original app's file is brought up to date. */
    data object Slow : StartState

    data class Ready(val repository: ChatRepository, val holder: ChatStateHolder) : StartState

    /** The file could not be opened, or not be used. Nothing in it was deleted; it may have been brought up to date. */
    data class Failed(val problem: Problem) : StartState
}

/**
 * Opens the core once per process, off the main thread, and makes the state holder over it. Belongs to the process, so a
 * rotation meanwhile neither waits anew nor opens twice.
 *
 * To be used from the thread of [scope].
 *
 * @param patience how long opening may take before something is shown
 */
class Start(
    private val scope: CoroutineScope,
    private val open: suspend () -> ChatRepository,
    private val patience: Duration = 300.milliseconds,
) {
    private val states = MutableStateFlow<StartState>(StartState.Opening)
    private var initial: AppUiState? = null

    val state: StateFlow<StartState> = states.asStateFlow()

    /** Begins, with [place] on the screen. Later calls change nothing: the process goes on where it is. */
    fun begin(place: AppUiState) {
        if (initial != null) return
        initial = place
        open(place)
    }

    /** Tries once more after a failure. */
    fun retry() {
        val place = initial
        if (place != null && states.value is StartState.Failed) open(place)
    }

    private fun open(place: AppUiState) {
        states.value = StartState.Opening
        scope.launch {
            val watch = launch {
                delay(patience)
                states.update { if (it == StartState.Opening) StartState.Slow else it }
            }
            val result = opened(place)
            watch.cancel()
            states.value = result
        }
    }

    // A library that does not load is an Error; it, too, is to be shown and not to end the app.
    private suspend fun opened(place: AppUiState): StartState = try {
        val repository = open()
        StartState.Ready(repository, ChatStateHolder(repository, scope, place))
    } catch (error: Throwable) {
        StartState.Failed(problemOf(error))
    }
}
