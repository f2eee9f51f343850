package com.oneclaw.chat.ui.chat

import androidx.compose.runtime.Composable
import androidx.compose.runtime.Stable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.saveable.Saver
import androidx.compose.runtime.saveable.listSaver
import androidx.compose.runtime.saveable.rememberSaveable
import androidx.compose.runtime.setValue

/**
 * Which rows are unfolded, by their keys. They are kept for the list and not in each row: a row that scrolls away, or whose
 * stored form takes the place of what was received, is as it was.
 */
@Stable
internal class Folds(open: Set<String> = emptySet()) {
    private var open by mutableStateOf(open)

    fun isOpen(key: String): Boolean = key in open

    fun toggle(key: String) {
        open = if (key in open) open - key else open + key
    }

    companion object {
        val saver: Saver<Folds, Any> = listSaver(save = { it.open.toList() }, restore = { Folds(it.toSet()) })
    }
}

@Composable
internal fun rememberFolds(): Folds = rememberSaveable(saver = Folds.saver) { Folds() }
