package com.oneclaw.chat

import androidx.compose.runtime.Immutable
import com.oneclaw.bridge.Problem
import com.oneclaw.core.ListedModel
import com.oneclaw.core.Model
import com.oneclaw.core.ModelRef
import com.oneclaw.core.PolicySettings
import com.oneclaw.core.Preset
import com.oneclaw.core.Provider
import com.oneclaw.core.ProviderKind

/** The settings. The forms are dialogs; they hold what is typed, valid or not. */
@Immutable
data class SettingsState(
    val isLoading: Boolean = true,
    val theme: Theme = Theme.SYSTEM,
    val policy: PolicyForm = PolicyForm(),
    val provider: ProviderForm? = null,
    val model: ModelForm? = null,
    val offer: ModelOffer? = null,
    val removing: Removal? = null,
)

/** What is removed after a question. [name] is how people know it. */
@Immutable
sealed interface Removal {
    val name: String

    data class OfProvider(val providerId: String, override val name: String) : Removal

    data class OfKey(val providerId: String, override val name: String) : Removal

    data class OfModel(val model: ModelRef, override val name: String) : Removal
}

/**
 * How conversations are compacted. It is stored as it is changed, a threshold once it is valid.
 *
 * @property threshold in percent; empty: as the preset says
 * @property others rules that differ from the preset and have no field here
 */
@Immutable
data class PolicyForm(
    val preset: Preset = Preset.ONE_CLAW,
    val threshold: String = "",
    val auto: Boolean = true,
    val prune: Boolean = true,
    val summaryModel: ModelRef? = null,
    val others: Map<String, String> = emptyMap(),
) {
    /** Whether the preset looks at a share of the window at all. */
    val hasThreshold: Boolean get() = preset == Preset.ONE_CLAW || preset == Preset.SVEN
    val thresholdError: FieldError? get() = if (hasThreshold) checkThreshold(threshold) else null
    val isValid: Boolean get() = thresholdError == null

    fun toSettings(): PolicySettings {
        val share = shareText(threshold)?.takeIf { hasThreshold }
        val overrides = if (share == null) others else others + (THRESHOLD to share)
        return PolicySettings(preset, overrides, auto, prune, summaryModel)
    }

    companion object {
        private const val THRESHOLD = "threshold"

        fun of(settings: PolicySettings) = PolicyForm(
            preset = settings.preset,
            threshold = settings.overrides[THRESHOLD]?.let(::percentText).orEmpty(),
            auto = settings.auto,
            prune = settings.prune,
            summaryModel = settings.summaryModel,
            others = settings.overrides - THRESHOLD,
        )
    }
}

/**
 * A service that is changed or added.
 *
 * @property id null: a new one
 * @property key a new key; empty: the old one stays
 * @property isKeyForeign the key comes from elsewhere and cannot be removed here
 * @property savedUrl the address that the old key was given for
 * @property showsErrors from the first attempt to save
 */
@Immutable
data class ProviderForm(
    val id: String? = null,
    val name: String = "",
    val kind: ProviderKind = ProviderKind.OPEN_AI,
    val baseUrl: String = "",
    val key: String = "",
    val hasKey: Boolean = false,
    val isKeyForeign: Boolean = false,
    val isActive: Boolean = true,
    val isPreset: Boolean = false,
    val showsErrors: Boolean = false,
    val isSaving: Boolean = false,
    val savedUrl: String = "",
) {
    /** Whether the old key stays: a key belongs to its address, and is asked for again at another. */
    val keepsKey: Boolean get() = hasKey && baseUrl.trim().trimEnd('/') == savedUrl.trimEnd('/')

    val nameError: FieldError? get() = checkRequired(name)
    val baseUrlError: FieldError? get() = checkBaseUrl(baseUrl)
    val keyError: FieldError? get() = checkKey(key)
    val isValid: Boolean get() = nameError == null && baseUrlError == null && keyError == null

    /** Without the key. */
    override fun toString() = "ProviderForm(id=$id, name=$name)"

    fun withKeyOf(catalogue: Catalogue) = copy(hasKey = id in catalogue.keys, isKeyForeign = id in catalogue.foreignKeys)

    fun toProvider(newId: String) =
        Provider(id ?: newId, name.trim(), kind, baseUrl.trim().trimEnd('/'), isActive, isPreset)

    companion object {
        fun of(provider: Provider, catalogue: Catalogue) = ProviderForm(
            id = provider.id,
            name = provider.name,
            kind = provider.kind,
            baseUrl = provider.baseUrl,
            isActive = provider.isActive,
            isPreset = provider.isPreset,
            savedUrl = provider.baseUrl,
        ).withKeyOf(catalogue)
    }
}

/** A model that is changed or added. Empty sizes mean unknown. */
@Immutable
data class ModelForm(
    val providerId: String,
    val isNew: Boolean = true,
    val id: String = "",
    val displayName: String = "",
    val window: String = "",
    val maxOutput: String = "",
    val isDefault: Boolean = false,
    val isPreset: Boolean = false,
    val isSwitchedOff: Boolean = false,
    val showsErrors: Boolean = false,
    val isSaving: Boolean = false,
) {
    val idError: FieldError? get() = checkRequired(id)
    val windowError: FieldError? get() = checkTokens(window)
    val maxOutputError: FieldError? get() = checkTokens(maxOutput) ?: checkFits(maxOutput, window)
    val isValid: Boolean get() = idError == null && windowError == null && maxOutputError == null

    fun toModel() = Model(
        providerId = providerId,
        id = id.trim(),
        displayName = displayName.trim().ifEmpty { id.trim() },
        window = tokensOf(window),
        maxOutput = tokensOf(maxOutput),
        isDefault = isDefault,
        isPreset = isPreset,
    )

    companion object {
        fun of(model: Model) = ModelForm(
            providerId = model.providerId,
            isNew = false,
            id = model.id,
            displayName = model.displayName,
            window = model.window?.toString().orEmpty(),
            maxOutput = model.maxOutput?.toString().orEmpty(),
            isDefault = model.isDefault,
            isPreset = model.isPreset,
            isSwitchedOff = model.isSwitchedOff,
        )

        fun of(providerId: String, listed: ListedModel) = ModelForm(
            providerId = providerId,
            id = listed.id,
            displayName = listed.displayName.orEmpty(),
            window = listed.window?.toString().orEmpty(),
            maxOutput = listed.maxOutput?.toString().orEmpty(),
        )
    }
}

/** The models that a service says it has, while they are asked for and afterwards. */
@Immutable
data class ModelOffer(
    val providerId: String,
    val models: List<ListedModel>? = null,
    val problem: Problem? = null,
    val filter: String = "",
) {
    val isLoading: Boolean get() = models == null && problem == null

    /** Those with [filter] in their id or name. */
    val fitting: List<ListedModel>
        get() = models.orEmpty().filter {
            it.id.contains(filter.trim(), ignoreCase = true) || it.displayName?.contains(filter.trim(), ignoreCase = true) == true
        }
}
