package com.oneclaw.chat.ui.settings

import androidx.compose.foundation.clickable
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.selection.selectable
import androidx.compose.foundation.selection.selectableGroup
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.filled.ArrowDropDown
import androidx.compose.material3.DropdownMenu
import androidx.compose.material3.DropdownMenuItem
import androidx.compose.material3.Icon
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.RadioButton
import androidx.compose.material3.Slider
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.setValue
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.semantics.Role
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.input.KeyboardType
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.Catalogue
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.PolicyForm
import com.oneclaw.chat.Strings
import com.oneclaw.chat.ref
import com.oneclaw.chat.ui.common.LineField
import com.oneclaw.chat.ui.common.SwitchRow
import com.oneclaw.core.ModelRef
import com.oneclaw.core.Preset
import kotlin.math.roundToInt

private val THRESHOLDS = 10f..95f
private const val USUAL_THRESHOLD = 85f

/** The rules of compaction. */
@Composable
internal fun PolicySection(form: PolicyForm, catalogue: Catalogue, strings: Strings, onAction: (ChatAction) -> Unit) {
    val edit = rememberFormEdits(form) { onAction(ChatAction.EditPolicy(it)) }
    SwitchRow(strings.settings.auto, form.auto, { auto -> edit { it.copy(auto = auto) } })
    SwitchRow(strings.settings.prune, form.prune, { prune -> edit { it.copy(prune = prune) } })
    Column(Modifier.selectableGroup()) {
        Text(strings.settings.preset, style = MaterialTheme.typography.labelLarge, color = MaterialTheme.colorScheme.onSurfaceVariant)
        Preset.entries.forEach { preset ->
            PresetRow(strings.of(preset), preset == form.preset) { edit { it.copy(preset = preset) } }
        }
    }
    if (form.hasThreshold) Threshold(form, strings) { threshold -> edit { it.copy(threshold = threshold) } }
    SummaryModel(form.summaryModel, catalogue, strings) { model -> edit { it.copy(summaryModel = model) } }
}

@Composable
private fun PresetRow(label: String, isSelected: Boolean, onClick: () -> Unit) {
    Row(
        Modifier
            .fillMaxWidth()
            .selectable(isSelected, role = Role.RadioButton, onClick = onClick)
            .heightIn(min = 48.dp)
            .padding(vertical = 4.dp),
        verticalAlignment = Alignment.CenterVertically,
    ) {
        RadioButton(isSelected, onClick = null, Modifier.padding(end = 12.dp))
        Text(label, style = MaterialTheme.typography.bodyLarge)
    }
}

/** The same number to type and to slide. */
@Composable
private fun Threshold(form: PolicyForm, strings: Strings, onChange: (String) -> Unit) {
    Column {
        LineField(
            form.threshold,
            onChange,
            strings.settings.threshold,
            hint = strings.settings.thresholdHint,
            error = form.thresholdError?.let(strings::of),
            keyboard = KeyboardType.Number,
        )
        Slider(
            value = (form.threshold.toFloatOrNull() ?: USUAL_THRESHOLD).coerceIn(THRESHOLDS),
            onValueChange = { onChange(it.roundToInt().toString()) },
            modifier = Modifier.semantics { contentDescription = strings.settings.threshold },
            valueRange = THRESHOLDS,
        )
    }
}

@Composable
private fun SummaryModel(chosen: ModelRef?, catalogue: Catalogue, strings: Strings, onChange: (ModelRef?) -> Unit) {
    var isOpen by remember { mutableStateOf(false) }
    val name = catalogue.model(chosen)?.displayName ?: chosen?.modelId ?: strings.settings.summaryModelSame
    Box {
        Row(
            Modifier.fillMaxWidth().clickable(role = Role.DropdownList) { isOpen = true }.heightIn(min = 48.dp),
            verticalAlignment = Alignment.CenterVertically,
        ) {
            Column(Modifier.weight(1f).padding(vertical = 6.dp)) {
                Text(strings.settings.summaryModel, style = MaterialTheme.typography.bodyLarge)
                Text(name, style = MaterialTheme.typography.bodyMedium, color = MaterialTheme.colorScheme.onSurfaceVariant)
            }
            Icon(Icons.Filled.ArrowDropDown, contentDescription = null)
        }
        DropdownMenu(isOpen, onDismissRequest = { isOpen = false }) {
            val inUse = catalogue.models.filterNot { it.isSwitchedOff }
            val choices = listOf(null to strings.settings.summaryModelSame) + inUse.map { it.ref to it.displayName }
            choices.forEach { (model, label) ->
                DropdownMenuItem(
                    text = { Text(label) },
                    onClick = {
                        isOpen = false
                        onChange(model)
                    },
                )
            }
        }
    }
}
