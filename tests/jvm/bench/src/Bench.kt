package com.oneclaw.bench

import com.oneclaw.bridge.ChatRepository
import com.oneclaw.bridge.real.House
import com.oneclaw.bridge.real.LoopbackService
import com.oneclaw.core.Attachment
import com.oneclaw.core.AttachmentContent
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.estimateSimple
import com.oneclaw.core.truncateHead
import com.sun.management.OperatingSystemMXBean
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import java.lang.management.ManagementFactory
import java.time.Duration
import java.util.Base64
import kotlin.system.exitProcess

private const val ROUNDS = 5
private const val DELTAS = 20_000
private const val PICTURE_BYTES = 100 * 1_024

/** What crossing the border between Kotlin and Rust costs, as a table. Times are of this machine; nothing is asserted. */
fun main() {
    val house = House()
    runBlocking {
        house.open().use { core ->
            println("%-34s %12s".format("what", "per call"))
            val call = row("call with an empty text", 20_000) { estimateSimple("") }
            val text = "x".repeat(1_024)
            val kilobyte = row("1 KB text there and back", 20_000) { truncateHead(text, 2_048) }
            ratio("1 KB text there and back / empty call", kilobyte, call)
            val empty = core.createSession().id
            row("question to the file", 1_000) { core.session(empty) }
            LoopbackService {
                it.text("word ".repeat(100))
                it.end()
            }.use { service ->
                val session = service.session(core)
                repeat(25) { core.send(session, "Message $it").toList() }
                val page = row("page of 50 messages", 300) { check(core.messages(session, limit = 50).messages.size == 50) }
                ratio("page of 50 messages with 25 pictures / without", pictures(core, service.session(core)), page)
            }
            streamed(core, what = null, DELTAS, pause = null)
            streamed(core, "streamed deltas, unbraked", DELTAS, pause = null)
            streamed(core, "streamed deltas, one in 2 ms", DELTAS / 10, Duration.ofMillis(2))
        }
    }
    house.folder.toFile().deleteRecursively()
    exitProcess(0)
}

/** A page describes its pictures, so that it costs about the same; each is read by itself. */
private suspend fun pictures(core: ChatRepository, session: String): Double {
    val data = Base64.getEncoder().encodeToString(ByteArray(PICTURE_BYTES))
    val picture = Attachment("image/png", "picture.png", 640, 480, AttachmentContent.New(data))
    repeat(25) { core.send(session, "Message $it", listOf(picture)).toList() }
    val page = row("  with 25 pictures of 100 KB", 300) { check(core.messages(session, limit = 50).messages.size == 50) }
    val message = core.messages(session, limit = 50).messages.first().id
    row("picture of 100 KB", 300) { check(core.attachment(message, 0).size == PICTURE_BYTES) }
    return page
}

/** A line as the benchmarks of the core print it; `scripts/bench` makes a table of them. */
private fun ratio(what: String, one: Double, other: Double) {
    println("ratio $what = %.2f (%.1f µs / %.1f µs)".format(one / other, one, other))
}

/** The fastest of some rounds: the others were disturbed. */
private suspend fun row(what: String, calls: Int, call: suspend () -> Unit): Double {
    val rounds = List(ROUNDS) {
        val start = System.nanoTime()
        repeat(calls) { call() }
        (System.nanoTime() - start) / 1e3 / calls
    }
    println("%-34s %9.1f µs".format(what, rounds.min()))
    return rounds.min()
}

/** A long reply, as fast as it comes or with a [pause] after each delta. Without a name it is only a warm-up. */
private suspend fun streamed(core: ChatRepository, what: String?, deltas: Int, pause: Duration?) {
    val system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean::class.java)
    val service = LoopbackService { stream ->
        repeat(deltas) {
            stream.text("delta $it ")
            if (pause != null) Thread.sleep(pause.toMillis())
        }
        stream.end()
    }
    service.use {
        val session = it.session(core)
        val (cpu, start) = system.processCpuTime to System.nanoTime()
        val events = core.send(session, "Count").toList()
        val seconds = (System.nanoTime() - start) / 1e9
        val share = (system.processCpuTime - cpu) / 1e7 / seconds
        val calls = events.count { event -> event is ChatEvent.StreamingText }
        if (what == null) return
        println("%-34s %9.0f /s".format(what, deltas / seconds))
        println("%-34s %9.1f".format("  deltas per callback", deltas.toDouble() / calls))
        println("%-34s %9.0f %%".format("  of one core, with the service", share))
    }
}
