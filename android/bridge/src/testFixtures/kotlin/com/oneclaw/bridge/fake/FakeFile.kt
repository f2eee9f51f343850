package com.oneclaw.bridge.fake

import com.oneclaw.core.Attachment
import com.oneclaw.core.AttachmentContent
import com.oneclaw.core.CompactReason
import com.oneclaw.core.ContextStatus
import com.oneclaw.core.CoreException
import com.oneclaw.core.EpochInfo
import com.oneclaw.core.Message
import com.oneclaw.core.MessageKind
import com.oneclaw.core.MessagePage
import com.oneclaw.core.ModelRef
import com.oneclaw.core.Parts
import com.oneclaw.core.Session
import com.oneclaw.core.SessionPage
import com.oneclaw.core.Shelf
import com.oneclaw.core.Strategy
import java.util.Base64

private const val PREVIEW_LENGTH = 100
private const val CHARS_PER_TOKEN = 4
private const val DEFAULT_AGENT = "agent-general-assistant"

/** The conversations of [FakeChatRepository], in memory. Each change is one tick of its clock. */
class FakeFile {
    val sessions = mutableListOf<Session>()
    private val rows = mutableMapOf<String, MutableList<Message>>()
    private val epochs = mutableMapOf<String, MutableList<EpochInfo>>()
    private val coverage = mutableMapOf<String, MutableList<Int>>()
    private val contents = mutableMapOf<Pair<String, Int>, String>()
    private var ticks = 0L

    /** Puts a conversation there, as if it had been for long. */
    fun add(session: Session, messages: List<Message> = emptyList()) {
        sessions += session
        rows[session.id] = messages.toMutableList()
    }

    fun rows(sessionId: String): List<Message> = rows[sessionId].orEmpty()

    fun session(id: String): Session = sessions.find { it.id == id } ?: throw CoreException.NotFound("session $id")

    fun create(agentId: String?, model: ModelRef?): Session {
        val at = ++ticks
        val session = Session(
            id = "new-$at",
            title = "",
            agentId = agentId ?: DEFAULT_AGENT,
            model = model,
            messageCount = 0,
            preview = null,
            updatedAt = at,
            createdAt = at,
            isDeleted = false,
        )
        add(session)
        return session
    }

    fun change(id: String, change: (Session) -> Session) {
        val session = session(id)
        sessions[sessions.indexOf(session)] = change(session)
    }

    fun purge(id: String) {
        sessions.remove(session(id))
        rows.remove(id)
    }

    fun page(search: String, shelf: Shelf, cursor: String?, limit: Int): SessionPage {
        val found = sessions
            .filter { it.isDeleted == (shelf == Shelf.DELETED) }
            .filter { it.title.contains(search, ignoreCase = true) || it.preview?.contains(search, ignoreCase = true) == true }
            .sortedByDescending { it.updatedAt }
        val from = cursor?.toInt() ?: 0
        val until = minOf(found.size, from + limit)
        return SessionPage(found.subList(minOf(from, until), until), until.toString().takeIf { until < found.size })
    }

    fun messages(id: String, before: String?, limit: Int): MessagePage {
        session(id)
        val all = rows(id)
        val until = before?.toInt() ?: all.size
        val from = maxOf(0, until - limit)
        return MessagePage(all.subList(from, until).toList(), from.toString().takeIf { from > 0 })
    }

    /** Lets a message that was put there have bytes for what is attached to it. */
    fun attach(messageId: String, nth: Int, data: String) {
        contents[messageId to nth] = data
    }

    fun attachment(messageId: String, nth: Int): ByteArray = Base64.getDecoder().decode(dataOf(messageId, nth))

    private fun dataOf(messageId: String, nth: Int) =
        contents[messageId to nth] ?: throw CoreException.NotFound("attachment $nth of message $messageId")

    /** What is attached to another message, as something new. */
    fun copyOf(attachment: Attachment): Attachment = when (val content = attachment.content) {
        is AttachmentContent.New -> attachment
        is AttachmentContent.Stored ->
            attachment.copy(content = AttachmentContent.New(dataOf(content.messageId, content.nth)))
    }

