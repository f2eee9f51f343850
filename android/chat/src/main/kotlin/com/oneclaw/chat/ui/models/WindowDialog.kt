package com.oneclaw.chat.ui.models

import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.text.KeyboardOptions
import androidx.compose.foundation.text.input.TextFieldLineLimits
import androidx.compose.material3.ExperimentalMaterial3Api
import androidx.compose.material3.FilledTonalButton
import androidx.compose.material3.OutlinedTextField
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.text.input.ImeAction
import androidx.compose.ui.text.input.KeyboardType
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Strings
import com.oneclaw.chat.WindowForm
import com.oneclaw.chat.ui.common.FormDialog
import com.oneclaw.chat.ui.common.LineField
import com.oneclaw.chat.ui.common.rememberSyncedField
import com.oneclaw.core.ModelRef

/** The window of a model, called [name], as a person says it. */
@Composable
internal fun WindowDialog(form: WindowForm, name: String, strings: Strings, onAction: (ChatAction) -> Unit) {
    FormDialog(
        title = name,
        confirm = strings.common.save,
        cancel = strings.common.cancel,
        onConfirm = { onAction(ChatAction.SaveWindow) },
        onCancel = { onAction(ChatAction.CloseWindow) },
        canConfirm = !form.isSaving,
    ) {
        LineField(
            form.text,
            onChange = { onAction(ChatAction.EditWindow(form.model, it)) },
            label = strings.settings.window,
            hint = strings.models.windowHint,
            error = strings.errorOf(form),
            keyboard = KeyboardType.Number,
            onDone = { onAction(ChatAction.SaveWindow) },
        )
    }
}

/** The same as a field and a button, where the window is unknown. [form] is null until something was typed. */
@OptIn(ExperimentalMaterial3Api::class)
@Composable
internal fun WindowField(model: ModelRef, form: WindowForm?, strings: Strings, onAction: (ChatAction) -> Unit) {
    val field = rememberSyncedField(form?.text.orEmpty()) { onAction(ChatAction.EditWindow(model, it)) }
    val error = form?.let(strings::errorOf)
    Column(verticalArrangement = Arrangement.spacedBy(8.dp), horizontalAlignment = Alignment.End) {
        OutlinedTextField(
            state = field.state,
            modifier = Modifier.fillMaxWidth(),
            label = { Text(strings.settings.window) },
            supportingText = error?.let { { Text(it) } },
            isError = error != null,
            lineLimits = TextFieldLineLimits.SingleLine,
            keyboardOptions = KeyboardOptions(keyboardType = KeyboardType.Number, imeAction = ImeAction.Done),
        )
        FilledTonalButton(
            onClick = {
                // The state may not have heard of the last letter yet.
                onAction(ChatAction.EditWindow(model, field.typed() ?: field.state.text.toString()))
                onAction(ChatAction.SaveWindow)
            },
            enabled = form?.isSaving != true,
        ) { Text(strings.models.setWindow) }
    }
}

private fun Strings.errorOf(form: WindowForm): String? = form.error?.takeIf { form.showsErrors }?.let(::of)
