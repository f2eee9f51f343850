package com.oneclaw.bridge

import com.oneclaw.bridge.real.House
import com.oneclaw.bridge.real.LoopbackService
import com.oneclaw.bridge.real.TestTool
import com.oneclaw.bridge.real.all
import com.oneclaw.bridge.real.asked
import com.oneclaw.bridge.real.errors
import com.oneclaw.bridge.real.house
import com.oneclaw.bridge.real.text
import com.oneclaw.core.MessageKind
import com.oneclaw.core.PolicySettings
import com.oneclaw.core.Preset
import com.oneclaw.core.ToolAnswer
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import java.io.IOException
import java.util.Collections
import java.util.concurrent.CountDownLatch
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit.SECONDS
import kotlin.coroutines.CoroutineContext
import kotlin.random.Random
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.minutes

private val SEEDS = listOf(7, 20260228, 4711)
private const val CHECKS = "PRAGMA integrity_check; PRAGMA foreign_key_check;"
private const val SENDS = 40

class RustCancelTest {
    /**
     * Whenever a coroutine is cancelled: a message that was heard of is in the file, none is there twice, those heard of are in
     * order, every call has its result, and the conversation goes on. One that was given up before it was heard of may be stored
     * a moment later. Tools are called, and the threshold is so low that most of it happens beside a compaction.
     */
    @Test
    fun cancelledAtRandomMomentsTheFileStaysWhole() {
        val seen = SEEDS.map { seed ->
            var seen = Seen()
            house(2.minutes) { seen = cancelAtRandom(Random(seed)) }
            seen
        }
        println("$SENDS sends each: $seen")
        assertTrue(seen.sumOf { it.tools } > 0, "no tool was called")
        assertTrue(seen.sumOf { it.compactions } > 0, "nothing was compacted")
    }

    private data class Seen(val heard: Int = 0, val stored: Int = 0, val tools: Int = 0, val compactions: Int = 0)

    private suspend fun House.cancelAtRandom(random: Random): Seen {
        val heard = Collections.synchronizedSet(linkedSetOf<String>())
        val texts = List(SENDS) {
            when (it % 3) {
                0 -> "Message $it: write 200 words."
                1 -> "Message $it: use slow_tool."
                else -> "Message $it."
            }
        }
        val tool = TestTool("slow_tool") {
            delay(20)
            ToolAnswer("done", false, emptyList())
        }
        var core = open(listOf(tool))
        core.savePolicy(PolicySettings(Preset.ONE_CLAW, mapOf("threshold" to "0.15"), auto = true, prune = true, summaryModel = null))
        val session = core.createSession().id
        for ((number, text) in texts.withIndex()) {
            coroutineScope {
                val sending = launch { core.send(session, text).collect { heard += text } }
                delay(random.nextLong(if (number % 2 == 0) 6 else 250))
                sending.cancel()
            }
            if (number % 10 == 9) {
                // Now and then one is answered to its end, so that there is something to compact.
                core.send(session, "Go on: write 900 words.").collect()
                core.close()
                check(folder.resolve("oneclaw.db").toString())
                core = open(listOf(tool))
            }
        }
        val last = core.send(session, "Remember: the port = 8080.").toList()
        assertEquals(emptyList(), last.errors())
        assertEquals("Noted: the port = 8080.", last.text())
        core.close()
        check(folder.resolve("oneclaw.db").toString())
        return open().use { again ->
            val rows = again.all(session)
            val stored = again.asked(session).filterNot { it.startsWith("Go on") }
            val sent = texts + "Remember: the port = 8080."
            assertEquals(sent.filter { text -> text in stored }, stored.sortedBy(sent::indexOf))
            assertEquals(sent.filter { text -> text in heard }, stored.filter { text -> text in heard })
            assertTrue(stored.containsAll(heard), "lost: ${heard - stored.toSet()}")
            assertEquals(rows.size, again.session(session).messageCount)
            val calls = rows.mapNotNull { (it.kind as? MessageKind.ToolCall)?.callId }
            assertEquals(calls.sorted(), rows.mapNotNull { (it.kind as? MessageKind.ToolResult)?.callId }.sorted())
            assertEquals("the port = 8080.", again.send(session, "What is the port?").toList().text())
            Seen(heard.size, stored.size - 1, calls.size, again.contextStatus(session).epochs.size)
        }
    }

    /** What SQLite itself says about a file that is closed, or just being closed. */
    private fun check(file: String) {
        val sqlite = ProcessBuilder("sqlite3", "-cmd", ".timeout 30000", file, CHECKS).redirectErrorStream(true).start()
        assertEquals("ok", sqlite.inputStream.reader().readText().trim())
        assertEquals(0, sqlite.waitFor())
    }

    /** The call has been answered, but its answer never reaches the one who was cancelled meanwhile. */
    @Test
    fun cancelledOnTheWayBackTheRunEnds() = house {
        val broken = CountDownLatch(1)
        val endless = LoopbackService { stream ->
            try {
                while (true) {
                    stream.text("and ")
                    Thread.sleep(20)
                }
            } catch (_: IOException) {
                broken.countDown()
            }
        }
        endless.use { service ->
            open().use { core ->
                val session = service.session(core)
                val held = Held()
                coroutineScope {
                    val sending = launch(held) { core.send(session, "Hello").collect() }
                    held.runAll()
                    held.await()
                    while (service.keys.isEmpty()) delay(1)
                    sending.cancel()
                    while (!sending.isCompleted) {
                        held.runAll()
                        delay(1)
                    }
                }
                assertEquals(listOf("Hello"), core.asked(session))
                assertTrue(broken.await(10, SECONDS), "the reply goes on, and nobody hears it")
            }
        }
    }

    /** Runs what it is given only when told to. */
    private class Held : CoroutineDispatcher() {
        private val tasks = LinkedBlockingQueue<Runnable>()

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            tasks += block
        }

        fun runAll() = generateSequence { tasks.poll() }.forEach { it.run() }

        /** Waits until there is something to run. */
        suspend fun await() {
            while (tasks.isEmpty()) delay(1)
        }
    }
}
