package com.oneclaw.chat

import androidx.compose.runtime.Immutable
import com.oneclaw.bridge.Problem
import com.oneclaw.core.CompactReason
import com.oneclaw.core.ErrorCode
import com.oneclaw.core.Preset
import com.oneclaw.core.Strategy
import com.oneclaw.core.ToolStatus
import java.util.Locale

/**
 * The title a conversation has in the file until it gets one of its own: `UNTITLED` in rust-core/oneclaw-agent/src/title.rs. It
 * is the same in every language, so it is not shown as it is: see [Strings.titleOf].
 */
const val DEFAULT_TITLE = "New Conversation"

/**
 * All that the screens say, in one language. Fields that end in `Text` have gaps; fill them with [fill].
 */
@Immutable
data class Strings(
    val common: CommonStrings,
    val sessions: SessionStrings,
    val chat: ChatStrings,
    val tools: ToolStrings,
    val models: ModelStrings,
    val context: ContextStrings,
    val settings: SettingsStrings,
    val problems: ProblemStrings,
) {
    fun of(error: FieldError): String = when (error) {
        FieldError.REQUIRED -> settings.required
        FieldError.NOT_A_URL -> settings.notAUrl
        FieldError.NOT_HTTP -> settings.notHttp
        FieldError.HAS_QUERY -> settings.hasQuery
        FieldError.HAS_SPACES -> settings.hasSpaces
        FieldError.NOT_A_NUMBER -> settings.notANumber
        FieldError.TOO_SMALL -> settings.tooSmall
        FieldError.TOO_BIG -> settings.tooBig
    }

    fun of(status: ToolStatus): String = when (status) {
        ToolStatus.PENDING -> tools.pending
        ToolStatus.EXECUTING -> tools.executing
        ToolStatus.SUCCESS -> tools.success
        ToolStatus.ERROR -> tools.error
        ToolStatus.TIMEOUT -> tools.timeout
    }

    fun of(part: Part): String = when (part) {
        Part.SYSTEM -> context.system
        Part.TOOLS -> context.tools
        Part.SUMMARY -> context.summary
        Part.MESSAGES -> context.messages
        Part.FREE -> context.free
    }

    fun of(ability: Ability): String = when (ability) {
        Ability.TOOLS -> models.tools
        Ability.PICTURES -> models.pictures
        Ability.PDF -> models.pdf
        Ability.THINKING -> models.thinking
    }

    fun of(strategy: Strategy): String = when (strategy) {
        Strategy.PROSE -> context.strategyProse
        Strategy.STRUCTURED -> context.strategyStructured
        Strategy.NARRATIVE -> context.strategyNarrative
        Strategy.CHECKPOINT -> context.strategyCheckpoint
        Strategy.CONTINUATION -> context.strategyContinuation
        Strategy.DIGEST -> context.strategyDigest
        Strategy.DROP -> context.strategyDrop
        Strategy.EMERGENCY -> context.strategyEmergency
    }

    fun of(reason: CompactReason): String = when (reason) {
        CompactReason.THRESHOLD -> context.reasonThreshold
        CompactReason.HARD_LIMIT -> context.reasonHardLimit
        CompactReason.MANUAL -> context.reasonManual
        CompactReason.OVERFLOW -> context.reasonOverflow
        CompactReason.MODEL_SWITCH -> context.reasonModelSwitch
    }

    fun of(preset: Preset): String = when (preset) {
        Preset.ONE_CLAW -> settings.presetOneClaw
        Preset.SVEN -> settings.presetSven
        Preset.NOUS -> settings.presetNous
        Preset.OPEN_CODE -> settings.presetOpenCode
    }

    fun of(theme: Theme): String = when (theme) {
        Theme.SYSTEM -> settings.themeSystem
        Theme.LIGHT -> settings.themeLight
        Theme.DARK -> settings.themeDark
    }

    fun of(code: ErrorCode): String = when (code) {
        ErrorCode.NETWORK -> problems.network
        ErrorCode.AUTH -> problems.auth
        ErrorCode.TIMEOUT -> problems.timeout
        ErrorCode.VALIDATION -> problems.validation
        ErrorCode.STORAGE -> problems.storage
        ErrorCode.PERMISSION -> problems.permission
        ErrorCode.PROVIDER -> problems.provider
        ErrorCode.TOOL -> problems.tool
        ErrorCode.CONTEXT -> problems.context
        ErrorCode.BUDGET -> problems.budget
        ErrorCode.UNKNOWN -> problems.unknown
    }

    fun of(problem: Problem): String = when (problem) {
        is Problem.Network -> problems.network
        is Problem.Service -> problems.provider
        is Problem.Auth -> problems.auth
        is Problem.Storage -> problems.storage
        is Problem.Invalid -> invalid(problem)
        is Problem.NotFound -> problems.notFound
        is Problem.Busy -> problems.busy
        is Problem.Closed -> problems.closed
        is Problem.Internal -> problems.unknown
    }

    /** What a person meets has words of its own; the rest is said in those of the core. */
    private fun invalid(problem: Problem.Invalid): String = when (problem.field) {
        "pin" -> problems.pins
        "model" -> problems.noModel
        "text" -> problems.badText
        else -> problems.invalidText.fill(problem.detail)
    }

    fun of(notice: Notice): String = when (notice) {
        is Notice.Trimmed -> chat.trimmed
        is Notice.Compacted -> chat.compactedText.fill(formatTokens(notice.before), formatTokens(notice.after))
        is Notice.NothingToCompact -> chat.nothingToCompact
        is Notice.SessionDeleted -> sessions.deletedText.fill(titleOf(notice.title))
        is Notice.Copied -> common.copied
        is Notice.PictureRefused -> chat.pictureRefused
        is Notice.Unfinished -> chat.unfinishedText.fill(of(notice.code))
        is Notice.TooManyPictures -> chat.tooManyPicturesText.fill(MOST_PICTURES, MOST_PICTURE_MB)
        is Notice.PicturesLeftOut -> chat.picturesLeftOutText.fill(notice.count)
        is Notice.WindowUnknown -> chat.windowUnknownText.fill(formatTokens(notice.expected))
        is Notice.Failed -> of(notice.problem)
    }

    /** The title of a conversation, stored as [title]. */
    fun titleOf(title: String): String = when {
        title.isBlank() -> sessions.untitled
        title == DEFAULT_TITLE -> sessions.new
        else -> title
    }

    /** The size of a model's window; null: nobody knows it. */
    fun windowOf(tokens: Long?): String =
        if (tokens == null) models.windowUnknown else models.windowText.fill(formatTokens(tokens))

    /** How long something took: 340 ms, 1.4 s, 2 min 5 s. */
    fun durationOf(ms: Long): String = when {
        ms < SECOND_MS -> tools.millisText.fill(ms)
        ms < MINUTE_MS -> tools.secondsText.fill(String.format(Locale.ROOT, "%.1f", ms.toDouble() / SECOND_MS))
        else -> tools.minutesText.fill(ms / MINUTE_MS, ms % MINUTE_MS / SECOND_MS)
    }

    companion object {
        private const val SECOND_MS = 1_000L
        private const val MINUTE_MS = 60_000L

        /** Chinese for Chinese, English for everyone else. */
        fun of(locale: Locale): Strings = if (locale.language == "zh") CHINESE else ENGLISH
    }
}

/** The text with its gaps filled, in order. */
fun String.fill(vararg values: Any): String = String.format(Locale.ROOT, this, *values)
