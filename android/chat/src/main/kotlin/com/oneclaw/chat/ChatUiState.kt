package com.oneclaw.chat

import androidx.compose.runtime.Immutable
import com.oneclaw.bridge.Problem
import com.oneclaw.core.Attachment
import com.oneclaw.core.AttachmentContent
import com.oneclaw.core.ErrorCode
import com.oneclaw.core.Message
import com.oneclaw.core.ModelRef
import com.oneclaw.core.Session

/**
 * One conversation. What is stored is in [transcript]; what is being received is in [turns] and stands below it until the
 * stored form was read.
 *
 * @property session null until the first message is sent
 * @property model the model that answers next
 * @property aside what was being written when the editing of the newest message began
 * @property begun counts the turns; tells a page that was read before a turn from one read after
 */
@Immutable
data class ChatUiState(
    val session: Session? = null,
    val model: ModelRef? = null,
    val isLoading: Boolean = false,
    val transcript: Transcript = Transcript(),
    val isLoadingEarlier: Boolean = false,
    val turns: List<LiveTurn> = emptyList(),
    val begun: Int = 0,
    val draft: Draft = Draft(),
    val aside: Draft = Draft(),
    val failure: Failure? = null,
    val meter: Meter? = null,
) {
    val items: List<ChatItem> get() = transcript.items
    val hasEarlier: Boolean get() = transcript.before != null

    /** Whether to show the line "Optimizing conversation context...": from CompactStarted to CompactCompleted. */
    val isCompacting: Boolean get() = turns.any { it.isCompacting }

    /** Whether a reply is awaited or received. */
    val isAnswering: Boolean get() = turns.any { it.isAnswering }

    /**
     * Whether what is written can be sent. While a compaction runs, the next message is accepted although the last may be
     * unanswered; an edit waits until nothing is going on.
     */
    val canSend: Boolean
        get() = !draft.isEmpty && if (draft.editing == null) turns.none { it.holdsComposer } else isQuiet

    val canStop: Boolean get() = turns.any { it.phase == TurnPhase.RUNNING || it.phase == TurnPhase.ANSWERED }

    val isStopping: Boolean get() = turns.any { it.phase == TurnPhase.STOPPING }

    /** Regenerate, edit, undo and the like wait until nothing is going on. */
    val isQuiet: Boolean get() = turns.none { it.phase != TurnPhase.ENDED }

    /** An error that is not among the rows. */
    val looseFailure: Failure? get() = failure?.takeUnless { turns.isEmpty() && items.lastOrNull() is ChatItem.Failed }

    /**
     * Whether trying again is offered, below the last row. It is after every error: what stood in the way, as a missing key, may
     * be gone by now, and what is stored of an error does not say of which kind it was.
     */
    val canRetry: Boolean
        get() = isQuiet && when (failure) {
            is Failure.Reported -> true
            is Failure.Refused -> false
            null -> items.lastOrNull() is ChatItem.Failed && !endsInAReply
        }

    /** Whether the error in the last row came after the reply: it concerns what followed, and trying again would replace it. */
    private val endsInAReply: Boolean
        get() = (items.getOrNull(items.lastIndex - 1) as? ChatItem.Reply)?.let { !it.isInterrupted && it.text.isNotBlank() } == true

    val hasDraft: Boolean get() = !draft.isEmpty || !aside.isEmpty

    val isEmpty: Boolean get() = !isLoading && items.isEmpty() && turns.isEmpty() && failure == null
}

/** The stored messages that were read, the oldest first. The rows are made once for each new value. */
@Immutable
data class Transcript(val messages: List<Message> = emptyList(), val before: String? = null) {
    val items: List<ChatItem> = itemsOf(messages)

    fun pinned(messageId: String, isPinned: Boolean): Transcript =
        copy(messages = messages.map { if (it.id == messageId) it.copy(isPinned = isPinned) else it })

    /** Without [messageId] and all that follows. */
    fun until(messageId: String): Transcript = copy(messages = messages.takeWhile { it.id != messageId })
}

