package com.oneclaw.bridge

import com.oneclaw.core.AgentProfile
import com.oneclaw.core.Attachment
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.ChatListener
import com.oneclaw.core.CoreException
import com.oneclaw.core.Model
import com.oneclaw.core.ModelRef
import com.oneclaw.core.OneClaw
import com.oneclaw.core.OpenConfig
import com.oneclaw.core.PolicySettings
import com.oneclaw.core.Provider
import com.oneclaw.core.RunHandle
import com.oneclaw.core.Shelf
import com.oneclaw.core.originOf
import com.oneclaw.core.startRust
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.awaitClose
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.callbackFlow
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/** The core as the app sees it. Hands on calls and answers, and decides nothing. */
class RustChatRepository private constructor(private val core: OneClaw, private val keys: KeyStore) : ChatRepository {
    private val closing = ReentrantLock()

    override suspend fun sessions(search: String, shelf: Shelf, cursor: String?, limit: Int) =
        ask { sessions(search, shelf, cursor, limit) }

    override suspend fun session(sessionId: String) = ask { session(sessionId) }

    override suspend fun createSession(agentId: String?, model: ModelRef?) = ask { createSession(agentId, model) }

    override suspend fun renameSession(sessionId: String, title: String) = ask { renameSession(sessionId, title) }

    override suspend fun deleteSession(sessionId: String) = ask { deleteSession(sessionId) }

    override suspend fun restoreSession(sessionId: String) = ask { restoreSession(sessionId) }

    override suspend fun purgeSession(sessionId: String) = ask { purgeSession(sessionId) }

    override suspend fun setSessionModel(sessionId: String, model: ModelRef) = ask { setSessionModel(sessionId, model) }

    override suspend fun setSessionAgent(sessionId: String, agentId: String) = ask { setSessionAgent(sessionId, agentId) }

    override suspend fun messages(sessionId: String, before: String?, limit: Int) = ask { messages(sessionId, before, limit) }

    override suspend fun attachment(messageId: String, nth: Int) = ask { attachment(messageId, nth) }

    override fun send(sessionId: String, text: String, attachments: List<Attachment>) =
        run { send(sessionId, text, attachments, it) }

    override fun regenerate(sessionId: String) = run { regenerate(sessionId, it) }

    override fun editAndResend(sessionId: String, messageId: String, text: String, attachments: List<Attachment>) =
        run { editAndResend(sessionId, messageId, text, attachments, it) }

    override fun compact(sessionId: String, focus: String) = run { compact(sessionId, focus, it) }

    override suspend fun interruptedCompactions() = ask { interruptedCompactions() }

    override fun resume(sessionId: String) = run { resume(sessionId, it) }

    override suspend fun stop(sessionId: String) = ask { stop(sessionId) }

    override suspend fun undoCompaction(sessionId: String) = ask { undoCompaction(sessionId) }

    override suspend fun resetCompactions(sessionId: String) = ask { resetCompactions(sessionId) }

    override suspend fun pin(sessionId: String, messageId: String) = ask { pin(sessionId, messageId) }

    override suspend fun unpin(sessionId: String, messageId: String) = ask { unpin(sessionId, messageId) }

    override suspend fun contextStatus(sessionId: String) = ask { contextStatus(sessionId) }

    override suspend fun previewRequest(sessionId: String) = ask { previewRequest(sessionId) }

    override suspend fun providers() = ask { providers() }

    override suspend fun saveProvider(provider: Provider) = ask { saveProvider(provider) }

    override suspend fun removeProvider(providerId: String) = ask { removeProvider(providerId) }

    override suspend fun models() = ask { models() }

    override suspend fun saveModel(model: Model) = ask { saveModel(model) }

    override suspend fun removeModel(model: ModelRef) = ask { removeModel(model) }

    override suspend fun setWindow(model: ModelRef, window: Long?) = ask { setWindow(model, window) }

    override suspend fun setDefaultModel(model: ModelRef) = ask { setDefaultModel(model) }

    override suspend fun listModels(providerId: String) = ask { listModels(providerId) }

    override suspend fun agents() = ask { agents() }

    override suspend fun saveAgent(agent: AgentProfile) = ask { saveAgent(agent) }

    override suspend fun removeAgent(agentId: String) = ask { removeAgent(agentId) }

    override suspend fun policy() = ask { policy() }

    override suspend fun savePolicy(policy: PolicySettings) = ask { savePolicy(policy) }

    override suspend fun setting(key: String) = ask { setting(key) }

    override suspend fun setSetting(key: String, value: String?) = ask { setSetting(key, value) }

    override suspend fun hasKey(provider: Provider) = withContext(Dispatchers.IO) {
        originOf(provider.baseUrl)?.let { keys.key(provider.id, it) } != null
    }

    override suspend fun setKey(provider: Provider, key: String) = withContext(Dispatchers.IO) {
        val origin = originOf(provider.baseUrl) ?: throw CoreException.Invalid("base_url", "is no address of a service")
        keys.setKey(provider.id, origin, key)
    }

    override suspend fun removeKey(providerId: String) = withContext(Dispatchers.IO) { keys.removeKey(providerId) }

    override suspend fun canRemoveKey(providerId: String) = withContext(Dispatchers.IO) { keys.canRemove(providerId) }

    /**
     * Stops what is going on, waits until it is stored, and lets go of the file. Takes a moment. Whoever else calls it meanwhile
     * waits too.
     */
    override fun close() {
        closing.withLock {
            if (core.uniffiIsDestroyed) return
            try {
                runBlocking { core.shutDown() }
            } finally {
                core.destroy()
            }
        }
    }

    /** Asks away from the caller's thread: what goes over the border is copied there, and pictures are large. */
    private suspend fun <T> ask(question: suspend OneClaw.() -> T): T = withContext(Dispatchers.Default) {
        try {
            core.question()
        } catch (error: IllegalStateException) {
            throw if (error !is CancellationException && core.uniffiIsDestroyed) CoreException.Closed() else error
        }
    }

    /** What the core says about one run. Whoever stops listening ends the run. */
    private fun run(start: suspend OneClaw.(ChatListener) -> RunHandle): Flow<ChatEvent> = callbackFlow {
        // Kept from within: who is cancelled on the way back from `ask` never gets its answer.
        var handle: RunHandle? = null
        try {
            ask { handle = start(Listener(this@callbackFlow)) }
            awaitClose()
        } finally {
            handle?.cancel()
            handle?.destroy()
        }
    }.buffer(Channel.UNLIMITED)

    companion object {
        private val start by lazy(::startRust)

        /** Opens the file, or makes it. Whoever opens it closes it. */
        suspend fun open(config: OpenConfig, keys: KeyStore, tools: List<AppTool> = emptyList()): RustChatRepository {
            withContext(Dispatchers.IO) { start }
            return RustChatRepository(OneClaw.open(config, Vault(keys), Tools(tools)), keys)
        }
    }
}