    fun addUser(id: String, text: String, attachments: List<Attachment>) {
        val messageId = "row-${ticks + 1}"
        val stored = attachments.map(::copyOf).mapIndexed { nth, attachment ->
            val data = (attachment.content as AttachmentContent.New).data
            attach(messageId, nth, data)
            attachment.copy(content = AttachmentContent.Stored(messageId, nth, data.length / 4L * 3))
        }
        add(id, MessageKind.User(text, stored), messageId)
        change(id) { if (it.title.isEmpty()) it.copy(title = text.take(PREVIEW_LENGTH)) else it }
    }

    fun add(id: String, kind: MessageKind, messageId: String? = null): Message {
        val at = ++ticks
        val message = Message(messageId ?: "row-$at", kind, at, isPinned = false, isCovered = false)
        rows.getValue(id) += message
        val text = (kind as? MessageKind.User)?.text ?: (kind as? MessageKind.Reply)?.text
        change(id) {
            it.copy(messageCount = it.messageCount + 1, updatedAt = at, preview = text?.take(PREVIEW_LENGTH) ?: it.preview)
        }
        return message
    }

    fun changeMessage(id: String, messageId: String, change: (Message) -> Message) {
        val list = rows.getValue(id)
        val at = list.indexOfFirst { it.id == messageId }
        if (at < 0) throw CoreException.NotFound("message $messageId")
        list[at] = change(list[at])
    }

    fun forgetFrom(id: String, messageId: String) {
        val list = rows.getValue(id)
        val at = list.indexOfFirst { it.id == messageId }
        if (at < 0) throw CoreException.NotFound("message $messageId")
        val gone = list.subList(at, list.size)
        contents.keys.removeAll { (owner, _) -> gone.any { it.id == owner } }
        gone.clear()
    }

    fun forgetAnswer(id: String) {
        val list = rows.getValue(id)
        val asked = list.indexOfLast { it.kind is MessageKind.User }
        list.subList(asked + 1, list.size).clear()
    }

    /** A compaction of everything but the last row. */
    fun compact(id: String, strategy: Strategy?, reason: CompactReason, isFallback: Boolean, before: Long, after: Long) {
        val list = epochs.getOrPut(id) { mutableListOf() }
        val covered = maxOf(0, rows(id).size - 1)
        coverage.getOrPut(id) { mutableListOf() } += covered
        list += EpochInfo(
            number = list.size + 1,
            createdAt = ++ticks,
            strategy = strategy,
            reason = reason,
            model = "fake".takeUnless { isFallback },
            messages = covered,
            tokensBefore = before,
            tokensAfter = after,
            summary = "Summary ${list.size + 1}",
            isFallback = isFallback,
        )
        cover(id)
    }

    /** Whether there was one to undo. */
    fun undo(id: String): Boolean {
        val undone = epochs[id]?.removeLastOrNull()
        coverage[id]?.removeLastOrNull()
        cover(id)
        return undone != null
    }

    fun reset(id: String) {
        epochs.remove(id)
        coverage.remove(id)
        cover(id)
    }

    private fun cover(id: String) {
        val covered = coverage[id]?.lastOrNull() ?: 0
        val list = rows.getValue(id)
        list.indices.forEach { list[it] = list[it].copy(isCovered = it < covered) }
    }

    fun status(id: String, window: Long?): ContextStatus {
        session(id)
        val kept = rows(id).filterNot { it.isCovered }
        val size = kept.sumOf { it.kind.toString().length / CHARS_PER_TOKEN }.toLong()
        return ContextStatus(
            expected = size,
            upper = size + size / CHARS_PER_TOKEN,
            window = window,
            hardLimit = window?.let { it * 3 / 4 },
            trigger = window?.let { it * 85 / 100 },
            parts = Parts(0, 0, 0, size),
            summary = epochs[id]?.lastOrNull()?.summary,
            epochs = epochs[id].orEmpty().toList(),
            pins = rows(id).filter { it.isPinned },
        )
    }
}
