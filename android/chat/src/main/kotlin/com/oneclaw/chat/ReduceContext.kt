package com.oneclaw.chat

import com.oneclaw.core.Model
import com.oneclaw.core.ModelRef

/** The choice of a model, and the sheet about the context. */
internal fun reduceContext(state: AppUiState, action: ChatAction): AppUiState? = when (action) {
    is ChatAction.OpenPicker -> state.copy(picker = pickerOf(state))
    is ChatAction.ClosePicker -> state.copy(picker = null)
    is ChatAction.PickModel -> pick(state, action.model)
    is ChatAction.ConfirmModel -> state.picker?.warning?.let { state.take(it.model) } ?: state
    is ChatAction.DeclineModel -> state.copy(picker = state.picker?.copy(warning = null))
    is ChatAction.StartWindow -> state.copy(window = windowForm(state, action.model))
    is ChatAction.EditWindow -> state.copy(window = typed(state.window, action))
    is ChatAction.SaveWindow -> state.changeWindow { it.copy(showsErrors = true, isSaving = it.error == null) }
    is ChatAction.CloseWindow -> state.copy(window = null)
    is ChatAction.OpenContext -> state.copy(context = state.openSessionId?.let { ContextSheetState(it) })
    is ChatAction.CloseContext -> state.copy(context = null, window = null)
    is ChatAction.EditFocus -> state.changeSheet { it.copy(focus = action.text) }
    is ChatAction.CompactNow -> compactNow(state)
    is ChatAction.ToggleEpoch -> state.changeSheet {
        it.copy(openEpoch = action.number.takeIf { number -> number != it.openEpoch })
    }
    is ChatAction.StartReset -> state.changeSheet { it.copy(confirmsReset = true) }
    is ChatAction.CancelReset -> state.changeSheet { it.copy(confirmsReset = false) }
    is ChatAction.ConfirmReset, is ChatAction.UndoCompaction -> state.changeSheet {
        it.copy(confirmsReset = false, isChanging = state.chat.isQuiet)
    }
    else -> null
}

private fun pickerOf(state: AppUiState): ModelPickerState {
    val catalogue = state.catalogue
    val groups = catalogue.providers.filter { it.isActive }
        .map { ModelGroup(it, catalogue.modelsOf(it.id), catalogue.lacksKey(it)) }
        .filter { it.models.isNotEmpty() }
    return ModelPickerState(groups, state.chat.model)
}

/** A model that is switched off, or whose window is smaller than the conversation, is only taken after a question. */
private fun pick(state: AppUiState, model: Model): AppUiState {
    val warning = warningOf(model, state.chat.meter?.expected ?: 0) ?: return state.take(model)
    val picker = state.picker ?: pickerOf(state)
    return state.copy(picker = picker.copy(warning = warning))
}

private fun warningOf(model: Model, conversation: Long): ModelWarning? {
    val window = model.window
    return when {
        model.isSwitchedOff -> OffWarning(model)
        window != null && window < conversation -> WindowWarning(model, window, conversation)
        else -> null
    }
}

private fun windowForm(state: AppUiState, model: ModelRef) =
    WindowForm(model, state.catalogue.model(model)?.window?.toString().orEmpty(), isDialog = true)

private fun typed(form: WindowForm?, action: ChatAction.EditWindow): WindowForm =
    form?.takeIf { it.model == action.model }?.copy(text = action.text) ?: WindowForm(action.model, action.text)

private fun AppUiState.changeWindow(change: (WindowForm) -> WindowForm) = copy(window = window?.let(change))

internal fun windowSaved(state: AppUiState, isSaved: Boolean): AppUiState =
    if (isSaved) state.copy(window = null) else state.changeWindow { it.copy(isSaving = false) }

private fun AppUiState.take(model: Model): AppUiState = changeOpen { it.copy(model = model.ref) }.copy(picker = null)

private fun compactNow(state: AppUiState): AppUiState {
    val sheet = state.context ?: return state
    if (!state.chat.isQuiet || sheet.sessionId != state.openId) return state
    return state.copy(context = null).begin(TurnRequest.Compact(sheet.focus.trim()))
}

private fun AppUiState.changeSheet(change: (ContextSheetState) -> ContextSheetState) = copy(context = context?.let(change))

internal fun AppUiState.changeContext(sessionId: String, change: (ContextSheetState) -> ContextSheetState) =
    changeSheet { if (it.sessionId == sessionId) change(it) else it }

internal fun contextLoaded(state: AppUiState, update: ChatUpdate.ContextLoaded): AppUiState =
    state.changeContext(update.sessionId) { it.copy(status = update.status, problem = null, isChanging = false) }
        .changeChat(update.sessionId) { it.copy(meter = update.status.toMeter()) }

internal fun catalogueLoaded(state: AppUiState, catalogue: Catalogue): AppUiState {
    val known = state.copy(
        catalogue = catalogue,
        settings = state.settings.copy(provider = state.settings.provider?.withKeyOf(catalogue)),
        // A conversation that is not begun yet does not hold on to a model that is gone.
        chats = state.chats.mapValues { (id, chat) ->
            val isKept = id != NEW_CHAT || catalogue.model(chat.model) != null
            chat.copy(model = chat.model?.takeIf { isKept } ?: catalogue.defaultModel?.ref)
        },
    )
    return if (known.picker == null) known else known.copy(picker = pickerOf(known).copy(warning = known.picker.warning))
}
