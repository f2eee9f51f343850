package com.oneclaw.bridge.fake

import com.oneclaw.bridge.ChatRepository
import com.oneclaw.core.AgentProfile
import com.oneclaw.core.Attachment
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.ContextStatus
import com.oneclaw.core.CoreException
import com.oneclaw.core.Decision
import com.oneclaw.core.ListedModel
import com.oneclaw.core.MessagePage
import com.oneclaw.core.Model
import com.oneclaw.core.ModelRef
import com.oneclaw.core.PlanPreview
import com.oneclaw.core.PolicySettings
import com.oneclaw.core.Preset
import com.oneclaw.core.Provider
import com.oneclaw.core.RequestPreview
import com.oneclaw.core.Session
import com.oneclaw.core.SessionPage
import com.oneclaw.core.Shelf
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow

/**
 * Plays the core in tests: keeps conversations in memory and answers step by step, as the test says.
 *
 * A turn waits for its test: `fake.turns.last().text("Hi").complete()`. With [script] it answers by itself. [hold] stops calls
 * of a name until the gate is opened, [fail] lets the next one throw. For one thread only.
 */
class FakeChatRepository : ChatRepository {
    val file = FakeFile()
    val turns = mutableListOf<FakeTurn>()

    /** The calls so far, by name and first argument: `renameSession s-1`. */
    val calls = mutableListOf<String>()

    /** How many messages were asked for, each time. */
    val limits = mutableListOf<Int>()

    /** What a turn says by itself; null: it waits for the test. */
    var script: ((FakeTurn) -> Unit)? = null

    var providers = listOf<Provider>()
    var models = listOf<Model>()
    var agents = listOf<AgentProfile>()
    var offered = listOf<ListedModel>()
    var policy = PolicySettings(Preset.ONE_CLAW, emptyMap(), auto = true, prune = true, summaryModel = null)
    val settings = mutableMapOf<String, String>()
    val keys = mutableMapOf<String, String>()

    /** The services whose key comes from elsewhere. */
    val foreignKeys = mutableSetOf<String>()

    /** Conversations whose compaction did not end. */
    val interrupted = mutableSetOf<String>()

    private val gates = mutableMapOf<String, CompletableDeferred<Unit>>()
    private val failures = mutableMapOf<String, Exception>()
    private var isClosed = false

    /** Calls of that name wait until the gate is completed. */
    fun hold(name: String): CompletableDeferred<Unit> = CompletableDeferred<Unit>().also { gates[name] = it }

    /** The next call of that name throws. */
    fun fail(name: String, error: Exception) {
        failures[name] = error
    }

    /** Takes back what [fail] said. */
    fun forgive(name: String) {
        failures.remove(name)
    }

    private suspend fun enter(name: String, subject: String = "") {
        calls += "$name $subject".trim()
        if (isClosed) throw CoreException.Closed()
        gates[name]?.await()
        failures.remove(name)?.let { throw it }
    }

    override suspend fun sessions(search: String, shelf: Shelf, cursor: String?, limit: Int): SessionPage {
        enter("sessions", search)
        return file.page(search, shelf, cursor, limit)
    }

    override suspend fun session(sessionId: String): Session {
        enter("session", sessionId)
        return file.session(sessionId)
    }

    override suspend fun createSession(agentId: String?, model: ModelRef?): Session {
        enter("createSession", agentId.orEmpty())
        return file.create(agentId, model)
    }

    override suspend fun renameSession(sessionId: String, title: String) {
        enter("renameSession", sessionId)
        if (title.isBlank()) throw CoreException.Invalid("title", "is blank")
        file.change(sessionId) { it.copy(title = title) }
    }

    override suspend fun deleteSession(sessionId: String) {
        enter("deleteSession", sessionId)
        atWork(sessionId)?.stop()
        file.change(sessionId) { it.copy(isDeleted = true) }
    }

    override suspend fun restoreSession(sessionId: String) {
        enter("restoreSession", sessionId)
        file.change(sessionId) { it.copy(isDeleted = false) }
    }

    override suspend fun purgeSession(sessionId: String) {
        enter("purgeSession", sessionId)
        file.purge(sessionId)
    }

    override suspend fun setSessionModel(sessionId: String, model: ModelRef) {
        enter("setSessionModel", sessionId)
        file.change(sessionId) { it.copy(model = model) }
    }

    override suspend fun setSessionAgent(sessionId: String, agentId: String) {
        enter("setSessionAgent", sessionId)
        file.change(sessionId) { it.copy(agentId = agentId) }
    }

    override suspend fun messages(sessionId: String, before: String?, limit: Int): MessagePage {
        limits += limit
        enter("messages", sessionId)
        return file.messages(sessionId, before, limit)
    }

    override suspend fun attachment(messageId: String, nth: Int): ByteArray {
        enter("attachment", "$messageId $nth")
        return file.attachment(messageId, nth)
    }

    override fun send(sessionId: String, text: String, attachments: List<Attachment>): Flow<ChatEvent> =
        turn("send", sessionId, text) { file.addUser(sessionId, text, attachments) }

    override fun regenerate(sessionId: String): Flow<ChatEvent> =
        turn("regenerate", sessionId) { file.forgetAnswer(sessionId) }

    override fun editAndResend(
        sessionId: String,
        messageId: String,
        text: String,
        attachments: List<Attachment>,
    ): Flow<ChatEvent> = turn("editAndResend", sessionId, text) {
        val own = attachments.map(file::copyOf)
        file.forgetFrom(sessionId, messageId)
        file.addUser(sessionId, text, own)
    }