/** The most pictures in one message. */
const val MOST_PICTURES = 8

/** The most that several pictures have together: as base64 it is a third more, and services take requests of about 20 MB. */
internal const val MOST_PICTURE_MB = 12
internal const val MOST_PICTURE_BYTES = MOST_PICTURE_MB * 1_024 * 1_024

/** How many bytes it has, to within two. */
internal val Attachment.bytes: Long
    get() = when (val content = content) {
        is AttachmentContent.New -> content.data.length / 4L * 3
        is AttachmentContent.Stored -> content.size
    }

/**
 * What the user is writing.
 *
 * @property editing the message that it is to replace
 * @property revision is raised where the text was put there and not typed: the field has emptied itself ahead of the state, and
 * cannot tell by the text alone that it came back
 */
@Immutable
data class Draft(
    val text: String = "",
    val attachments: List<Attachment> = emptyList(),
    val editing: String? = null,
    val revision: Long = 0,
) {
    val isEmpty: Boolean get() = text.isBlank() && attachments.isEmpty()
}

/** Why the last turn has no answer. */
@Immutable
sealed interface Failure {
    /** The core said so in an event; the message is stored. [again] is what is asked for when it is tried again. */
    data class Reported(val text: String, val code: ErrorCode, val again: TurnRequest = TurnRequest.Regenerate) : Failure

    /** The call itself failed; the draft was given back. */
    data class Refused(val problem: Problem) : Failure
}

/** What a turn asks of the core. */
@Immutable
sealed interface TurnRequest {
    val isCompactionOnly: Boolean get() = this is Compact || this is Resume

    data class Send(val text: String, val attachments: List<Attachment> = emptyList()) : TurnRequest

    data class Edit(val messageId: String, val text: String, val attachments: List<Attachment> = emptyList()) : TurnRequest

    data object Regenerate : TurnRequest

    data class Compact(val focus: String = "") : TurnRequest

    /** The rest of a compaction that the end of the process cut short. */
    data object Resume : TurnRequest
}

/** How far a turn is. */
enum class TurnPhase {
    /** Waiting for the reply or receiving it. */
    RUNNING,

    /** The reply is stored; a compaction may follow. */
    ANSWERED,

    /** The user has asked to stop. */
    STOPPING,

    /** Nothing more comes. */
    ENDED,
}

/**
 * One stream of events, as far as it was received.
 *
 * @property bubble what the user wrote, until its stored form is shown
 * @property parts what is complete: replies before tools, and tools
 * @property open the reply that is growing; apart from the rest, as it changes with every delta
 * @property hasReply the reply is whole; what fails from here on does not concern it
 * @property foundNothing a compaction that was asked for had nothing to do
 */
@Immutable
data class LiveTurn(
    val id: Long,
    val request: TurnRequest,
    val bubble: Draft? = null,
    val parts: List<LivePart> = emptyList(),
    val open: LivePart.Reply? = null,
    val phase: TurnPhase = TurnPhase.RUNNING,
    val isCompacting: Boolean = false,
    val hasReply: Boolean = false,
    val foundNothing: Boolean = false,
) {
    val isAnswering: Boolean
        get() = !request.isCompactionOnly && (phase == TurnPhase.RUNNING || phase == TurnPhase.STOPPING)

    /** Whether the next message has to wait. */
    val holdsComposer: Boolean get() = isAnswering && !isCompacting

    /** Whether to show that a reply is awaited, as nothing of it is there. */
    val isWaiting: Boolean
        get() = isAnswering && !isCompacting && open == null && parts.none { it is LivePart.Tool && it.isRunning }
}

/** A piece of a reply that is not stored yet, or whose stored form was not read yet. */
@Immutable
sealed interface LivePart {
    data class Reply(val thinking: StreamedText = StreamedText(), val text: StreamedText = StreamedText()) : LivePart

    data class Tool(val card: ChatItem.Tool, val arguments: StreamedText = StreamedText()) : LivePart {
        val isRunning: Boolean get() = !card.status.isFinal
    }
}
