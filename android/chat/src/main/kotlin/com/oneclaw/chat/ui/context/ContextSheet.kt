package com.oneclaw.chat.ui.context

import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.rememberScrollState
import androidx.compose.foundation.text.selection.SelectionContainer
import androidx.compose.foundation.verticalScroll
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.filled.Close
import androidx.compose.material3.Button
import androidx.compose.material3.ButtonDefaults
import androidx.compose.material3.ExperimentalMaterial3Api
import androidx.compose.material3.HorizontalDivider
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.OutlinedTextField
import androidx.compose.material3.SnackbarHostState
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.material3.TextButton
import androidx.compose.runtime.Composable
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.semantics.heading
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.style.TextOverflow
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ContextSheetState
import com.oneclaw.chat.Strings
import com.oneclaw.chat.WindowForm
import com.oneclaw.chat.ui.common.ConfirmDialog
import com.oneclaw.chat.ui.common.IconAction
import com.oneclaw.chat.ui.common.Loading
import com.oneclaw.chat.ui.common.SectionTitle
import com.oneclaw.chat.ui.common.Sheet
import com.oneclaw.chat.ui.common.rememberSyncedField
import com.oneclaw.chat.ui.markdown.Markdown
import com.oneclaw.chat.ui.models.WindowField
import com.oneclaw.core.ContextStatus
import com.oneclaw.core.Message
import com.oneclaw.core.MessageKind
import com.oneclaw.core.ModelRef

/**
 * How full the window is, what was summarised, and what can be done about it.
 *
 * @param model the model that answers next; its window can be set where it is unknown
 * @param window what was typed for that
 * @param isQuiet whether nothing is being received or changed: only then can it be changed
 */
@Composable
fun ContextSheet(
    state: ContextSheetState,
    model: ModelRef?,
    window: WindowForm?,
    isQuiet: Boolean,
    strings: Strings,
    onAction: (ChatAction) -> Unit,
    snackbar: SnackbarHostState? = null,
) {
    Sheet(onDismiss = { onAction(ChatAction.CloseContext) }, snackbar) {
        Column(
            Modifier.verticalScroll(rememberScrollState()).padding(start = 24.dp, end = 24.dp, bottom = 32.dp),
            verticalArrangement = Arrangement.spacedBy(16.dp),
        ) {
            Text(strings.context.title, Modifier.semantics { heading() }, style = MaterialTheme.typography.titleLarge)
            ContextContent(state, isQuiet, strings, onAction) {
                if (model != null) WindowField(model, window?.takeIf { it.model == model }, strings, onAction)
            }
        }
    }
    if (state.confirmsReset) {
        ConfirmDialog(
            title = strings.context.resetQuestion,
            text = strings.context.resetHint,
            confirm = strings.context.reset,
            cancel = strings.common.cancel,
            onConfirm = { onAction(ChatAction.ConfirmReset) },
            onCancel = { onAction(ChatAction.CancelReset) },
            isDangerous = true,
        )
    }
}

@Composable
private fun ContextContent(
    state: ContextSheetState,
    isQuiet: Boolean,
    strings: Strings,
    onAction: (ChatAction) -> Unit,
    windowField: @Composable () -> Unit,
) {
    val status = state.status
    if (state.isLoading) Loading(strings.common.loading)
    state.problem?.let { Text(strings.of(it), color = MaterialTheme.colorScheme.error) }
    if (status == null) return
    state.meter?.let { ContextMeter(it, strings) }
    if (status.window == null) {
        Text(strings.context.windowUnknown, style = MaterialTheme.typography.bodyMedium)
        windowField()
    }
    CompactNow(state.focus, isQuiet, strings, onAction)
    HorizontalDivider()
    Summary(status.summary, strings, onAction)
    if (status.epochs.isNotEmpty()) {
        SectionTitle(strings.context.epochs)
        Epochs(state, status.epochs, isQuiet, strings, onAction)
    }
    HorizontalDivider()
    Pins(status, strings, onAction)
    if (status.epochs.isNotEmpty()) {
        HorizontalDivider()
        TextButton(
            onClick = { onAction(ChatAction.StartReset) },
            enabled = isQuiet,
            colors = ButtonDefaults.textButtonColors(contentColor = MaterialTheme.colorScheme.error),
        ) { Text(strings.context.reset) }
    }
}

@OptIn(ExperimentalMaterial3Api::class)
@Composable
private fun CompactNow(focus: String, isQuiet: Boolean, strings: Strings, onAction: (ChatAction) -> Unit) {
    val field = rememberSyncedField(focus) { onAction(ChatAction.EditFocus(it)) }
    Column(verticalArrangement = Arrangement.spacedBy(8.dp), horizontalAlignment = Alignment.End) {
        OutlinedTextField(state = field.state, modifier = Modifier.fillMaxWidth(), label = { Text(strings.context.focus) })
        Button(
            onClick = {
                field.typed()?.let { onAction(ChatAction.EditFocus(it)) }
                onAction(ChatAction.CompactNow)
            },
            enabled = isQuiet,
        ) { Text(strings.context.compactNow) }
    }
}

@Composable
private fun Summary(summary: String?, strings: Strings, onAction: (ChatAction) -> Unit) {
    SectionTitle(strings.context.summary)
    if (summary == null) {
        Text(
            strings.context.noSummary,
            style = MaterialTheme.typography.bodyMedium,
            color = MaterialTheme.colorScheme.onSurfaceVariant,
        )
    } else {
        Surface(shape = MaterialTheme.shapes.medium, color = MaterialTheme.colorScheme.surfaceContainerHigh) {
            SelectionContainer { Markdown(summary, strings, onAction, Modifier.fillMaxWidth().padding(14.dp)) }
        }
    }
}

@Composable
private fun Pins(status: ContextStatus, strings: Strings, onAction: (ChatAction) -> Unit) {
    SectionTitle(strings.context.pins)
    if (status.pins.isEmpty()) {
        Text(
            strings.context.noPins,
            style = MaterialTheme.typography.bodyMedium,
            color = MaterialTheme.colorScheme.onSurfaceVariant,
        )
    }
    status.pins.forEach { pin ->
        Row(verticalAlignment = Alignment.CenterVertically) {
            Text(
                pin.words,
                Modifier.weight(1f),
                style = MaterialTheme.typography.bodyMedium,
                maxLines = 2,
                overflow = TextOverflow.Ellipsis,
            )
            IconAction(Icons.Filled.Close, strings.chat.unpin, onClick = { onAction(ChatAction.Unpin(pin.id)) })
        }
    }
}

private val Message.words: String
    get() = when (val kind = kind) {
        is MessageKind.User -> kind.text
        is MessageKind.Reply -> kind.text
        is MessageKind.ToolCall -> kind.name
        is MessageKind.ToolResult -> kind.output
        is MessageKind.Error -> kind.text
        is MessageKind.System -> kind.text
    }
