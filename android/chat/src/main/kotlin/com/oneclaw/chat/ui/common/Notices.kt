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
        val result = host.showSnackbar(strings.of(notice), actionLabel = strings.actionOf(notice), duration = durationOf(notice))
        act(ChatAction.NoticeShown(notice.id))
        if (result == SnackbarResult.ActionPerformed) actionsOf(notice).forEach { act(it) }
    }
    return host
}

private fun Strings.actionOf(notice: Notice): String? = when (notice) {
    is Notice.SessionDeleted -> common.undo
    is Notice.WindowUnknown -> models.setWindow
    else -> null
}

/** What the button of the Snackbar does. The conversation that a notice is about need not be the open one. */
private fun actionsOf(notice: Notice): List<ChatAction> = when (notice) {
    is Notice.SessionDeleted -> listOf(ChatAction.RestoreSession(notice.sessionId))
    is Notice.WindowUnknown -> listOf(ChatAction.OpenSession(notice.sessionId), ChatAction.OpenContext)
    else -> emptyList()
}

/** What asks for a decision or a cause to be understood stays longer. */
private fun durationOf(notice: Notice): SnackbarDuration = when (notice) {
    is Notice.SessionDeleted, is Notice.WindowUnknown, is Notice.PicturesLeftOut, is Notice.Failed -> SnackbarDuration.Long
    else -> SnackbarDuration.Short
}
