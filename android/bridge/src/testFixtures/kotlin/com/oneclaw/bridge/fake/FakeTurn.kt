package com.oneclaw.bridge.fake

import com.oneclaw.core.ChatEvent
import com.oneclaw.core.CompactReason
import com.oneclaw.core.ErrorCode
import com.oneclaw.core.MessageKind
import com.oneclaw.core.Parts
import com.oneclaw.core.Strategy
import com.oneclaw.core.ToolStatus
import com.oneclaw.core.Usage
import kotlinx.coroutines.channels.Channel

/**
 * One stream of events, played by a test: `turn.text("Hello").complete()`. What the core would store is stored.
 *
 * @property name what was asked for: send, regenerate, editAndResend, compact
 * @property detail the text sent, or the focus
 */
class FakeTurn internal constructor(
    val name: String,
    val sessionId: String,
    val detail: String,
    private val file: FakeFile,
) {
    internal val events = Channel<ChatEvent>(Channel.UNLIMITED)

    /** Nobody listens any more. */
    var isOver = false
        internal set

    private val text = StringBuilder()
    private val thinking = StringBuilder()
    private val arguments = mutableMapOf<String, StringBuilder>()
    private val names = mutableMapOf<String, String>()

    /** Any event, as it is; nothing is stored. */
    fun emit(event: ChatEvent): FakeTurn = apply { events.trySend(event) }

    fun text(delta: String): FakeTurn = apply {
        text.append(delta)
        emit(ChatEvent.StreamingText(delta))
    }

    fun think(delta: String): FakeTurn = apply {
        thinking.append(delta)
        emit(ChatEvent.ThinkingText(delta))
    }

    fun startTool(callId: String, tool: String, json: String = "{}"): FakeTurn = apply {
        names[callId] = tool
        arguments[callId] = StringBuilder(json)
        emit(ChatEvent.ToolCallStarted(callId, tool))
        emit(ChatEvent.ToolCallArgumentsDelta(callId, json))
    }

    fun endTool(callId: String, output: String, status: ToolStatus = ToolStatus.SUCCESS, ms: Long = 5): FakeTurn = apply {
        storeReply(isInterrupted = false)
        val tool = names.getValue(callId)
        file.add(sessionId, MessageKind.ToolCall(callId, tool, arguments.getValue(callId).toString(), status))
        file.add(sessionId, MessageKind.ToolResult(callId, tool, output, status, ms, emptyList()))
        emit(ChatEvent.ToolCallCompleted(callId, tool, status, ms))
    }

    fun round(number: Int): FakeTurn = emit(ChatEvent.ToolRoundStarting(number))

    fun usage(expected: Long, window: Long?): FakeTurn =
        emit(ChatEvent.ContextUsage(expected, expected, window, window?.let { it * 85 / 100 }, Parts(0, 0, 0, expected)))

    /** The reply is whole; the turn may go on with a compaction. */
    fun answer(usage: Usage? = null): FakeTurn = apply {
        val message = file.add(sessionId, MessageKind.Reply(text.toString(), thinkingText(), "fake", usage, false))
        text.clear()
        thinking.clear()
        emit(ChatEvent.ResponseComplete(message.id, usage))
    }

    fun startCompaction(reason: CompactReason = CompactReason.THRESHOLD, round: Int = 0): FakeTurn =
        emit(ChatEvent.CompactStarted(sessionId, reason, file.rows(sessionId).size, 1, round))

    fun endCompaction(
        didCompact: Boolean = true,
        fallback: Boolean = false,
        reason: CompactReason = CompactReason.THRESHOLD,
        round: Int = 0,
    ): FakeTurn = apply {
        val strategy = if (!didCompact) {
            null
        } else if (fallback) {
            Strategy.DIGEST
        } else {
            Strategy.PROSE
        }
        if (didCompact) file.compact(sessionId, strategy, reason, fallback, BEFORE, AFTER)
        val after = if (didCompact) AFTER else BEFORE
        emit(ChatEvent.CompactCompleted(didCompact, fallback, BEFORE, after, strategy, reason, round))
    }

    fun error(text: String, code: ErrorCode = ErrorCode.NETWORK, retryable: Boolean = true): FakeTurn = apply {
        storeReply(isInterrupted = true)
        file.add(sessionId, MessageKind.Error(text))
        emit(ChatEvent.Error(text, code, retryable))
    }

    fun finish() {
        emit(ChatEvent.Finished)
        events.close()
    }

    /** The reply is whole and nothing follows. */
    fun complete(usage: Usage? = null) {
        answer(usage)
        finish()
    }

    /** The stream itself breaks. */
    fun breakOff(error: Exception) {
        events.close(error)
    }

    internal fun stop() {
        storeReply(isInterrupted = true)
        finish()
    }

    private fun storeReply(isInterrupted: Boolean) {
        if (text.isEmpty() && thinking.isEmpty()) return
        file.add(sessionId, MessageKind.Reply(text.toString(), thinkingText(), "fake", null, isInterrupted))
        text.clear()
        thinking.clear()
    }

    private fun thinkingText() = thinking.toString().takeIf { it.isNotEmpty() }

    private companion object {
        const val BEFORE = 1_000L
        const val AFTER = 250L
    }
}