    override fun compact(sessionId: String, focus: String): Flow<ChatEvent> = turn("compact", sessionId, focus) {}

    override suspend fun interruptedCompactions(): List<String> {
        enter("interruptedCompactions")
        return interrupted.toList()
    }

    override fun resume(sessionId: String): Flow<ChatEvent> = turn("resume", sessionId) { interrupted -= sessionId }

    private fun turn(name: String, sessionId: String, detail: String = "", prepare: () -> Unit): Flow<ChatEvent> = flow {
        enter(name, sessionId)
        prepare()
        val turn = FakeTurn(name, sessionId, detail, file)
        turns += turn
        script?.invoke(turn)
        try {
            for (event in turn.events) emit(event)
        } finally {
            turn.isOver = true
        }
    }

    override suspend fun stop(sessionId: String) {
        enter("stop", sessionId)
        atWork(sessionId)?.stop()
    }

    /** As the core does it: what is in line behind the turn at work is not stopped. */
    private fun atWork(sessionId: String) = turns.find { it.sessionId == sessionId && !it.isOver }

    override suspend fun undoCompaction(sessionId: String): Boolean {
        enter("undoCompaction", sessionId)
        return file.undo(sessionId)
    }

    override suspend fun resetCompactions(sessionId: String) {
        enter("resetCompactions", sessionId)
        file.reset(sessionId)
    }

    override suspend fun pin(sessionId: String, messageId: String) {
        enter("pin", messageId)
        file.changeMessage(sessionId, messageId) { it.copy(isPinned = true) }
    }

    override suspend fun unpin(sessionId: String, messageId: String) {
        enter("unpin", messageId)
        file.changeMessage(sessionId, messageId) { it.copy(isPinned = false) }
    }

    override suspend fun contextStatus(sessionId: String): ContextStatus {
        enter("contextStatus", sessionId)
        return file.status(sessionId, windowOf(sessionId))
    }

    override suspend fun previewRequest(sessionId: String): PlanPreview {
        enter("previewRequest", sessionId)
        val status = file.status(sessionId, windowOf(sessionId))
        val request = RequestPreview(system = "", messages = emptyList(), upper = status.upper)
        return PlanPreview(
            Decision.SEND, null, status.expected, status.upper, status.window, status.hardLimit, status.trigger,
            boundary = null, tail = emptyList(), request, summaryRequests = emptyList(), irreducible = null,
        )
    }

    private fun windowOf(sessionId: String): Long? {
        val model = file.session(sessionId).model
        return models.find { it.providerId == model?.providerId && it.id == model.modelId }?.window
    }

    override suspend fun providers(): List<Provider> {
        enter("providers")
        return providers
    }

    override suspend fun saveProvider(provider: Provider) {
        enter("saveProvider", provider.id)
        val isNew = providers.none { it.id == provider.id }
        providers = if (isNew) providers + provider else providers.map { if (it.id == provider.id) provider else it }
    }

    override suspend fun removeProvider(providerId: String) {
        enter("removeProvider", providerId)
        providers = providers.filterNot { it.id == providerId }
        models = models.filterNot { it.providerId == providerId }
    }

    override suspend fun models(): List<Model> {
        enter("models")
        return models
    }

    override suspend fun saveModel(model: Model) {
        enter("saveModel", model.id)
        models = models.filterNot { it.providerId == model.providerId && it.id == model.id } + model
    }

    override suspend fun removeModel(model: ModelRef) {
        enter("removeModel", model.modelId)
        models = models.filterNot { it.providerId == model.providerId && it.id == model.modelId }
    }

    override suspend fun setWindow(model: ModelRef, window: Long?) {
        enter("setWindow", "${model.modelId} $window")
        models = models.map { if (it.providerId == model.providerId && it.id == model.modelId) it.copy(window = window) else it }
    }

    override suspend fun setDefaultModel(model: ModelRef) {
        enter("setDefaultModel", model.modelId)
        models = models.map { it.copy(isDefault = it.providerId == model.providerId && it.id == model.modelId) }
    }

    override suspend fun listModels(providerId: String): List<ListedModel> {
        enter("listModels", providerId)
        return offered
    }

    override suspend fun agents(): List<AgentProfile> {
        enter("agents")
        return agents
    }

    override suspend fun saveAgent(agent: AgentProfile) {
        enter("saveAgent", agent.id)
        agents = agents.filterNot { it.id == agent.id } + agent
    }

    override suspend fun removeAgent(agentId: String) {
        enter("removeAgent", agentId)
        agents = agents.filterNot { it.id == agentId }
    }

    override suspend fun policy(): PolicySettings {
        enter("policy")
        return policy
    }

    override suspend fun savePolicy(policy: PolicySettings) {
        enter("savePolicy", policy.preset.name)
        this.policy = policy
    }

    override suspend fun setting(key: String): String? {
        enter("setting", key)
        return settings[key]
    }

    override suspend fun setSetting(key: String, value: String?) {
        enter("setSetting", key)
        if (value == null) settings.remove(key) else settings[key] = value
    }

    override suspend fun hasKey(provider: Provider): Boolean {
        enter("hasKey", provider.id)
        return provider.id in keys
    }

    override suspend fun setKey(provider: Provider, key: String) {
        enter("setKey", provider.id)
        keys[provider.id] = key
    }

    override suspend fun removeKey(providerId: String) {
        enter("removeKey", providerId)
        if (providerId !in foreignKeys) keys.remove(providerId)
    }

    override suspend fun canRemoveKey(providerId: String): Boolean {
        enter("canRemoveKey", providerId)
        return providerId !in foreignKeys
    }

    override fun close() {
        isClosed = true
    }
}
