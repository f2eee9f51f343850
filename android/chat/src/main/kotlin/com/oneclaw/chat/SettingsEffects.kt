package com.oneclaw.chat

import com.oneclaw.bridge.ChatRepository
import com.oneclaw.bridge.problemOf
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.update

/** How long a rule has to stand before it is stored. */
internal const val SAVE_DELAY_MS = 300L

private const val THEME = "theme"

/** What the settings ask of the core. */
internal class SettingsEffects(
    private val repository: ChatRepository,
    private val states: MutableStateFlow<AppUiState>,
    private val launch: (suspend () -> Unit) -> Job,
    private val readContext: (String) -> Unit,
    private val newId: () -> String,
) {
    private var saving: Job? = null

    fun perform(action: ChatAction, before: AppUiState, after: AppUiState) {
        when (action) {
            is ChatAction.ShowScreen -> if (action.screen == Screen.SETTINGS) load()
            is ChatAction.SetTheme -> launch { repository.setSetting(THEME, action.theme.name) }
            is ChatAction.EditPolicy -> savePolicy(action.form)
            is ChatAction.SaveProvider -> after.settings.provider?.takeIf { it.isSaving }?.let(::saveProvider)
            is ChatAction.SaveModel -> after.settings.model?.takeIf { it.isSaving }?.let(::saveModel)
            is ChatAction.SaveWindow -> after.window?.takeIf { it.isSaving && before.window?.isSaving != true }?.let(::saveWindow)
            is ChatAction.ConfirmRemoval -> before.settings.removing?.let { change { remove(it) } }
            is ChatAction.SetDefaultModel -> change { repository.setDefaultModel(action.model) }
            is ChatAction.OpenOffer -> listModels(action.providerId)
            else -> Unit
        }
    }

    fun load() {
        loadCatalogue()
        launch {
            val policy = repository.policy()
            val theme = Theme.entries.find { it.name == repository.setting(THEME) } ?: Theme.SYSTEM
            update(ChatUpdate.SettingsLoaded(policy, theme))
        }
    }

    fun loadCatalogue() {
        launch { readCatalogue() }
    }

    private suspend fun readCatalogue() {
        val providers = repository.providers()
        val keys = providers.filter { repository.hasKey(it) }.map { it.id }.toSet()
        val foreign = keys.filterNot { repository.canRemoveKey(it) }.toSet()
        update(ChatUpdate.CatalogueLoaded(Catalogue(providers, repository.models(), keys, foreign)))
    }

    private suspend fun remove(removal: Removal) = when (removal) {
        is Removal.OfProvider -> {
            repository.removeProvider(removal.providerId)
            repository.removeKey(removal.providerId)
        }
        is Removal.OfKey -> repository.removeKey(removal.providerId)
        is Removal.OfModel -> repository.removeModel(removal.model)
    }

    private fun change(block: suspend () -> Unit) {
        launch {
            block()
            readCatalogue()
        }
    }

    private fun savePolicy(form: PolicyForm) {
        saving?.cancel()
        saving = launch {
            delay(SAVE_DELAY_MS)
            // Half a number does not hold up the rest: the stored one stays until it is whole.
            val threshold = if (form.isValid) form.threshold else PolicyForm.of(repository.policy()).threshold
            repository.savePolicy(form.copy(threshold = threshold).toSettings())
        }
    }

    private fun saveProvider(form: ProviderForm) {
        launch {
            var isSaved = false
            try {
                val provider = form.toProvider(newId())
                repository.saveProvider(provider)
                if (form.key.isNotBlank()) repository.setKey(provider, form.key.trim())
                readCatalogue()
                isSaved = true
            } finally {
                update(ChatUpdate.ProviderSaved(isSaved))
            }
        }
    }

    private fun saveModel(form: ModelForm) {
        launch {
            var isSaved = false
            try {
                repository.saveModel(form.toModel())
                readCatalogue()
                isSaved = true
            } finally {
                update(ChatUpdate.ModelSaved(isSaved))
            }
        }
    }

    private fun saveWindow(form: WindowForm) {
        launch {
            var isSaved = false
            try {
                repository.setWindow(form.model, form.tokens)
                readCatalogue()
                isSaved = true
            } finally {
                update(ChatUpdate.WindowSaved(isSaved))
            }
            if (states.value.chat.model == form.model) states.value.openSessionId?.let(readContext)
        }
    }

    private fun listModels(providerId: String) {
        launch {
            try {
                update(ChatUpdate.OfferLoaded(providerId, repository.listModels(providerId)))
            } catch (cancelled: CancellationException) {
                throw cancelled
            } catch (error: Exception) {
                update(ChatUpdate.OfferFailed(providerId, problemOf(error)))
            }
        }
    }

    private fun update(update: ChatUpdate) = states.update { reduce(it, update) }
}
