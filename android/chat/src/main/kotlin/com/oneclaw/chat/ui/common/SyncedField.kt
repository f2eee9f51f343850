package com.oneclaw.chat.ui.common

import androidx.compose.foundation.text.input.TextFieldState
import androidx.compose.foundation.text.input.setTextAndPlaceCursorAtEnd
import androidx.compose.runtime.Composable
import androidx.compose.runtime.LaunchedEffect
import androidx.compose.runtime.getValue
import androidx.compose.runtime.remember
import androidx.compose.runtime.rememberUpdatedState
import androidx.compose.runtime.snapshotFlow

/**
 * A field whose text is also in the state, which hears of it a little later. What comes back from there is either an echo of
 * what was typed, and must not disturb what was typed since, or was changed from elsewhere, and is shown.
 */
internal class SyncedField(val state: TextFieldState, private var revision: Long = 0) {
    private var known = state.text.toString()
    private val echoes = Echoes<String>()

    /** The text as it is now, if it is news to the state. */
    fun typed(): String? {
        val text = state.text.toString()
        if (text == known) return null
        known = text
        echoes.sent(text)
        return text
    }

    /** The state says [text]. With a newer [revision] that is no echo, whatever it says: somebody put it there. */
    fun received(text: String, revision: Long = 0) {
        if (revision > this.revision) echoes.forget()
        this.revision = revision
        if (echoes.take(text) || text == state.text.toString()) return
        echoes.forget()
        set(text)
    }

    /** Empties the field, ahead of the state. */
    fun clear() {
        echoes.forget()
        echoes.sent("")
        set("")
    }

    private fun set(text: String) {
        known = text
        state.setTextAndPlaceCursorAtEnd(text)
    }
}

/**
 * The system does not keep the text when it puts the app aside: the state holds it, a draft may be larger than the system takes,
 * and a secret is none of its business.
 *
 * @param revision is raised where [text] was put there and not typed
 */
@Composable
internal fun rememberSyncedField(text: String, revision: Long = 0, onChange: (String) -> Unit): SyncedField {
    val state = remember { TextFieldState(text) }
    val field = remember(state) { SyncedField(state, revision) }
    val change by rememberUpdatedState(onChange)
    LaunchedEffect(field, text, revision) { field.received(text, revision) }
    LaunchedEffect(field) { snapshotFlow { state.text.toString() }.collect { field.typed()?.let { change(it) } } }
    return field
}
