package com.oneclaw.chat

import androidx.compose.runtime.Immutable
import com.oneclaw.bridge.Problem
import com.oneclaw.core.ContextStatus
import com.oneclaw.core.Model
import com.oneclaw.core.ModelRef
import com.oneclaw.core.Parts
import com.oneclaw.core.Provider
import com.oneclaw.core.Session
import com.oneclaw.core.Shelf

/**
 * The list of conversations.
 *
 * @property isFailed the last attempt to read it, or more of it, failed
 */
@Immutable
data class SessionListState(
    val sessions: List<Session> = emptyList(),
    val next: String? = null,
    val search: String = "",
    val shelf: Shelf = Shelf.OPEN,
    val isLoading: Boolean = false,
    val isFailed: Boolean = false,
    val renaming: Renaming? = null,
    val purging: Session? = null,
) {
    /** Whether there are none. Where they could not be read, nobody knows. */
    val isEmpty: Boolean get() = sessions.isEmpty() && !isLoading && !isFailed
    val canRetry: Boolean get() = isFailed && !isLoading
    val hasMore: Boolean get() = next != null
}

/** The dialog in which a conversation gets another title. */
@Immutable
data class Renaming(val sessionId: String, val title: String) {
    val isValid: Boolean get() = title.isNotBlank()
}

/**
 * The services and models there are.
 *
 * @property keys the services that have a key
 * @property foreignKeys those of them whose key comes from elsewhere, as from the environment, and cannot be removed here
 */
@Immutable
data class Catalogue(
    val providers: List<Provider> = emptyList(),
    val models: List<Model> = emptyList(),
    val keys: Set<String> = emptySet(),
    val foreignKeys: Set<String> = emptySet(),
) {
    /** Whether to warn that there is no key. A service that was added, as one at home, may need none. */
    fun lacksKey(provider: Provider): Boolean = provider.isPreset && provider.id !in keys

    fun provider(id: String): Provider? = providers.find { it.id == id }

    fun model(ref: ModelRef?): Model? = ref?.let { models.find { model -> model.ref == it } }

    fun modelsOf(providerId: String): List<Model> = models.filter { it.providerId == providerId }

    /** The model that new conversations begin with: never one that is switched off. As the core chooses. */
    val defaultModel: Model?
        get() = models.find { it.isDefault && !it.isSwitchedOff }
            ?: providers.filter { it.isActive && it.id in keys }.flatMap { modelsOf(it.id) }.find { !it.isSwitchedOff }
}

val Model.ref: ModelRef get() = ModelRef(providerId, id)

/** The choice of a model. [warning] waits for a yes or no before the model is taken. */
@Immutable
data class ModelPickerState(
    val groups: List<ModelGroup> = emptyList(),
    val selected: ModelRef? = null,
    val warning: ModelWarning? = null,
)

/** A service that is offered, with its models. */
@Immutable
data class ModelGroup(val provider: Provider, val models: List<Model>, val lacksKey: Boolean)

/** Why a model is only taken after a question. */
@Immutable
sealed interface ModelWarning {
    val model: Model
}

/** The conversation is bigger than the window of [model]: earlier parts will be summarised before the next answer. */
@Immutable
data class WindowWarning(override val model: Model, val window: Long, val conversation: Long) : ModelWarning

/** The service has switched [model] off and may refuse it. */
@Immutable
data class OffWarning(override val model: Model) : ModelWarning

/**
 * The window of a model as a person says it. Empty: what others say counts.
 *
 * @property isDialog it has a dialog of its own; otherwise it is a field in the sheet about the context
 */
@Immutable
data class WindowForm(
    val model: ModelRef,
    val text: String = "",
    val isDialog: Boolean = false,
    val showsErrors: Boolean = false,
    val isSaving: Boolean = false,
) {
    val error: FieldError? get() = checkTokens(text) ?: if (isDialog) null else checkRequired(text)
    val tokens: Long? get() = tokensOf(text)
}

/** How full the window is, in tokens. */
@Immutable
data class Meter(val expected: Long, val upper: Long, val window: Long?, val trigger: Long?, val parts: Parts) {
    /** The share of the window in use, 0 to 1; null where the window is unknown. */
    val share: Float? get() = window?.takeIf { it > 0 }?.let { (expected.toFloat() / it).coerceIn(0f, 1f) }

    /** Where the trigger lies in the window, 0 to 1. */
    val triggerShare: Float?
        get() = window?.takeIf { it > 0 }?.let { all -> trigger?.let { (it.toFloat() / all).coerceIn(0f, 1f) } }

    /**
     * The meter from left to right, each with its share of the window; what is over the window is cut off. Where the window
     * is unknown, the shares are those of the request.
     */
    val segments: List<Segment>
        get() {
            val used = parts.system + parts.tools + parts.summary + parts.messages
            val all = (window?.takeIf { it > 0 } ?: used).coerceAtLeast(1)
            var left = all
            val sizes = listOf(
                Part.SYSTEM to parts.system,
                Part.TOOLS to parts.tools,
                Part.SUMMARY to parts.summary,
                Part.MESSAGES to parts.messages,
            )
            return sizes.map { (part, tokens) ->
                val shown = tokens.coerceIn(0, left)
                left -= shown
                Segment(part, tokens, shown.toFloat() / all)
            } + Segment(Part.FREE, left, left.toFloat() / all)
        }
}

/** A kind of content of the window. */
enum class Part { SYSTEM, TOOLS, SUMMARY, MESSAGES, FREE }

@Immutable
data class Segment(val part: Part, val tokens: Long, val share: Float)

/** The sheet about the context of the open conversation. [isChanging]: until what was asked for is to be seen, no more is. */
@Immutable
data class ContextSheetState(
    val sessionId: String,
    val status: ContextStatus? = null,
    val problem: Problem? = null,
    val focus: String = "",
    val openEpoch: Int? = null,
    val confirmsReset: Boolean = false,
    val isChanging: Boolean = false,
) {
    val isLoading: Boolean get() = status == null && problem == null
    val meter: Meter? get() = status?.toMeter()

    /** Only the newest compaction can be undone. */
    val undoable: Int? get() = status?.epochs?.lastOrNull()?.number
}

fun ContextStatus.toMeter() = Meter(expected, upper, window, trigger, parts)
