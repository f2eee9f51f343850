package com.oneclaw.chat.ui.sessions

import androidx.compose.runtime.Composable
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Renaming
import com.oneclaw.chat.SessionListState
import com.oneclaw.chat.Strings
import com.oneclaw.chat.fill
import com.oneclaw.chat.ui.common.ConfirmDialog
import com.oneclaw.chat.ui.common.FormDialog
import com.oneclaw.chat.ui.common.LineField

@Composable
internal fun SessionDialogs(state: SessionListState, strings: Strings, onAction: (ChatAction) -> Unit) {
    state.renaming?.let { RenameDialog(it, strings, onAction) }
    state.purging?.let { session ->
        ConfirmDialog(
            title = strings.sessions.purgeQuestion,
            text = strings.sessions.purgeText.fill(strings.titleOf(session.title)),
            confirm = strings.common.delete,
            cancel = strings.common.cancel,
            onConfirm = { onAction(ChatAction.ConfirmPurge) },
            onCancel = { onAction(ChatAction.CancelPurge) },
            isDangerous = true,
        )
    }
}

@Composable
private fun RenameDialog(renaming: Renaming, strings: Strings, onAction: (ChatAction) -> Unit) {
    FormDialog(
        title = strings.sessions.renameTitle,
        confirm = strings.common.save,
        cancel = strings.common.cancel,
        onConfirm = { onAction(ChatAction.SaveRename) },
        onCancel = { onAction(ChatAction.CancelRename) },
        canConfirm = renaming.isValid,
    ) {
        LineField(
            renaming.title,
            onChange = { onAction(ChatAction.RenameTo(it)) },
            label = strings.sessions.name,
            error = strings.settings.required.takeUnless { renaming.isValid },
            onDone = { if (renaming.isValid) onAction(ChatAction.SaveRename) },
        )
    }
}
