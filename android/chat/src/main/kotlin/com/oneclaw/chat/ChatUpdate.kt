package com.oneclaw.chat

import com.oneclaw.bridge.Problem
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.ContextStatus
import com.oneclaw.core.ListedModel
import com.oneclaw.core.MessagePage
import com.oneclaw.core.ModelRef
import com.oneclaw.core.PolicySettings
import com.oneclaw.core.Session
import com.oneclaw.core.SessionPage
import com.oneclaw.core.Shelf

/** What comes back from the core. Each says what it answers, so that a late answer to an old question is left aside. */
sealed interface ChatUpdate {
    /** A step of a turn. */
    data class Event(val turn: Long, val event: ChatEvent) : ChatUpdate

    /** The stream of a turn is over; with a problem, if the call itself failed. */
    data class TurnEnded(val turn: Long, val problem: Problem? = null) : ChatUpdate

    /** A turn was stopped before anything was asked of the core. */
    data class TurnWithdrawn(val turn: Long) : ChatUpdate

    /** The conversation of a turn that began without one. */
    data class SessionCreated(val turn: Long, val session: Session) : ChatUpdate

    data class SessionLoaded(val session: Session) : ChatUpdate

    /** The newest messages, at most [limit], read when [begun] turns had begun. */
    data class MessagesLoaded(val sessionId: String, val begun: Int, val limit: Int, val page: MessagePage) : ChatUpdate

    /** The messages before [cursor]. */
    data class EarlierLoaded(val sessionId: String, val cursor: String, val page: MessagePage) : ChatUpdate

    data class EarlierFailed(val sessionId: String) : ChatUpdate

    data class Pinned(val sessionId: String, val messageId: String, val isPinned: Boolean) : ChatUpdate

    /** Messages read while a turn runs: the results of its tools are among them. */
    data class ToolsLoaded(val turn: Long, val page: MessagePage) : ChatUpdate

    /** Another model was chosen, but could not be stored. */
    data class ModelKept(val sessionId: String, val model: ModelRef?) : ChatUpdate

    /** The end of an earlier process cut its compaction short. */
    data class CompactionCutShort(val sessionId: String) : ChatUpdate

    /** The conversation cannot be shown. */
    data class OpenFailed(val sessionId: String, val problem: Problem) : ChatUpdate

    /** A part of the list; [isFirst]: it replaces what is there. */
    data class SessionsLoaded(val search: String, val shelf: Shelf, val isFirst: Boolean, val page: SessionPage) : ChatUpdate

    data object SessionsFailed : ChatUpdate

    data class SessionDeleted(val session: Session) : ChatUpdate

    data class SessionGone(val sessionId: String) : ChatUpdate

    data class SessionRenamed(val sessionId: String, val title: String) : ChatUpdate

    data class CatalogueLoaded(val catalogue: Catalogue) : ChatUpdate

    data class SettingsLoaded(val policy: PolicySettings, val theme: Theme) : ChatUpdate

    data class ContextLoaded(val sessionId: String, val status: ContextStatus) : ChatUpdate

    data class ContextFailed(val sessionId: String, val problem: Problem) : ChatUpdate

    /** A form was stored, or not. */
    data class ProviderSaved(val isSaved: Boolean) : ChatUpdate

    data class ModelSaved(val isSaved: Boolean) : ChatUpdate

    data class WindowSaved(val isSaved: Boolean) : ChatUpdate

    data class OfferLoaded(val providerId: String, val models: List<ListedModel>) : ChatUpdate

    data class OfferFailed(val providerId: String, val problem: Problem) : ChatUpdate

    /** Anything else that could not be done. */
    data class Failed(val problem: Problem) : ChatUpdate
}
