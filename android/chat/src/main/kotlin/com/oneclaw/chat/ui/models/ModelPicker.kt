package com.oneclaw.chat.ui.models

import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.PaddingValues
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.lazy.LazyColumn
import androidx.compose.foundation.lazy.items
import androidx.compose.foundation.selection.selectable
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.filled.Check
import androidx.compose.material.icons.filled.MoreVert
import androidx.compose.material3.DropdownMenu
import androidx.compose.material3.DropdownMenuItem
import androidx.compose.material3.Icon
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.SnackbarHostState
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.setValue
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.semantics.Role
import androidx.compose.ui.semantics.heading
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ModelGroup
import com.oneclaw.chat.ModelPickerState
import com.oneclaw.chat.ModelWarning
import com.oneclaw.chat.OffWarning
import com.oneclaw.chat.Strings
import com.oneclaw.chat.WindowWarning
import com.oneclaw.chat.facts
import com.oneclaw.chat.fill
import com.oneclaw.chat.formatTokens
import com.oneclaw.chat.ref
import com.oneclaw.chat.ui.common.ConfirmDialog
import com.oneclaw.chat.ui.common.IconAction
import com.oneclaw.chat.ui.common.SectionTitle
import com.oneclaw.chat.ui.common.Sheet
import com.oneclaw.core.Model

/** The choice of the model that answers next. */
@Composable
fun ModelPickerSheet(
    state: ModelPickerState,
    strings: Strings,
    onAction: (ChatAction) -> Unit,
    snackbar: SnackbarHostState? = null,
) {
    Sheet(onDismiss = { onAction(ChatAction.ClosePicker) }, snackbar) { ModelPickerContent(state, strings, onAction) }
    state.warning?.let { WarningDialog(it, strings, onAction) }
}

@Composable
private fun ModelPickerContent(state: ModelPickerState, strings: Strings, onAction: (ChatAction) -> Unit) {
    Text(
        strings.models.title,
        Modifier.padding(horizontal = 24.dp).semantics { heading() },
        style = MaterialTheme.typography.titleLarge,
    )
    if (state.groups.isEmpty()) {
        Text(strings.models.empty, Modifier.padding(24.dp), style = MaterialTheme.typography.bodyLarge)
    }
    LazyColumn(contentPadding = PaddingValues(start = 12.dp, end = 12.dp, top = 8.dp, bottom = 24.dp)) {
        state.groups.forEach { group ->
            item(group.provider.id) { GroupTitle(group, strings) }
            items(group.models, key = { "${it.providerId}/${it.id}" }) { model ->
                ModelRow(model, isSelected = model.ref == state.selected, strings, onAction)
            }
        }
    }
}

@Composable
private fun GroupTitle(group: ModelGroup, strings: Strings) {
    Row(
        Modifier.fillMaxWidth().padding(start = 12.dp, end = 12.dp, top = 16.dp, bottom = 4.dp),
        horizontalArrangement = Arrangement.spacedBy(8.dp),
        verticalAlignment = Alignment.CenterVertically,
    ) {
        SectionTitle(group.provider.name, Modifier.weight(1f, fill = false))
        if (group.lacksKey) {
            Surface(
                shape = MaterialTheme.shapes.extraSmall,
                color = MaterialTheme.colorScheme.tertiaryContainer,
                contentColor = MaterialTheme.colorScheme.onTertiaryContainer,
            ) {
                Text(
                    strings.models.noKey,
                    Modifier.padding(horizontal = 6.dp, vertical = 2.dp),
                    style = MaterialTheme.typography.labelSmall,
                )
            }
        }
    }
}

@Composable
private fun ModelRow(model: Model, isSelected: Boolean, strings: Strings, onAction: (ChatAction) -> Unit) {
    Surface(
        shape = MaterialTheme.shapes.medium,
        color = if (isSelected) MaterialTheme.colorScheme.secondaryContainer else Color.Transparent,
    ) {
        Row(
            Modifier
                .fillMaxWidth()
                .selectable(isSelected, role = Role.RadioButton) { onAction(ChatAction.PickModel(model)) }
                .heightIn(min = 56.dp)
                .padding(start = 12.dp, top = 8.dp, bottom = 8.dp),
            verticalAlignment = Alignment.CenterVertically,
        ) {
            Column(Modifier.weight(1f)) {
                ModelName(model.displayName, model.isSwitchedOff)
                // A model that is switched off is no default, whatever the file says.
                ModelDetails(model.facts, strings, listOfNotNull(strings.models.default.takeIf { model.isDefault && !model.isSwitchedOff }))
            }
            if (isSelected) Icon(Icons.Filled.Check, contentDescription = strings.models.selected)
            ModelMenu(model, strings, onAction)
        }
    }
}

@Composable
private fun ModelMenu(model: Model, strings: Strings, onAction: (ChatAction) -> Unit) {
    var isOpen by remember { mutableStateOf(false) }
    val choose = { action: ChatAction ->
        isOpen = false
        onAction(action)
    }
    Box {
        IconAction(Icons.Filled.MoreVert, strings.common.more, onClick = { isOpen = true })
        DropdownMenu(isOpen, onDismissRequest = { isOpen = false }) {
            DropdownMenuItem(text = { Text(strings.models.setWindow) }, onClick = { choose(ChatAction.StartWindow(model.ref)) })
            if (!model.isDefault && !model.isSwitchedOff) {
                DropdownMenuItem(
                    text = { Text(strings.settings.makeDefault) },
                    onClick = { choose(ChatAction.SetDefaultModel(model.ref)) },
                )
            }
        }
    }
}

/** The conversation does not fit the window of the model that was picked, or the model is switched off. */
@Composable
private fun WarningDialog(warning: ModelWarning, strings: Strings, onAction: (ChatAction) -> Unit) {
    val (title, text) = when (warning) {
        is WindowWarning -> strings.models.warningTitle to strings.models.warningText.fill(
            formatTokens(warning.conversation),
            warning.model.displayName,
            formatTokens(warning.window),
        )
        is OffWarning ->
            strings.models.offTitle to strings.models.offText.fill(warning.model.displayName, warning.model.ends.orEmpty())
    }
    ConfirmDialog(
        title = title,
        text = text,
        confirm = strings.models.switchAnyway,
        cancel = strings.common.cancel,
        onConfirm = { onAction(ChatAction.ConfirmModel) },
        onCancel = { onAction(ChatAction.DeclineModel) },
    )
}
