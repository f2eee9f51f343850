package com.oneclaw.chat.ui.common

import androidx.compose.foundation.text.input.TextFieldState
import androidx.compose.foundation.text.input.rememberTextFieldState
import androidx.compose.foundation.text.input.setTextAndPlaceCursorAtEnd
import androidx.compose.runtime.Composable
import androidx.compose.runtime.LaunchedEffect
import androidx.compose.runtime.getValue
import androidx.compose.runtime.remember
import androidx.compose.runtime.rememberUpdatedState
import androidx.compose.runtime.snapshotFlow

private const val MOST_PENDING = 64

/**
 * A field whose text is also in the state, which hears of it a little later. What comes back from there is either an echo of
 * what was typed, and must not disturb what was typed since, or was changed from elsewhere, and is shown.
 */
internal class SyncedField(val state: TextFieldState) {
    private var known = state.text.toString()
    private val pending = ArrayDeque<String>()

    /** The text as it is now, if it is news to the state. */
    fun typed(): String? {
        val text = state.text.toString()
        if (text == known) return null
        known = text
        pending.addLast(text)
        if (pending.size > MOST_PENDING) pending.removeFirst()
        return text
    }

    fun received(text: String) {
        val echo = pending.indexOf(text)
        if (echo >= 0) {
            repeat(echo + 1) { pending.removeFirst() }
        } else if (text != state.text.toString()) {
            pending.clear()
            set(text)
        }
    }

    /** Empties the field, ahead of the state. */
    fun clear() {
        pending.clear()
        set("")
    }

    private fun set(text: String) {
        known = text
        state.setTextAndPlaceCursorAtEnd(text)
    }
}

@Composable
internal fun rememberSyncedField(text: String, onChange: (String) -> Unit): SyncedField =
    rememberSynced(rememberTextFieldState(text), text, onChange)

/** For secrets: the system does not keep what was typed when it puts the app aside. */
@Composable
internal fun rememberSecretField(text: String, onChange: (String) -> Unit): SyncedField =
    rememberSynced(remember { TextFieldState(text) }, text, onChange)

@Composable
private fun rememberSynced(state: TextFieldState, text: String, onChange: (String) -> Unit): SyncedField {
    val field = remember(state) { SyncedField(state) }
    val change by rememberUpdatedState(onChange)
    LaunchedEffect(field, text) { field.received(text) }
    LaunchedEffect(field) { snapshotFlow { state.text.toString() }.collect { field.typed()?.let { change(it) } } }
    return field
}
