package com.oneclaw.bridge.real

import com.oneclaw.bridge.AppTool
import com.oneclaw.bridge.ChatRepository
import com.oneclaw.bridge.KeyEntry
import com.oneclaw.bridge.KeyStore
import com.oneclaw.bridge.RustChatRepository
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.HostTool
import com.oneclaw.core.Message
import com.oneclaw.core.MessageKind
import com.oneclaw.core.OpenConfig
import com.oneclaw.core.OutputShape
import com.oneclaw.core.ToolAnswer
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import java.nio.file.Path
import java.util.concurrent.ConcurrentHashMap
import kotlin.io.path.ExperimentalPathApi
import kotlin.io.path.createTempDirectory
import kotlin.io.path.deleteRecursively
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds

/** A folder of its own for the real core, and the keys that the core may ask for. */
class House(val folder: Path = createTempDirectory("oneclaw")) : KeyStore {
    private val keys = ConcurrentHashMap<String, KeyEntry>()

    fun config(isDemo: Boolean = true) = OpenConfig("$folder/oneclaw.db", "$folder/files", isDemo)

    suspend fun open(tools: List<AppTool> = emptyList(), isDemo: Boolean = true, keys: KeyStore = this): RustChatRepository =
        RustChatRepository.open(config(isDemo), keys, tools)

    override fun key(providerId: String, origin: String): String? = keys[providerId]?.takeIf { it.isFor(providerId, origin) }?.key

    override fun setKey(providerId: String, origin: String, key: String) {
        keys[providerId] = KeyEntry(origin, key)
    }

    override fun removeKey(providerId: String) {
        keys.remove(providerId)
    }
}

/** Runs a test in a house that is torn down afterwards. In real time, as the core has no other. */
@OptIn(ExperimentalPathApi::class)
fun house(limit: Duration = 60.seconds, block: suspend House.() -> Unit) = runBlocking(Dispatchers.Default) {
    val house = House()
    try {
        withTimeout(limit) { house.block() }
    } finally {
        house.folder.deleteRecursively()
    }
}

/** Runs a test with the real core and the demo service. */
fun demo(tools: List<AppTool> = emptyList(), block: suspend House.(RustChatRepository) -> Unit) =
    house { open(tools).use { block(it) } }

/** A tool of a test. */
class TestTool(name: String, timeoutMs: Long = 30_000, private val body: suspend (String) -> ToolAnswer) : AppTool {
    override val spec = HostTool(name, "A tool of a test.", """{"type":"object"}""", timeoutMs, false, OutputShape.GENERIC)

    override suspend fun run(argumentsJson: String): ToolAnswer = body(argumentsJson)
}

fun List<ChatEvent>.text(): String = filterIsInstance<ChatEvent.StreamingText>().joinToString("") { it.text }

fun List<ChatEvent>.errors(): List<ChatEvent.Error> = filterIsInstance<ChatEvent.Error>()

suspend fun ChatRepository.all(sessionId: String): List<Message> = messages(sessionId, limit = 10_000).messages

suspend fun ChatRepository.asked(sessionId: String): List<String> =
    all(sessionId).mapNotNull { (it.kind as? MessageKind.User)?.text }

suspend fun ChatRepository.replies(sessionId: String): List<MessageKind.Reply> =
    all(sessionId).mapNotNull { it.kind as? MessageKind.Reply }
