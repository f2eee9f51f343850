package com.oneclaw.bridge

import com.oneclaw.core.AgentProfile
import com.oneclaw.core.Attachment
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.ContextStatus
import com.oneclaw.core.ListedModel
import com.oneclaw.core.MessagePage
import com.oneclaw.core.Model
import com.oneclaw.core.ModelRef
import com.oneclaw.core.PlanPreview
import com.oneclaw.core.PolicySettings
import com.oneclaw.core.Provider
import com.oneclaw.core.Session
import com.oneclaw.core.SessionPage
import com.oneclaw.core.Shelf
import kotlinx.coroutines.flow.Flow

const val SESSION_PAGE = 30
const val MESSAGE_PAGE = 50

interface ChatRepository : AutoCloseable {
    suspend fun sessions(
        search: String = "",
        shelf: Shelf = Shelf.OPEN,
        cursor: String? = null,
        limit: Int = SESSION_PAGE,
    ): SessionPage

    suspend fun session(sessionId: String): Session

    suspend fun createSession(agentId: String? = null, model: ModelRef? = null): Session

    suspend fun renameSession(sessionId: String, title: String)

    suspend fun deleteSession(sessionId: String)

    suspend fun restoreSession(sessionId: String)

    suspend fun purgeSession(sessionId: String)

    suspend fun setSessionModel(sessionId: String, model: ModelRef)

    suspend fun setSessionAgent(sessionId: String, agentId: String)

    suspend fun messages(sessionId: String, before: String? = null, limit: Int = MESSAGE_PAGE): MessagePage

    fun send(sessionId: String, text: String, attachments: List<Attachment> = emptyList()): Flow<ChatEvent>

    /** Answers the newest message once more, also after an error. */
    fun regenerate(sessionId: String): Flow<ChatEvent>

    /** Puts something else in the place of the newest message, and answers it. */
    fun editAndResend(
        sessionId: String,
        messageId: String,
        text: String,
        attachments: List<Attachment> = emptyList(),
    ): Flow<ChatEvent>

    fun compact(sessionId: String, focus: String = ""): Flow<ChatEvent>

    /** Conversations whose compaction was cut short by the end of the process. */
    suspend fun interruptedCompactions(): List<String>

    /** Takes up the compaction of such a conversation. */
    fun resume(sessionId: String): Flow<ChatEvent>

    suspend fun stop(sessionId: String)

    suspend fun undoCompaction(sessionId: String)

    suspend fun resetCompactions(sessionId: String)

    suspend fun pin(sessionId: String, messageId: String)

    suspend fun unpin(sessionId: String, messageId: String)

    suspend fun contextStatus(sessionId: String): ContextStatus

    suspend fun previewRequest(sessionId: String): PlanPreview

    suspend fun providers(): List<Provider>

    suspend fun saveProvider(provider: Provider)

    suspend fun removeProvider(providerId: String)

    suspend fun models(): List<Model>

    suspend fun saveModel(model: Model)

    suspend fun removeModel(model: ModelRef)

    suspend fun setDefaultModel(model: ModelRef)

    suspend fun listModels(providerId: String): List<ListedModel>

    suspend fun agents(): List<AgentProfile>

    suspend fun saveAgent(agent: AgentProfile)

    suspend fun removeAgent(agentId: String)

    suspend fun policy(): PolicySettings

    suspend fun savePolicy(policy: PolicySettings)

    suspend fun setting(key: String): String?

    suspend fun setSetting(key: String, value: String?)

    suspend fun hasKey(providerId: String): Boolean

    suspend fun setKey(providerId: String, key: String)

    suspend fun removeKey(providerId: String)
}
