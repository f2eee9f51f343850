package com.oneclaw.bridge

import com.oneclaw.bridge.real.LoopbackService
import com.oneclaw.bridge.real.house
import com.oneclaw.bridge.real.replies
import com.oneclaw.bridge.real.text
import com.oneclaw.core.ChatEvent
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.toList
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue
import kotlin.time.TimeSource

private const val DELTAS = 10_000

class RustStreamTest {
    private val expected = (0 until DELTAS).joinToString("") { "$it " }

    private fun service() = LoopbackService { stream ->
        repeat(DELTAS) { stream.text("$it ") }
        stream.end()
    }

    @Test
    fun noDeltaIsLostAndCallsAreFew() = house {
        service().use { service ->
            open().use { core ->
                val session = service.session(core)
                val start = TimeSource.Monotonic.markNow()
                val events = core.send(session, "Count.").toList()
                val pieces = events.filterIsInstance<ChatEvent.StreamingText>()
                println("$DELTAS deltas: ${pieces.size} calls in ${start.elapsedNow()}")
                assertEquals(expected, events.text())
                assertEquals(expected, core.replies(session).single().text)
                assertTrue(pieces.size <= DELTAS / 10, "${pieces.size} calls")
            }
        }
    }

    @Test
    fun aSlowCollectorLosesNothing() = house {
        service().use { service ->
            open().use { core ->
                val events = core.send(service.session(core), "Count.").onEach { delay(2) }.toList()
                assertEquals(expected, events.text())
            }
        }
    }
}
