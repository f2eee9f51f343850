package com.oneclaw.bridge

import com.oneclaw.bridge.real.all
import com.oneclaw.bridge.real.demo
import com.oneclaw.bridge.real.errors
import com.oneclaw.bridge.real.text
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.CompactReason
import com.oneclaw.core.CoreException
import com.oneclaw.core.Decision
import kotlinx.coroutines.flow.toList
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import kotlin.test.assertIs
import kotlin.test.assertNull
import kotlin.test.assertTrue

class RustContextTest {
    private val long = "gravel road ".repeat(300)

    @Test
    fun compactionsByHandUndoAndReset() = demo { core ->
        val session = core.createSession().id
        core.send(session, "Remember: the port = 8080.").toList()
        repeat(6) { core.send(session, "Note $it: $long").toList() }
        val before = core.contextStatus(session)
        val events = core.compact(session, "the port").toList()
        val started = assertIs<ChatEvent.CompactStarted>(events.first { it is ChatEvent.CompactStarted })
        val completed = assertIs<ChatEvent.CompactCompleted>(events.first { it is ChatEvent.CompactCompleted })
        assertEquals(ChatEvent.Finished, events.last())
        assertEquals(CompactReason.MANUAL, started.reason)
        assertTrue(completed.didCompact && !completed.fallback)
        assertTrue(completed.tokensAfter < completed.tokensBefore)

        val after = core.contextStatus(session)
        assertTrue(after.expected < before.expected)
        assertEquals(1, after.epochs.size)
        assertTrue(core.all(session).first().isCovered)
        val asked = core.send(session, "What is the port?").toList()
        assertEquals(emptyList(), asked.errors())
        assertTrue("8080" in asked.text(), asked.text())

        assertTrue(core.undoCompaction(session))
        assertFalse(core.undoCompaction(session), "there was only one")
        assertEquals(0, core.contextStatus(session).epochs.size)
        assertTrue(core.all(session).none { it.isCovered })
        core.compact(session).toList()
        core.resetCompactions(session)
        assertNull(core.contextStatus(session).summary)
    }

    @Test
    fun pins() = demo { core ->
        val session = core.createSession().id
        core.send(session, "Remember: the port = 8080.").toList()
        val first = core.all(session).first().id
        core.pin(session, first)
        assertEquals(listOf(first), core.contextStatus(session).pins.map { it.id })
        core.unpin(session, first)
        assertEquals(emptyList(), core.contextStatus(session).pins)
        assertFailsWith<CoreException.NotFound> { core.pin(session, "nobody") }
        core.send(session, "A long one: ${long.repeat(8)}").toList()
        assertEquals("pin", assertFailsWith<CoreException.Invalid> { core.pin(session, core.all(session)[2].id) }.field)
    }

    @Test
    fun theNextRequestAndItsSize() = demo { core ->
        val session = core.createSession().id
        core.send(session, "Hello").toList()
        val preview = core.previewRequest(session)
        assertEquals(Decision.SEND, preview.decision)
        assertEquals(listOf("Hello"), preview.request.messages.take(1).map { it.content })
        val status = core.contextStatus(session)
        assertEquals(preview.window, status.window)
        assertEquals(16_000, status.window)
        // Parts are estimated, the whole is corrected by what the service has counted.
        val parts = status.parts.run { system + tools + summary + messages }
        assertTrue(parts in status.expected * 8 / 10..status.upper, "$parts of ${status.expected} to ${status.upper}")
    }

    @Test
    fun aFullWindowIsCompactedWithoutBeingAsked() = demo { core ->
        val session = core.createSession().id
        core.send(session, "Remember: the port = 8080.").toList()
        val heard = mutableListOf<ChatEvent>()
        for (number in 0 until 20) {
            heard += core.send(session, "Note $number: $long").toList()
            if (heard.any { it is ChatEvent.CompactCompleted }) break
        }
        assertEquals(emptyList(), heard.errors())
        val completed = assertIs<ChatEvent.CompactCompleted>(heard.first { it is ChatEvent.CompactCompleted })
        assertTrue(completed.didCompact, "$completed")
        assertTrue("8080" in core.send(session, "What is the port?").toList().text())
    }
}
