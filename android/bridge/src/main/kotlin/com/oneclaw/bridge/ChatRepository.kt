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

/** How many conversations, and how many messages, are read at once. */
const val SESSION_PAGE = 30
const val MESSAGE_PAGE = 50

/**
 * All that the app asks of the core.
 *
 * A suspend function that cannot do its work throws a [com.oneclaw.core.CoreException]; [problemOf] makes something to show of
 * it. A flow begins its work when it is collected, throws the same way if it cannot begin, reports what fails later as
 * [ChatEvent.Error], and ends with [ChatEvent.Finished]. Who cancels its collector ends the work: what was received is kept and
 * marked as interrupted. All of it may be called from any thread; after [close] everything throws `CoreException.Closed`.
 */
interface ChatRepository : AutoCloseable {
    /**
     * A page of the list, the latest first.
     *
     * @param search looks in titles and previews; empty: all
     * @param cursor [SessionPage.next] of the page before, as it came; null: the first page
     */
    suspend fun sessions(
        search: String = "",
        shelf: Shelf = Shelf.OPEN,
        cursor: String? = null,
        limit: Int = SESSION_PAGE,
    ): SessionPage

    /** One conversation, also one that was deleted but not purged. */
    suspend fun session(sessionId: String): Session

    /** Begins a conversation. Without [agentId] it is the general assistant's, without [model] it has the usual one. */
    suspend fun createSession(agentId: String? = null, model: ModelRef? = null): Session

    suspend fun renameSession(sessionId: String, title: String)

    /** Stops what is at work there and puts the conversation aside; [restoreSession] brings it back. */
    suspend fun deleteSession(sessionId: String)

    suspend fun restoreSession(sessionId: String)

    /** Removes a conversation and all that belongs to it, for good. */
    suspend fun purgeSession(sessionId: String)

    /** Lets another model answer from the next message on. */
    suspend fun setSessionModel(sessionId: String, model: ModelRef)

    /** Lets another agent answer from the next message on. */
    suspend fun setSessionAgent(sessionId: String, agentId: String)

    /**
     * The newest messages in the order they were written. Their pictures are described; [attachment] reads one.
     *
     * @param before [MessagePage.before] of the page after these, as it came; null: the newest page
     */
    suspend fun messages(sessionId: String, before: String? = null, limit: Int = MESSAGE_PAGE): MessagePage

    /** The bytes of what is attached to a stored message and has [nth] others before it: [com.oneclaw.core.AttachmentContent.Stored]. */
    suspend fun attachment(messageId: String, nth: Int): ByteArray

    /** Saves a message and answers it. From the first event on it is stored. */
    fun send(sessionId: String, text: String, attachments: List<Attachment> = emptyList()): Flow<ChatEvent>

    /** Answers the newest message once more, also after an error. */
    fun regenerate(sessionId: String): Flow<ChatEvent>

    /** Puts something else in the place of the newest message, and answers it. Those of its attachments stay that are handed back. */
    fun editAndResend(
        sessionId: String,
        messageId: String,
        text: String,
        attachments: List<Attachment> = emptyList(),
    ): Flow<ChatEvent>

    /** Compacts now; the summary takes particular care of [focus], if it is not empty. */
    fun compact(sessionId: String, focus: String = ""): Flow<ChatEvent>

    /** Conversations whose compaction was begun and has not ended: cut short by the end of the process, or at work now. */
    suspend fun interruptedCompactions(): List<String>

    /** Takes up the compaction of such a conversation. */
    fun resume(sessionId: String): Flow<ChatEvent>

    /** Ends what is at work, whose flow still tells what follows from that. Messages in line stay there. */
    suspend fun stop(sessionId: String)

    /** Takes the newest compaction back; false: there is none. Waits until nothing is at work there. */
    suspend fun undoCompaction(sessionId: String): Boolean

    /** Takes all compactions back. */
    suspend fun resetCompactions(sessionId: String)

    /** Lets compactions carry a message as it is. Refused where pins would take too much of the window. */
    suspend fun pin(sessionId: String, messageId: String)

    suspend fun unpin(sessionId: String, messageId: String)

    /** How full the window is, what was compacted, what is pinned. */
    suspend fun contextStatus(sessionId: String): ContextStatus

    /** The next request as things stand. */
    suspend fun previewRequest(sessionId: String): PlanPreview

    suspend fun providers(): List<Provider>

    /** Adds a service, or changes the one with that id. */
    suspend fun saveProvider(provider: Provider)

    /** Removes a service that was added, with its models. Its key stays: see [removeKey]. */
    suspend fun removeProvider(providerId: String)

    /** The models of all services. */
    suspend fun models(): List<Model>

    /** Adds a model, or changes the one with that id. */
    suspend fun saveModel(model: Model)

    suspend fun removeModel(model: ModelRef)

    /** Keeps the window a person gives a model, which goes before all that others say of it; null: theirs counts again. */
    suspend fun setWindow(model: ModelRef, window: Long?)

    /** Lets new conversations begin with a model. */
    suspend fun setDefaultModel(model: ModelRef)

    /** The models that a service says it has, with what is known of them. Asks the service. */
    suspend fun listModels(providerId: String): List<ListedModel>

    suspend fun agents(): List<AgentProfile>

    /** Adds an agent, or changes the one with that id. */
    suspend fun saveAgent(agent: AgentProfile)

    suspend fun removeAgent(agentId: String)

    /** How conversations are compacted. */
    suspend fun policy(): PolicySettings

    /** Compacts in another way from the next message on. */
    suspend fun savePolicy(policy: PolicySettings)

    /** A setting of the app; null: it was never set. */
    suspend fun setting(key: String): String?

    /** Keeps a setting of the app; null forgets it. Not for secrets. */
    suspend fun setSetting(key: String, value: String?)

    /** Whether there is a key for a service where [provider] says it is. */
    suspend fun hasKey(provider: Provider): Boolean

    /** Keeps a key for a service where [provider] says it is; at another address it is asked for again. */
    suspend fun setKey(provider: Provider, key: String)

    suspend fun removeKey(providerId: String)

    /** Whether [removeKey] takes the key away; not where it comes from elsewhere, as from the environment. */
    suspend fun canRemoveKey(providerId: String): Boolean
}
