package com.oneclaw.chat.ui.common

import androidx.compose.material3.SnackbarDuration
import androidx.compose.material3.SnackbarHostState
import androidx.compose.material3.SnackbarResult
import androidx.compose.runtime.Composable
import androidx.compose.runtime.LaunchedEffect
import androidx.compose.runtime.getValue
import androidx.compose.runtime.remember
import androidx.compose.runtime.rememberUpdatedState
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Notice
import com.oneclaw.chat.Strings

/**
 * Tells [notice] in a Snackbar and reports it as shown when it is gone. One that was interrupted, as by a rotation, is told
 * again: it is still in the state.
 */
@Composable
internal fun rememberNotices(notice: Notice?, strings: Strings, onAction: (ChatAction) -> Unit): SnackbarHostState {
    val host = remember { SnackbarHostState() }
    val act by rememberUpdatedState(onAction)
    LaunchedEffect(notice?.id) {
        if (notice == null) return@LaunchedEffect
        val undo = strings.common.undo.takeIf { notice is Notice.SessionDeleted }
        val result = host.showSnackbar(strings.of(notice), actionLabel = undo, duration = durationOf(notice))
        act(ChatAction.NoticeShown(notice.id))
        if (result == SnackbarResult.ActionPerformed && notice is Notice.SessionDeleted) {
            act(ChatAction.RestoreSession(notice.sessionId))
        }
    }
    return host
}

/** What asks for a decision or a cause to be understood stays longer. */
private fun durationOf(notice: Notice): SnackbarDuration =
    if (notice is Notice.SessionDeleted || notice is Notice.Failed) SnackbarDuration.Long else SnackbarDuration.Short
