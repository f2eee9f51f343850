package com.oneclaw.bridge

import com.oneclaw.bridge.real.House
import com.oneclaw.bridge.real.house
import com.oneclaw.core.ChatEvent
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.first
import java.io.File
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.minutes

class RustLeakTest {
    /** What the process holds, once what can go is gone. */
    private suspend fun held(): List<Long> {
        repeat(3) {
            System.gc()
            delay(50)
        }
        val runtime = Runtime.getRuntime()
        val threads = File("/proc/self/task").list().orEmpty().size
        val files = File("/proc/self/fd").list().orEmpty().size
        val resident = File("/proc/self/status").readLines().first { it.startsWith("VmRSS") }.filter(Char::isDigit).toLong()
        return listOf(threads.toLong(), files.toLong(), (runtime.totalMemory() - runtime.freeMemory()) / 1024, resident)
    }

    private suspend fun House.visit(number: Int) {
        open().use { core ->
            val session = core.createSession().id
            core.send(session, "Visit $number.").first { it is ChatEvent.StreamingText }
        }
    }

    @Test
    fun twoHundredTimesOpenedAndClosed() = house(3.minutes) {
        repeat(20) { visit(it) }
        val (threads, files, heap, resident) = held()
        repeat(200) { visit(it + 20) }
        val (threadsNow, filesNow, heapNow, residentNow) = held()
        println("200 visits: threads $threads -> $threadsNow, files $files -> $filesNow, heap $heap -> $heapNow KB, resident $resident -> $residentNow KB")
        assertTrue(threadsNow <= threads + 8, "threads $threads -> $threadsNow")
        assertTrue(filesNow <= files + 4, "files $files -> $filesNow")
        assertTrue(heapNow <= heap + 8 * 1024, "heap $heap -> $heapNow KB")
        // Also what the core itself holds: 200 files left open would be far more.
        assertTrue(residentNow <= resident + 64 * 1024, "resident $resident -> $residentNow KB")
        open().use { assertEquals(30, it.sessions(limit = 30).sessions.size) }
    }
}
