package com.oneclaw.chat.ui.chat

import androidx.compose.foundation.horizontalScroll
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.foundation.layout.widthIn
import androidx.compose.foundation.rememberScrollState
import androidx.compose.foundation.text.BasicTextField
import androidx.compose.foundation.text.KeyboardOptions
import androidx.compose.foundation.text.input.TextFieldLineLimits
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.filled.Close
import androidx.compose.material.icons.filled.Edit
import androidx.compose.material3.FilledIconButton
import androidx.compose.material3.Icon
import androidx.compose.material3.IconButtonDefaults
import androidx.compose.material3.LocalContentColor
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.LaunchedEffect
import androidx.compose.runtime.getValue
import androidx.compose.runtime.remember
import androidx.compose.runtime.rememberUpdatedState
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.focus.FocusDirection
import androidx.compose.ui.focus.FocusManager
import androidx.compose.ui.focus.FocusRequester
import androidx.compose.ui.focus.focusRequester
import androidx.compose.ui.graphics.SolidColor
import androidx.compose.ui.graphics.vector.ImageVector
import androidx.compose.ui.input.key.Key
import androidx.compose.ui.input.key.KeyEvent
import androidx.compose.ui.input.key.KeyEventType
import androidx.compose.ui.input.key.isShiftPressed
import androidx.compose.ui.input.key.key
import androidx.compose.ui.input.key.onPreviewKeyEvent
import androidx.compose.ui.input.key.type
import androidx.compose.ui.platform.LocalFocusManager
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.input.KeyboardCapitalization
import androidx.compose.ui.text.style.TextDirection
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ChatUiState
import com.oneclaw.chat.Draft
import com.oneclaw.chat.Strings
import com.oneclaw.chat.fill
import com.oneclaw.chat.ui.LocalPlatform
import com.oneclaw.chat.ui.common.IconAction
import com.oneclaw.chat.ui.common.SyncedField
import com.oneclaw.chat.ui.common.rememberSyncedField
import com.oneclaw.chat.ui.theme.ClawIcons

private val MAX_WIDTH = 784.dp
private val MAX_FIELD = 180.dp
private val THUMBNAIL = 72.dp

/**
 * Where the next message is written.
 *
 * @param wantsFocus whether the keyboard is to go here; [onFocused] reports that it does
 */
@Composable
internal fun Composer(
    state: ChatUiState,
    strings: Strings,
    onAction: (ChatAction) -> Unit,
    modifier: Modifier = Modifier,
    wantsFocus: Boolean = false,
    onFocused: () -> Unit = {},
) {
    val field = rememberSyncedField(state.draft.text, state.draft.revision) { onAction(ChatAction.EditDraft(it)) }
    val focus = remember { FocusRequester() }
    LaunchedEffect(wantsFocus) {
        if (wantsFocus) {
            focus.requestFocus()
            onFocused()
        }
    }
    val current by rememberUpdatedState(state)
    val send = {
        // What was typed last may not have reached the state yet.
        field.typed()?.let { onAction(ChatAction.EditDraft(it)) }
        val draft = current.draft.copy(text = field.state.text.toString())
        if (current.copy(draft = draft).canSend) {
            field.clear()
            onAction(ChatAction.Send)
        }
    }
    Column(modifier.fillMaxWidth(), horizontalAlignment = Alignment.CenterHorizontally) {
        Column(
            Modifier.widthIn(max = MAX_WIDTH).fillMaxWidth().padding(horizontal = 12.dp, vertical = 8.dp),
            verticalArrangement = Arrangement.spacedBy(8.dp),
        ) {
            if (state.draft.editing != null) EditingBanner(strings, onCancel = { onAction(ChatAction.CancelEdit) })
            Thumbnails(state.draft, strings, onAction)
            InputRow(state, field, focus, strings, send, onAction)
        }
    }
}

@Composable
private fun InputRow(
    state: ChatUiState,
    field: SyncedField,
    focus: FocusRequester,
    strings: Strings,
    onSend: () -> Unit,
    onAction: (ChatAction) -> Unit,
) {
    val pick = LocalPlatform.current.pickPicture
    Surface(shape = MaterialTheme.shapes.extraLarge, color = MaterialTheme.colorScheme.surfaceContainerHigh) {
        Row(Modifier.padding(4.dp), horizontalArrangement = Arrangement.spacedBy(4.dp), verticalAlignment = Alignment.Bottom) {
            if (pick != null) IconAction(ClawIcons.Picture, strings.chat.attach, onClick = pick)
            val start = if (pick == null) 14.dp else 0.dp
            DraftField(field, strings, onSend, Modifier.weight(1f).padding(start = start).focusRequester(focus))
            val isBusy = state.canStop || state.isStopping
            if (isBusy) {
                RoundButton(
                    ClawIcons.Stop,
                    if (state.isStopping) strings.chat.stopping else strings.chat.stop,
                    onClick = { onAction(ChatAction.Stop) },
                    isEnabled = state.canStop,
                    isQuiet = true,
                )
            }
            if (!isBusy || state.canSend) RoundButton(ClawIcons.Up, strings.chat.send, onSend, isEnabled = state.canSend)
        }
    }
}

