package com.oneclaw.chat.ui.common

import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.selection.toggleable
import androidx.compose.foundation.text.KeyboardOptions
import androidx.compose.foundation.text.input.KeyboardActionHandler
import androidx.compose.foundation.text.input.TextFieldLineLimits
import androidx.compose.foundation.text.input.TextObfuscationMode
import androidx.compose.material3.ExperimentalMaterial3Api
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.OutlinedSecureTextField
import androidx.compose.material3.OutlinedTextField
import androidx.compose.material3.Switch
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.setValue
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.semantics.Role
import androidx.compose.ui.text.input.ImeAction
import androidx.compose.ui.text.input.KeyboardType
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ui.theme.ClawIcons

/** One line of text. [error] takes the place of [hint]. */
@OptIn(ExperimentalMaterial3Api::class)
@Composable
internal fun LineField(
    text: String,
    onChange: (String) -> Unit,
    label: String,
    modifier: Modifier = Modifier,
    hint: String? = null,
    error: String? = null,
    keyboard: KeyboardType = KeyboardType.Text,
    isReadOnly: Boolean = false,
    onDone: (() -> Unit)? = null,
) {
    val field = rememberSyncedField(text, onChange = onChange)
    val below = error ?: hint
    OutlinedTextField(
        state = field.state,
        modifier = modifier.fillMaxWidth(),
        readOnly = isReadOnly,
        label = { Text(label) },
        supportingText = below?.let { { Text(it) } },
        isError = error != null,
        lineLimits = TextFieldLineLimits.SingleLine,
        keyboardOptions = KeyboardOptions(keyboardType = keyboard, imeAction = if (onDone == null) ImeAction.Next else ImeAction.Done),
        onKeyboardAction = onDone?.let { done -> KeyboardActionHandler { done() } },
    )
}

/** A secret: dots, unless the eye is opened. */
@OptIn(ExperimentalMaterial3Api::class)
@Composable
internal fun SecretField(
    text: String,
    onChange: (String) -> Unit,
    label: String,
    show: String,
    hide: String,
    hint: String? = null,
    error: String? = null,
) {
    var isShown by remember { mutableStateOf(false) }
    val field = rememberSyncedField(text, onChange = onChange)
    val below = error ?: hint
    OutlinedSecureTextField(
        state = field.state,
        modifier = Modifier.fillMaxWidth(),
        label = { Text(label) },
        supportingText = below?.let { { Text(it) } },
        isError = error != null,
        textObfuscationMode = if (isShown) TextObfuscationMode.Visible else TextObfuscationMode.Hidden,
        trailingIcon = {
            IconAction(if (isShown) ClawIcons.EyeOff else ClawIcons.Eye, if (isShown) hide else show, onClick = { isShown = !isShown })
        },
    )
}

/** A line that is switched on or off as a whole. */
@Composable
internal fun SwitchRow(label: String, isOn: Boolean, onChange: (Boolean) -> Unit, modifier: Modifier = Modifier) {
    Row(
        modifier
            .fillMaxWidth()
            .heightIn(min = 48.dp)
            .toggleable(isOn, role = Role.Switch, onValueChange = onChange),
        verticalAlignment = Alignment.CenterVertically,
    ) {
        Text(label, style = MaterialTheme.typography.bodyLarge, modifier = Modifier.weight(1f).padding(end = 16.dp))
        Switch(checked = isOn, onCheckedChange = null)
    }
}
