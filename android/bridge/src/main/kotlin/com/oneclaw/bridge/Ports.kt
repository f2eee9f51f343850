package com.oneclaw.bridge

import com.oneclaw.core.ChatEvent
import com.oneclaw.core.ChatListener
import com.oneclaw.core.CoreException
import com.oneclaw.core.HostTool
import com.oneclaw.core.KeyVault
import com.oneclaw.core.ToolAnswer
import com.oneclaw.core.ToolHost
import kotlinx.coroutines.channels.ProducerScope
import kotlin.coroutines.cancellation.CancellationException

// The generated code lets only `Exception` through to the core; an `Error` (`TODO()`, a failed assertion) would be lost on
// the way, and the core would wait or believe that all is well. So everything is caught here.

/** A tool of the app, which models may call. */
interface AppTool {
    /** What models are told about it. */
    val spec: HostTool

    /** Does the work. Cancelled when the user stops the answer or the tool's time is over; what it throws, the model is told. */
    suspend fun run(argumentsJson: String): ToolAnswer
}

/** Sends what the core says into a flow, which ends with [ChatEvent.Finished]. */
internal class Listener(private val flow: ProducerScope<ChatEvent>) : ChatListener {
    override fun onEvent(event: ChatEvent) {
        try {
            flow.trySend(event)
            if (event is ChatEvent.Finished) flow.close()
        } catch (error: Throwable) {
            flow.close(error)
        }
    }
}

/** Lets the core look up keys. An error says only of which kind it is: its text might hold the key. */
internal class Vault(private val keys: KeyStore) : KeyVault {
    override fun key(providerId: String, origin: String): String? = try {
        keys.key(providerId, origin)
    } catch (error: Throwable) {
        throw CoreException.Internal("the key store failed: ${error::class.java.simpleName}")
    }
}

/** Lets the core call the app's tools, which are described once: here, where a mistake reaches the one who made it. */
internal class Tools(tools: List<AppTool>) : ToolHost {
    private val specs = tools.map { it.spec }
    private val byName = specs.map { it.name }.zip(tools).toMap()

    override fun tools(): List<HostTool> = specs

    override suspend fun run(name: String, argumentsJson: String): ToolAnswer = try {
        byName.getValue(name).run(argumentsJson)
    } catch (cancelled: CancellationException) {
        throw cancelled
    } catch (error: Throwable) {
        throw CoreException.Internal("${error::class.java.simpleName}: ${error.message}")
    }
}
