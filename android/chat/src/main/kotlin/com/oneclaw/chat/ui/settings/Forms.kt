package com.oneclaw.chat.ui.settings

import androidx.compose.foundation.clickable
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.padding
import androidx.compose.material3.ButtonDefaults
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.SegmentedButton
import androidx.compose.material3.SegmentedButtonDefaults
import androidx.compose.material3.SingleChoiceSegmentedButtonRow
import androidx.compose.material3.SnackbarHostState
import androidx.compose.material3.Text
import androidx.compose.material3.TextButton
import androidx.compose.runtime.Composable
import androidx.compose.ui.Modifier
import androidx.compose.ui.text.input.KeyboardType
import androidx.compose.ui.text.style.TextOverflow
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.FieldError
import com.oneclaw.chat.ModelForm
import com.oneclaw.chat.ModelOffer
import com.oneclaw.chat.ProviderForm
import com.oneclaw.chat.Removal
import com.oneclaw.chat.Strings
import com.oneclaw.chat.facts
import com.oneclaw.chat.fill
import com.oneclaw.chat.ui.common.ConfirmDialog
import com.oneclaw.chat.ui.common.FormDialog
import com.oneclaw.chat.ui.common.LineField
import com.oneclaw.chat.ui.common.Loading
import com.oneclaw.chat.ui.common.SecretField
import com.oneclaw.chat.ui.common.SwitchRow
import com.oneclaw.chat.ui.models.ModelDetails
import com.oneclaw.chat.ui.models.ModelName
import com.oneclaw.core.ListedModel
import com.oneclaw.core.ModelRef
import com.oneclaw.core.ProviderKind

/** So many offered models are shown; the filter finds the others. */
private const val MOST_OFFERED = 100

/** A service: its name, address and key. What is wrong is said from the first attempt to save. */
@Composable
internal fun ProviderDialog(form: ProviderForm, strings: Strings, snackbar: SnackbarHostState?, onAction: (ChatAction) -> Unit) {
    val edit = rememberFormEdits(form) { onAction(ChatAction.ChangeProvider(it)) }
    val words = { error: FieldError? -> error?.takeIf { form.showsErrors }?.let(strings::of) }
    FormDialog(
        title = if (form.id == null) strings.settings.addProvider else strings.settings.editProvider,
        confirm = strings.common.save,
        cancel = strings.common.cancel,
        onConfirm = { onAction(ChatAction.SaveProvider) },
        onCancel = { onAction(ChatAction.CloseProvider) },
        canConfirm = !form.isSaving,
        snackbar = snackbar,
    ) {
        LineField(form.name, { name -> edit { it.copy(name = name) } }, strings.settings.name, error = words(form.nameError))
        KindChoice(form.kind, strings) { kind -> edit { it.copy(kind = kind) } }
        LineField(
            form.baseUrl,
            { url -> edit { it.copy(baseUrl = url) } },
            strings.settings.baseUrl,
            error = words(form.baseUrlError),
            keyboard = KeyboardType.Uri,
        )
        SecretField(
            form.key,
            { key -> edit { it.copy(key = key) } },
            strings.settings.key,
            strings.settings.showKey,
            strings.settings.hideKey,
            hint = strings.settings.run { if (form.isKeyForeign) keyElsewhere else keyHint }.takeIf { form.keepsKey },
            error = words(form.keyError),
        )
        SwitchRow(strings.settings.active, form.isActive, { isActive -> edit { it.copy(isActive = isActive) } })
        form.id?.let { id ->
            val remove = { removal: Removal -> onAction(ChatAction.StartRemoval(removal)) }
            if (form.hasKey && !form.isKeyForeign) DangerButton(strings.settings.removeKey) { remove(Removal.OfKey(id, form.name)) }
            if (!form.isPreset) DangerButton(strings.settings.removeProvider) { remove(Removal.OfProvider(id, form.name)) }
        }
    }
}

@Composable
private fun KindChoice(chosen: ProviderKind, strings: Strings, onChange: (ProviderKind) -> Unit) {
    Column {
        Text(strings.settings.kind, style = MaterialTheme.typography.labelMedium, color = MaterialTheme.colorScheme.onSurfaceVariant)
        SingleChoiceSegmentedButtonRow(Modifier.fillMaxWidth()) {
            ProviderKind.entries.forEachIndexed { index, kind ->
                SegmentedButton(
                    selected = kind == chosen,
                    onClick = { onChange(kind) },
                    shape = SegmentedButtonDefaults.itemShape(index, ProviderKind.entries.size),
                    icon = {},
                ) { Text(kind.brand, maxLines = 1, overflow = TextOverflow.Ellipsis, style = MaterialTheme.typography.labelMedium) }
            }
        }
    }
}

/** Names of protocols are the same in every language. */
private val ProviderKind.brand: String
    get() = when (this) {
        ProviderKind.OPEN_AI -> "OpenAI"
        ProviderKind.ANTHROPIC -> "Anthropic"
        ProviderKind.GEMINI -> "Gemini"
    }

