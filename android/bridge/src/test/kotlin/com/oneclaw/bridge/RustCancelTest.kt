package com.oneclaw.bridge

import com.oneclaw.bridge.real.asked
import com.oneclaw.bridge.real.errors
import com.oneclaw.bridge.real.house
import com.oneclaw.bridge.real.replies
import com.oneclaw.bridge.real.text
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import java.util.Collections
import kotlin.random.Random
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.minutes

private const val SEED = 7
private const val SENDS = 80

class RustCancelTest {
    /**
     * Whenever a coroutine is cancelled: a message that was heard of is in the file, none is there twice, those heard of are in
     * order, and the conversation goes on. One that was given up before it was heard of may be stored a moment later.
     */
    @Test
    fun cancelledAtRandomMomentsTheFileStaysWhole() = house(2.minutes) {
        val random = Random(SEED)
        val heard = Collections.synchronizedSet(linkedSetOf<String>())
        val texts = List(SENDS) { if (it % 3 == 0) "Message $it: write 200 words." else "Message $it." }
        var core = open()
        val session = core.createSession().id
        for ((number, text) in texts.withIndex()) {
            coroutineScope {
                val sending = launch { core.send(session, text).collect { heard += text } }
                delay(random.nextLong(if (number % 2 == 0) 6 else 150))
                sending.cancel()
            }
            if (number % 20 == 19) {
                core.close()
                core = open()
            }
        }
        val last = core.send(session, "Remember: the port = 8080.").toList()
        assertEquals(emptyList(), last.errors())
        assertEquals("Noted: the port = 8080.", last.text())
        core.close()
        open().use {
            val stored = it.asked(session)
            val sent = texts + "Remember: the port = 8080."
            println("$SENDS sends: heard ${heard.size}, stored ${stored.size - 1}")
            assertEquals(sent.filter { text -> text in stored }, stored.sortedBy(sent::indexOf))
            assertEquals(sent.filter { text -> text in heard }, stored.filter { text -> text in heard })
            assertTrue(stored.containsAll(heard), "lost: ${heard - stored.toSet()}")
            assertEquals(stored.size, it.session(session).messageCount - it.replies(session).size)
            assertEquals("the port = 8080.", it.send(session, "What is the port?").toList().text())
        }
    }
}
