package com.oneclaw.shadow

import com.oneclaw.bridge.ChatRepository
import com.oneclaw.core.Model
import com.oneclaw.core.ModelRef
import com.oneclaw.core.Provider
import com.oneclaw.core.ProviderKind
import java.io.InputStream
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import java.net.SocketException
import java.util.concurrent.CountDownLatch
import kotlin.concurrent.thread

/** A service on this device that says [text] to everything, in OpenAI's protocol; after [hold] only when the test lets it. */
internal class HeldService(private val text: String) : AutoCloseable {
    private val server = ServerSocket(0, 0, InetAddress.getByName("127.0.0.1"))

    @Volatile
    private var gate = CountDownLatch(0)

    init {
        thread(isDaemon = true) { serve() }
    }

    fun hold() {
        gate = CountDownLatch(1)
    }

    fun release() = gate.countDown()

    /** A session with this service, and a window that four long messages nearly fill. */
    suspend fun session(repository: ChatRepository): String {
        val url = "http://127.0.0.1:${server.localPort}/v1"
        repository.saveProvider(Provider("held", "Held", ProviderKind.OPEN_AI, url, isActive = true, isPreset = false))
        repository.saveModel(Model("held", "m", "M", window = 16_000, maxOutput = 2_000, isDefault = false, isPreset = false))
        val session = repository.createSession(model = ModelRef("held", "m"))
        // With a title of its own, so that none is asked for.
        repository.renameSession(session.id, "Held")
        return session.id
    }

    override fun close() {
        release()
        server.close()
    }

    private fun serve() {
        try {
            while (true) server.accept().let { thread(isDaemon = true) { it.use(::answer) } }
        } catch (_: SocketException) {
            // Closed.
        }
    }

    private fun answer(socket: Socket) {
        skipRequest(socket.getInputStream().buffered())
        gate.await()
        val events = listOf(
            """{"choices":[{"index":0,"delta":{"content":"$text"}}]}""",
            """{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}""",
            "[DONE]",
        )
        val head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        socket.getOutputStream().write((head + events.joinToString("") { "data: $it\n\n" }).toByteArray())
    }

    private fun skipRequest(input: InputStream) {
        val head = StringBuilder()
        while (!head.endsWith("\r\n\r\n")) head.append(input.read().also { check(it >= 0) }.toChar())
        val length = head.lines().first { it.startsWith("content-length:", ignoreCase = true) }.substringAfter(':').trim().toInt()
        repeat(length) { check(input.read() >= 0) }
    }
}
