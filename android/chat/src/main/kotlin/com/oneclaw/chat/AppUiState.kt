package com.oneclaw.chat

import androidx.compose.runtime.Immutable
import com.oneclaw.bridge.Problem
import com.oneclaw.core.ErrorCode

/** The key of the conversation that is not begun yet. */
const val NEW_CHAT = ""

/**
 * Everything the screens show. It changes only through [reduce]; a rotation or a second window reads the same value again.
 *
 * @property beforeSettings where Back leads to from the settings
 * @property chats the open conversation, and those left behind that are still being answered or have a draft, by session id
 * @property lastId counts turns, notices and texts put into the field, so that each has a name of its own
 */
@Immutable
data class AppUiState(
    val screen: Screen = Screen.CHAT,
    val beforeSettings: Screen = Screen.CHAT,
    val sessions: SessionListState = SessionListState(),
    val openId: String = NEW_CHAT,
    val chats: Map<String, ChatUiState> = mapOf(NEW_CHAT to ChatUiState()),
    val catalogue: Catalogue = Catalogue(),
    val picker: ModelPickerState? = null,
    val context: ContextSheetState? = null,
    val window: WindowForm? = null,
    val settings: SettingsState = SettingsState(),
    val notices: List<Notice> = emptyList(),
    val lastId: Long = 0,
) {
    /** The id of the open conversation; null: it is not begun yet. */
    val openSessionId: String? get() = openId.takeIf { it != NEW_CHAT }

    /** The open conversation. */
    val chat: ChatUiState get() = chats[openId] ?: ChatUiState()

    /** What the Snackbar is to say now. Report it with [ChatAction.NoticeShown]. */
    val notice: Notice? get() = notices.firstOrNull()

    /** The conversations that are being answered. */
    val busySessions: Set<String> get() = chats.filterValues { it.isAnswering }.keys
}

/** What fills a phone; a wide window shows sessions and chat beside each other. */
enum class Screen { SESSIONS, CHAT, SETTINGS }

/** How the app looks. */
enum class Theme { SYSTEM, LIGHT, DARK }

/**
 * Something to tell once, in a Snackbar. It stays in the state until it was shown, so that a rotation does not lose it.
 */
@Immutable
sealed interface Notice {
    val id: Long

    /** A summary failed and history was trimmed instead. */
    data class Trimmed(override val id: Long) : Notice

    /** A compaction that was asked for has ended well. */
    data class Compacted(override val id: Long, val before: Long, val after: Long) : Notice

    /** A compaction that was asked for had nothing to do. */
    data class NothingToCompact(override val id: Long) : Notice

    /** A conversation was deleted; [ChatAction.RestoreSession] brings it back. */
    data class SessionDeleted(override val id: Long, val sessionId: String, val title: String) : Notice

    /** A text is in the clipboard. */
    data class Copied(override val id: Long) : Notice

    /** A file that was to be attached is no picture, cannot be read or is too large. */
    data class PictureRefused(override val id: Long) : Notice

    /** The reply is there, but something that followed it failed. */
    data class Unfinished(override val id: Long, val code: ErrorCode) : Notice

    /** A message takes no more pictures. */
    data class TooManyPictures(override val id: Long) : Notice

    /** The model sees no pictures: it was told the names of [count] instead. */
    data class PicturesLeftOut(override val id: Long, val count: Int) : Notice

    /** A request of about [expected] tokens went to a model whose window nobody knows. The sheet about the context sets it. */
    data class WindowUnknown(override val id: Long, val sessionId: String, val expected: Long) : Notice

    /** Something could not be done. */
    data class Failed(override val id: Long, val problem: Problem) : Notice
}
