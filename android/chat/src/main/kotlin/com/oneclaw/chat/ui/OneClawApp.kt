package com.oneclaw.chat.ui

import androidx.compose.foundation.layout.BoxWithConstraints
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxHeight
import androidx.compose.foundation.layout.fillMaxSize
import androidx.compose.foundation.layout.width
import androidx.compose.material3.ColorScheme
import androidx.compose.material3.SnackbarHostState
import androidx.compose.material3.Surface
import androidx.compose.material3.VerticalDivider
import androidx.compose.runtime.Composable
import androidx.compose.runtime.CompositionLocalProvider
import androidx.compose.runtime.State
import androidx.compose.runtime.derivedStateOf
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.rememberUpdatedState
import androidx.compose.runtime.saveable.rememberSaveable
import androidx.compose.runtime.saveable.rememberSaveableStateHolder
import androidx.compose.runtime.setValue
import androidx.compose.runtime.structuralEqualityPolicy
import androidx.compose.ui.Modifier
import androidx.compose.ui.unit.dp
import androidx.lifecycle.compose.collectAsStateWithLifecycle
import com.oneclaw.chat.AppUiState
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ChatStateHolder
import com.oneclaw.chat.Screen
import com.oneclaw.chat.Strings
import com.oneclaw.chat.ui.chat.ChatScreen
import com.oneclaw.chat.ui.common.rememberNotices
import com.oneclaw.chat.ui.context.ContextSheet
import com.oneclaw.chat.ui.models.ModelPickerSheet
import com.oneclaw.chat.ui.models.WindowDialog
import com.oneclaw.chat.ui.sessions.SessionListScreen
import com.oneclaw.chat.ui.settings.SettingsScreen
import com.oneclaw.chat.ui.theme.DarkColors
import com.oneclaw.chat.ui.theme.LightColors
import com.oneclaw.chat.ui.theme.OneClawTheme

/** From here on the list stands beside the conversation. */
private val WIDE = 840.dp
private val LIST_WIDTH = 340.dp

/** The app over a [holder]. The platform handles Back with [com.oneclaw.chat.goesBack] and [ChatAction.Back]. */
@Composable
fun OneClawRoute(
    holder: ChatStateHolder,
    strings: Strings,
    platform: Platform,
    colors: @Composable (isDark: Boolean) -> ColorScheme = { if (it) DarkColors else LightColors },
) {
    val state by holder.state.collectAsStateWithLifecycle()
    OneClawApp(state, strings, platform, holder::readAttachment, holder::onAction, colors)
}

/**
 * All of the app, as [state] says.
 *
 * @param read reads pictures of stored messages, which the state only describes
 * @param colors those of the platform, where it has some
 */
@Composable
fun OneClawApp(
    state: AppUiState,
    strings: Strings,
    platform: Platform,
    read: ReadAttachment,
    onAction: (ChatAction) -> Unit,
    colors: @Composable (isDark: Boolean) -> ColorScheme = { if (it) DarkColors else LightColors },
) {
    OneClawTheme(state.settings.theme, colors) {
        val pictures = remember(read, platform) { PictureLoader(read, platform.decode) }
        CompositionLocalProvider(LocalPlatform provides platform, LocalPictures provides pictures) {
            val snackbar = rememberNotices(state.notice, strings, onAction)
            val isCovered = state.picker != null || state.context != null
            Surface(Modifier.fillMaxSize()) {
                BoxWithConstraints {
                    Panes(state, isWide = maxWidth >= WIDE, strings, snackbar.takeUnless { isCovered }, onAction)
                }
            }
            state.picker?.let { ModelPickerSheet(it, strings, onAction, snackbar) }
            state.context?.let {
                ContextSheet(it, state.chat.model, state.window, state.chat.isQuiet && !it.isChanging, strings, onAction, snackbar)
            }
            state.window?.takeIf { it.isDialog }?.let {
                WindowDialog(it, state.catalogue.model(it.model)?.displayName ?: it.model.modelId, strings, onAction)
            }
        }
    }
}

/**
 * One screen, or the list with another beside it. Each screen stands here once, however wide the window is: only so does it
 * find what it had saved, as where the reader was, after a rotation that makes room for both. What is saved while another
 * screen takes the place is kept too.
 */
@Composable
private fun Panes(state: AppUiState, isWide: Boolean, strings: Strings, snackbar: SnackbarHostState?, onAction: (ChatAction) -> Unit) {
    val saved = rememberSaveableStateHolder()
    val busy by rememberBusy(state)
    // On a wide window there usually is a keyboard; on a phone, the one on the screen would hide half of it.
    var wantsFocus by rememberSaveable { mutableStateOf(isWide) }
    val act = { action: ChatAction ->
        if (action is ChatAction.NewSession) wantsFocus = true
        onAction(action)
    }
    Row {
        if (isWide || state.screen == Screen.SESSIONS) {
            saved.SaveableStateProvider(Screen.SESSIONS.name) {
                val width = if (isWide) Modifier.width(LIST_WIDTH).fillMaxHeight() else Modifier
                val openId = state.openId.takeIf { isWide }
                SessionListScreen(state.sessions, strings, act, width, openId, busy, snackbar.takeUnless { isWide })
            }
        }
        if (isWide) VerticalDivider()
        if (state.screen == Screen.SETTINGS) {
            saved.SaveableStateProvider(Screen.SETTINGS.name) {
                SettingsScreen(state.settings, state.catalogue, strings, act, Modifier.weight(1f), snackbar)
            }
        } else if (isWide || state.screen == Screen.CHAT) {
            saved.SaveableStateProvider(Screen.CHAT.name) {
                ChatScreen(
                    state.chat,
                    state.catalogue,
                    strings,
                    act,
                    Modifier.weight(1f),
                    hasBack = !isWide,
                    snackbar,
                    wantsFocus,
                    onFocused = { wantsFocus = false },
                )
            }
        }
    }
}

/** The same set as long as it has the same members: the list is drawn again only for another one, not for every word received. */
@Composable
internal fun rememberBusy(state: AppUiState): State<Set<String>> {
    val newest = rememberUpdatedState(state)
    return remember { derivedStateOf(structuralEqualityPolicy()) { newest.value.busySessions } }
}
