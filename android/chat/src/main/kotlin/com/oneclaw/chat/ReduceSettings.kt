package com.oneclaw.chat

/** The settings and their forms. A form that is not valid stays open and shows what is wrong. */
internal fun reduceSettings(state: AppUiState, action: ChatAction): AppUiState? = when (action) {
    is ChatAction.SetTheme -> state.changeSettings { it.copy(theme = action.theme) }
    is ChatAction.EditPolicy -> state.changeSettings { it.copy(policy = action.form) }
    is ChatAction.AddProvider -> state.changeSettings { it.copy(provider = ProviderForm()) }
    is ChatAction.EditProvider -> state.changeSettings {
        it.copy(provider = ProviderForm.of(action.provider, state.catalogue))
    }
    is ChatAction.ChangeProvider -> state.changeSettings { it.copy(provider = it.provider?.let { action.form }) }
    is ChatAction.SaveProvider -> state.changeSettings { settings ->
        settings.copy(provider = settings.provider?.let { it.copy(showsErrors = true, isSaving = it.isValid) })
    }
    is ChatAction.CloseProvider -> state.changeSettings { it.copy(provider = null) }
    is ChatAction.StartRemoval -> state.changeSettings { it.copy(removing = action.removal) }
    is ChatAction.ConfirmRemoval -> state.changeSettings { it.removed() }
    is ChatAction.CancelRemoval -> state.changeSettings { it.copy(removing = null) }
    is ChatAction.AddModel -> state.changeSettings { it.copy(model = ModelForm(action.providerId)) }
    is ChatAction.EditModel -> state.changeSettings { it.copy(model = ModelForm.of(action.model)) }
    is ChatAction.ChangeModel -> state.changeSettings { it.copy(model = it.model?.let { action.form }) }
    is ChatAction.SaveModel -> state.changeSettings { settings ->
        settings.copy(model = settings.model?.let { it.copy(showsErrors = true, isSaving = it.isValid) })
    }
    is ChatAction.CloseModel -> state.changeSettings { it.copy(model = null) }
    is ChatAction.OpenOffer -> state.changeSettings { it.copy(offer = ModelOffer(action.providerId)) }
    is ChatAction.FilterOffer -> state.changeSettings { it.copy(offer = it.offer?.copy(filter = action.text)) }
    is ChatAction.TakeOffer -> state.changeSettings { settings ->
        val offer = settings.offer ?: return@changeSettings settings
        settings.copy(offer = null, model = ModelForm.of(offer.providerId, action.listed))
    }
    is ChatAction.CloseOffer -> state.changeSettings { it.copy(offer = null) }
    else -> null
}

/** Closes the form of what is about to be gone. */
private fun SettingsState.removed(): SettingsState = when (removing) {
    is Removal.OfProvider -> copy(removing = null, provider = null)
    is Removal.OfKey -> copy(removing = null, provider = provider?.copy(key = ""))
    is Removal.OfModel -> copy(removing = null, model = null)
    null -> this
}

private fun AppUiState.changeSettings(change: (SettingsState) -> SettingsState) = copy(settings = change(settings))

internal fun settingsLoaded(state: AppUiState, update: ChatUpdate.SettingsLoaded): AppUiState =
    state.changeSettings { it.copy(isLoading = false, policy = PolicyForm.of(update.policy), theme = update.theme) }

internal fun providerSaved(state: AppUiState, isSaved: Boolean): AppUiState = state.changeSettings {
    it.copy(provider = if (isSaved) null else it.provider?.copy(isSaving = false))
}

internal fun modelSaved(state: AppUiState, isSaved: Boolean): AppUiState = state.changeSettings {
    it.copy(model = if (isSaved) null else it.model?.copy(isSaving = false))
}

internal fun AppUiState.changeOffer(providerId: String, change: (ModelOffer) -> ModelOffer) = changeSettings { settings ->
    settings.copy(offer = settings.offer?.let { if (it.providerId == providerId) change(it) else it })
}
