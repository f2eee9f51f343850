package com.oneclaw.chat

import androidx.compose.runtime.Immutable
import com.oneclaw.core.Attachment
import com.oneclaw.core.Message
import com.oneclaw.core.MessageKind
import com.oneclaw.core.ToolStatus
import com.oneclaw.core.Usage

/** One row of the chat's list. [key] is stable while the row moves and changes. */
@Immutable
sealed interface ChatItem {
    val key: String

    /** A row that is a message, and can be copied and pinned. */
    sealed interface Written : ChatItem {
        val messageId: String
        val text: String
        val isPinned: Boolean

        /** Whether it can be edited or answered anew: only the newest message of the user and what followed it can. */
        val isNewest: Boolean
        override val key: String get() = messageId
    }

    data class User(
        override val messageId: String,
        override val text: String,
        val attachments: List<Attachment> = emptyList(),
        override val isPinned: Boolean = false,
        override val isNewest: Boolean = false,
        val createdAt: Long = 0,
    ) : Written

    data class Reply(
        override val messageId: String,
        override val text: String,
        val thinking: String? = null,
        val model: String? = null,
        val usage: Usage? = null,
        val isInterrupted: Boolean = false,
        override val isPinned: Boolean = false,
        override val isNewest: Boolean = false,
        val createdAt: Long = 0,
    ) : Written

    /** A tool call together with its result. */
    data class Tool(
        override val key: String,
        val callId: String,
        val name: String,
        val arguments: String,
        val status: ToolStatus,
        val output: String? = null,
        val durationMs: Long? = null,
        val attachments: List<Attachment> = emptyList(),
    ) : ChatItem

    data class Failed(override val key: String, val text: String) : ChatItem

    data class Note(override val key: String, val text: String) : ChatItem

    /** A summary stands for everything above. */
    data object Boundary : ChatItem {
        override val key = "boundary"
    }
}

/**
 * The messages as rows: a call and its result become one row, replies without any text are left out, and a line is drawn
 * below what a summary stands for.
 */
fun itemsOf(messages: List<Message>): List<ChatItem> {
    val lastCovered = messages.indexOfLast { it.isCovered }
    val newest = newestQuestion(messages)
    val items = ArrayList<ChatItem>(messages.size + 1)
    // Services may use the name of a call again later: a result belongs to the latest call that has none.
    val unanswered = HashMap<String, Int>()
    messages.forEachIndexed { index, message ->
        when (val kind = message.kind) {
            is MessageKind.User -> items += userOf(message, kind, isNewest = index == newest)
            is MessageKind.Reply -> if (kind.isWorthARow) items += replyOf(message, kind, isNewest = index > newest)
            is MessageKind.ToolCall -> {
                unanswered[kind.callId] = items.size
                items += callOf(message, kind)
            }
            is MessageKind.ToolResult -> {
                val call = unanswered.remove(kind.callId)
                // Without one, the call lies on a page that is not loaded yet.
                if (call == null) items += callOf(message, kind) else items[call] = (items[call] as ChatItem.Tool).with(kind)
            }
            is MessageKind.Error -> items += ChatItem.Failed(message.id, kind.text)
            is MessageKind.System -> items += ChatItem.Note(message.id, kind.text)
        }
        if (index == lastCovered) items += ChatItem.Boundary
    }
    return items
}

/** Where the newest message of the user is; -1: before all of these. */
internal fun newestQuestion(messages: List<Message>): Int = messages.indexOfLast { it.kind is MessageKind.User }

internal fun ChatItem.Tool.with(result: MessageKind.ToolResult) = copy(
    status = result.status,
    output = result.output,
    durationMs = result.durationMs ?: durationMs,
    attachments = result.attachments,
)

private val MessageKind.Reply.isWorthARow: Boolean
    get() = text.isNotBlank() || !thinking.isNullOrBlank() || isInterrupted

private fun userOf(message: Message, kind: MessageKind.User, isNewest: Boolean) =
    ChatItem.User(message.id, kind.text, kind.attachments, message.isPinned, isNewest, message.createdAt)

private fun replyOf(message: Message, kind: MessageKind.Reply, isNewest: Boolean) = ChatItem.Reply(
    messageId = message.id,
    text = kind.text,
    thinking = kind.thinking?.takeIf { it.isNotBlank() },
    model = kind.model,
    usage = kind.usage,
    isInterrupted = kind.isInterrupted,
    isPinned = message.isPinned,
    isNewest = isNewest,
    createdAt = message.createdAt,
)

private fun callOf(message: Message, kind: MessageKind.ToolCall) =
    ChatItem.Tool(message.id, kind.callId, kind.name, kind.arguments, kind.status)

private fun callOf(message: Message, kind: MessageKind.ToolResult) =
    ChatItem.Tool(message.id, kind.callId, kind.name, arguments = "", kind.status).with(kind)
