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
 * Names the rows of tools, by their calls. A call has the same name while it is received and once it is stored, so that a row
 * that was unfolded stays so. A service may use the name of a call again: they are counted, from the first that is shown.
 */
internal class CallKeys(shown: List<ChatItem> = emptyList()) {
    private val uses = HashMap<String, Int>()

    init {
        for (item in shown) if (item is ChatItem.Tool) next(item.callId)
    }

    fun next(callId: String): String {
        val use = (uses[callId] ?: 0) + 1
        uses[callId] = use
        return "call-$callId-$use"
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
    val keys = CallKeys()
    messages.forEachIndexed { index, message ->
        when (val kind = message.kind) {
            is MessageKind.User -> items += userOf(message, kind, isNewest = index == newest)
            is MessageKind.Reply -> if (kind.isWorthARow) items += replyOf(message, kind, isNewest = index > newest)
            is MessageKind.ToolCall -> {
                unanswered[kind.callId] = items.size
                items += callOf(keys.next(kind.callId), kind)
            }
            is MessageKind.ToolResult -> {
                val call = unanswered.remove(kind.callId)
                // Without one, the call lies on a page that is not loaded yet.
                if (call == null) {
                    items += callOf(keys.next(kind.callId), kind)
                } else {
                    items[call] = (items[call] as ChatItem.Tool).with(kind)
                }
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
    ChatItem.User(message.id, kind.text, kind.attachments, message.isPinned, isNewest)

private fun replyOf(message: Message, kind: MessageKind.Reply, isNewest: Boolean) = ChatItem.Reply(
    messageId = message.id,
    text = kind.text,
    thinking = kind.thinking?.takeIf { it.isNotBlank() },
    model = kind.model,
    usage = kind.usage,
    isInterrupted = kind.isInterrupted,
    isPinned = message.isPinned,
    isNewest = isNewest,
)

private fun callOf(key: String, kind: MessageKind.ToolCall) =
    ChatItem.Tool(key, kind.callId, kind.name, kind.arguments, kind.status)

private fun callOf(key: String, kind: MessageKind.ToolResult) =
    ChatItem.Tool(key, kind.callId, kind.name, arguments = "", kind.status).with(kind)