@Composable
private fun RoundButton(icon: ImageVector, label: String, onClick: () -> Unit, isEnabled: Boolean, isQuiet: Boolean = false) {
    val colors = if (isQuiet) IconButtonDefaults.filledTonalIconButtonColors() else IconButtonDefaults.filledIconButtonColors()
    FilledIconButton(onClick, Modifier.size(48.dp), enabled = isEnabled, colors = colors) { Icon(icon, contentDescription = label) }
}

@Composable
private fun DraftField(field: SyncedField, strings: Strings, onSend: () -> Unit, modifier: Modifier) {
    val send by rememberUpdatedState(onSend)
    val focus = LocalFocusManager.current
    val style = MaterialTheme.typography.bodyLarge.copy(color = LocalContentColor.current, textDirection = TextDirection.Content)
    BasicTextField(
        state = field.state,
        modifier = modifier
            .heightIn(min = 48.dp, max = MAX_FIELD)
            .onPreviewKeyEvent { onKey(it, field, focus) { send() } }
            .semantics { contentDescription = strings.chat.input },
        textStyle = style,
        cursorBrush = SolidColor(MaterialTheme.colorScheme.primary),
        lineLimits = TextFieldLineLimits.MultiLine(),
        keyboardOptions = KeyboardOptions(capitalization = KeyboardCapitalization.Sentences),
        decorator = { inner ->
            Box(Modifier.padding(vertical = 12.dp), contentAlignment = Alignment.CenterStart) {
                if (field.state.text.isEmpty()) {
                    Text(strings.chat.input, style = style, color = MaterialTheme.colorScheme.onSurfaceVariant)
                }
                inner()
            }
        },
    )
}

/**
 * Enter sends, with Shift it begins a line. Tab leads on and with Shift back: who has no mouse must get out of the field. While a
 * word is being composed, as in Chinese, both belong to that.
 */
private fun onKey(event: KeyEvent, field: SyncedField, focus: FocusManager, onSend: () -> Unit): Boolean {
    if (field.state.composition != null) return false
    val act: () -> Unit = when (event.key) {
        Key.Enter, Key.NumPadEnter -> if (event.isShiftPressed) field::newLine else onSend
        Key.Tab -> ({ focus.moveFocus(if (event.isShiftPressed) FocusDirection.Previous else FocusDirection.Next) })
        else -> return false
    }
    if (event.type == KeyEventType.KeyDown) act()
    return true
}

private fun SyncedField.newLine() = state.edit {
    replace(selection.min, selection.max, "\n")
}

@Composable
private fun EditingBanner(strings: Strings, onCancel: () -> Unit) {
    Surface(
        shape = MaterialTheme.shapes.medium,
        color = MaterialTheme.colorScheme.secondaryContainer,
        contentColor = MaterialTheme.colorScheme.onSecondaryContainer,
    ) {
        Row(Modifier.padding(start = 14.dp), verticalAlignment = Alignment.CenterVertically) {
            Icon(Icons.Filled.Edit, contentDescription = null, Modifier.size(18.dp))
            Column(Modifier.weight(1f).padding(horizontal = 12.dp, vertical = 8.dp)) {
                Text(strings.chat.editing, style = MaterialTheme.typography.labelLarge)
                Text(strings.chat.editHint, style = MaterialTheme.typography.bodySmall)
            }
            IconAction(Icons.Filled.Close, strings.common.cancel, onCancel)
        }
    }
}

@Composable
private fun Thumbnails(draft: Draft, strings: Strings, onAction: (ChatAction) -> Unit) {
    if (draft.attachments.isEmpty()) return
    Row(Modifier.horizontalScroll(rememberScrollState()), horizontalArrangement = Arrangement.spacedBy(8.dp)) {
        draft.attachments.forEachIndexed { index, attachment ->
            Box {
                Picture(attachment, strings, THUMBNAIL, Modifier.padding(top = 8.dp, end = 8.dp))
                RemoveButton(strings.common.removeText.fill(attachment.name), Modifier.align(Alignment.TopEnd)) {
                    onAction(ChatAction.RemoveAttachment(index))
                }
            }
        }
    }
}

@Composable
private fun RemoveButton(label: String, modifier: Modifier, onClick: () -> Unit) {
    Surface(
        onClick = onClick,
        modifier = modifier.semantics { contentDescription = label },
        shape = MaterialTheme.shapes.extraLarge,
        color = MaterialTheme.colorScheme.inverseSurface,
        contentColor = MaterialTheme.colorScheme.inverseOnSurface,
    ) { Icon(Icons.Filled.Close, contentDescription = null, Modifier.padding(4.dp).size(16.dp)) }
}
