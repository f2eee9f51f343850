package com.oneclaw.chat.ui.settings

import androidx.compose.runtime.Composable
import androidx.compose.runtime.SideEffect
import androidx.compose.runtime.getValue
import androidx.compose.runtime.remember
import androidx.compose.runtime.rememberUpdatedState
import com.oneclaw.chat.ui.common.Echoes

/**
 * The newest form: what the screen shows, with what was changed since it was drawn. A change to one field starts from here, as
 * the form on the screen may lack the change to another field made a moment before.
 */
internal class FormEdits<T>(private var shown: T) {
    private var newest = shown
    private val echoes = Echoes<T>()

    /** The screen shows [form]. */
    fun received(form: T) {
        if (form == shown) return
        shown = form
        if (echoes.take(form)) return
        echoes.forget()
        newest = form
    }

    /** The form after a change; null: it changes nothing. */
    fun change(change: (T) -> T): T? {
        val changed = change(newest)
        if (changed == newest) return null
        newest = changed
        echoes.sent(changed)
        return changed
    }
}

/** Takes changes to [form], and tells [onChange] what it has become. */
@Composable
internal fun <T> rememberFormEdits(form: T, onChange: (T) -> Unit): ((T) -> T) -> Unit {
    val edits = remember { FormEdits(form) }
    val tell by rememberUpdatedState(onChange)
    SideEffect { edits.received(form) }
    return remember(edits) { { change -> edits.change(change)?.let { tell(it) } } }
}
