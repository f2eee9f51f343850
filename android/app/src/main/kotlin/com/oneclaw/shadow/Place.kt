package com.oneclaw.shadow

import android.os.Bundle
import com.oneclaw.chat.AppUiState
import com.oneclaw.chat.ChatUiState
import com.oneclaw.chat.Draft
import com.oneclaw.chat.NEW_CHAT
import com.oneclaw.chat.Screen

private const val SCREEN = "screen"
private const val OPEN = "open"
private const val DRAFT = "draft"
private const val EDITING = "editing"
private const val ASIDE = "aside"

/** The longest text that is put aside with the place: the system takes about 1 MB for the whole app, and ends it above. */
internal const val MOST_DRAFT = 100_000

/**
 * Where the user is, for the case that the system ends the process: the open conversation and what is being written there.
 * Pictures are too big for it and have to be chosen again; everything that was sent is in the file.
 */
internal fun placeOf(state: AppUiState): Bundle = Bundle().apply {
    putString(SCREEN, state.screen.name)
    putString(OPEN, state.openId)
    putString(DRAFT, state.chat.draft.text.takeIf { it.length <= MOST_DRAFT })
    putString(EDITING, state.chat.draft.editing)
    putString(ASIDE, state.chat.aside.text.takeIf { it.length <= MOST_DRAFT })
}

/** The state to begin with, so that the user is where [place] was. */
internal fun stateAt(place: Bundle): AppUiState {
    val id = place.getString(OPEN) ?: NEW_CHAT
    val draft = Draft(place.getString(DRAFT).orEmpty(), editing = place.getString(EDITING))
    val chat = ChatUiState(isLoading = id != NEW_CHAT, draft = draft, aside = Draft(place.getString(ASIDE).orEmpty()))
    val screen = Screen.entries.find { it.name == place.getString(SCREEN) } ?: Screen.CHAT
    return AppUiState(screen = screen, openId = id, chats = mapOf(id to chat))
}
