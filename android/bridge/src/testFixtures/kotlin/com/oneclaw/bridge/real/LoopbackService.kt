package com.oneclaw.bridge.real

import com.oneclaw.bridge.ChatRepository
import com.oneclaw.core.Model
import com.oneclaw.core.ModelRef
import com.oneclaw.core.Provider
import com.oneclaw.core.ProviderKind
import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import java.net.InetAddress
import java.net.InetSocketAddress
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.Executors

/** A service on the loopback address that says, in OpenAI's protocol, exactly what the test writes: delta by delta. */
class LoopbackService(private val status: Int = 200, private val answer: (Stream) -> Unit) : AutoCloseable {
    private val threads = Executors.newCachedThreadPool()
    private val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0)

    /** The `Authorization` of each request. */
    val keys = CopyOnWriteArrayList<String?>()

    init {
        server.executor = threads
        server.createContext("/v1") { it.use(::reply) }
        server.start()
    }

    private fun reply(exchange: HttpExchange) {
        val request = exchange.requestBody.readAllBytes().decodeToString()
        keys += exchange.requestHeaders.getFirst("Authorization")
        exchange.responseHeaders["Content-Type"] = listOf("text/event-stream")
        exchange.sendResponseHeaders(status, 0)
        answer(Stream(exchange, request))
    }

    /** Lets a new session speak to this service. Its title is set, so that no title is asked for. */
    suspend fun session(repository: ChatRepository): String {
        val url = "http://127.0.0.1:${server.address.port}/v1"
        repository.saveProvider(Provider("loopback", "Loopback", ProviderKind.OPEN_AI, url, isActive = true, isPreset = false))
        repository.saveModel(Model("loopback", "m", "M", window = 1_000_000, maxOutput = 200_000, isDefault = false, isPreset = false))
        val session = repository.createSession(model = ModelRef("loopback", "m"))
        repository.renameSession(session.id, "Loopback")
        return session.id
    }

    override fun close() {
        server.stop(0)
        threads.shutdownNow()
    }

    /** One answer, to the JSON of one [request]. */
    class Stream(private val exchange: HttpExchange, val request: String) {
        /** Says one delta; [text] needs no escapes. */
        fun text(text: String) = event("""{"choices":[{"index":0,"delta":{"content":"$text"}}]}""")

        fun end() {
            event("""{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}""")
            event("[DONE]")
        }

        private fun event(data: String) {
            exchange.responseBody.write("data: $data\n\n".toByteArray())
            exchange.responseBody.flush()
        }
    }
}