/** A model: its id, and how much it takes. */
@Composable
internal fun ModelDialog(form: ModelForm, strings: Strings, snackbar: SnackbarHostState?, onAction: (ChatAction) -> Unit) {
    val edit = rememberFormEdits(form) { onAction(ChatAction.ChangeModel(it)) }
    val words = { error: FieldError? -> error?.takeIf { form.showsErrors }?.let(strings::of) }
    FormDialog(
        title = if (form.isNew) strings.settings.addModel else strings.settings.editModel,
        confirm = strings.common.save,
        cancel = strings.common.cancel,
        onConfirm = { onAction(ChatAction.SaveModel) },
        onCancel = { onAction(ChatAction.CloseModel) },
        canConfirm = !form.isSaving,
        snackbar = snackbar,
    ) {
        LineField(
            form.id,
            { id -> edit { it.copy(id = id) } },
            strings.settings.modelId,
            error = words(form.idError),
            isReadOnly = !form.isNew,
        )
        LineField(form.displayName, { name -> edit { it.copy(displayName = name) } }, strings.settings.displayName)
        LineField(
            form.window,
            { window -> edit { it.copy(window = window) } },
            strings.settings.window,
            hint = strings.settings.unknownHint,
            error = words(form.windowError),
            keyboard = KeyboardType.Number,
        )
        LineField(
            form.maxOutput,
            { most -> edit { it.copy(maxOutput = most) } },
            strings.settings.maxOutput,
            hint = strings.settings.unknownHint,
            error = words(form.maxOutputError),
            keyboard = KeyboardType.Number,
        )
        if (!form.isNew) ModelButtons(form, strings, onAction)
    }
}

@Composable
private fun ModelButtons(form: ModelForm, strings: Strings, onAction: (ChatAction) -> Unit) {
    val ref = ModelRef(form.providerId, form.id)
    // What is switched off is no default.
    if (!form.isDefault && !form.isSwitchedOff) {
        TextButton(
            onClick = {
                onAction(ChatAction.SetDefaultModel(ref))
                onAction(ChatAction.CloseModel)
            },
        ) { Text(strings.settings.makeDefault) }
    }
    if (!form.isPreset) {
        DangerButton(strings.settings.removeModel) {
            onAction(ChatAction.StartRemoval(Removal.OfModel(ref, form.displayName.ifBlank { form.id })))
        }
    }
}

@Composable
private fun DangerButton(text: String, onClick: () -> Unit) {
    TextButton(onClick, colors = ButtonDefaults.textButtonColors(contentColor = MaterialTheme.colorScheme.error)) { Text(text) }
}

/** Nothing is removed by a single tap. */
@Composable
internal fun RemovalDialog(removal: Removal, strings: Strings, onAction: (ChatAction) -> Unit) {
    val words = strings.settings
    val (question, hint) = when (removal) {
        is Removal.OfProvider -> words.removeQuestionText to words.removeProviderHint
        is Removal.OfKey -> words.removeKeyQuestionText to words.removeKeyHint
        is Removal.OfModel -> words.removeQuestionText to words.removeModelHint
    }
    ConfirmDialog(
        title = question.fill(removal.name),
        text = hint,
        confirm = strings.common.remove,
        cancel = strings.common.cancel,
        onConfirm = { onAction(ChatAction.ConfirmRemoval) },
        onCancel = { onAction(ChatAction.CancelRemoval) },
        isDangerous = true,
    )
}

/** The models that a service says it has; one of them can be taken over. */
@Composable
internal fun OfferDialog(offer: ModelOffer, strings: Strings, snackbar: SnackbarHostState?, onAction: (ChatAction) -> Unit) {
    FormDialog(
        title = strings.settings.models,
        confirm = strings.common.close,
        cancel = null,
        onConfirm = { onAction(ChatAction.CloseOffer) },
        onCancel = { onAction(ChatAction.CloseOffer) },
        snackbar = snackbar,
    ) {
        if (offer.isLoading) Loading(strings.common.loading)
        offer.problem?.let { Text(strings.of(it), color = MaterialTheme.colorScheme.error) }
        when (offer.models?.isEmpty()) {
            null -> Unit
            true -> Text(strings.settings.noModels)
            false -> OfferList(offer, strings, onAction)
        }
    }
}

@Composable
private fun OfferList(offer: ModelOffer, strings: Strings, onAction: (ChatAction) -> Unit) {
    val fitting = offer.fitting
    LineField(offer.filter, { onAction(ChatAction.FilterOffer(it)) }, strings.settings.filter)
    if (fitting.isEmpty()) Text(strings.sessions.nothingFound)
    Column { fitting.take(MOST_OFFERED).forEach { OfferLine(it, strings) { onAction(ChatAction.TakeOffer(it)) } } }
    if (fitting.size > MOST_OFFERED) Text(strings.settings.moreModelsText.fill(fitting.size - MOST_OFFERED))
}

@Composable
private fun OfferLine(model: ListedModel, strings: Strings, onClick: () -> Unit) {
    Column(
        Modifier
            .fillMaxWidth()
            .clickable(enabled = !model.isSwitchedOff, onClickLabel = strings.settings.addModel, onClick = onClick)
            .heightIn(min = 48.dp)
            .padding(vertical = 8.dp),
    ) {
        ModelName(model.displayName ?: model.id, model.isSwitchedOff)
        ModelDetails(model.facts, strings, listOfNotNull(model.id.takeIf { model.displayName != null }))
    }
}
