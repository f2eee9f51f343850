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
import androidx.compose.runtime.getValue
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
    OneClawApp(state, strings, platform, holder::onAction, colors)
}

/**
 * All of the app, as [state] says.
 *
 * @param colors those of the platform, where it has some
 */
@Composable
fun OneClawApp(
    state: AppUiState,
    strings: Strings,
    platform: Platform,
    onAction: (ChatAction) -> Unit,
    colors: @Composable (isDark: Boolean) -> ColorScheme = { if (it) DarkColors else LightColors },
) {
    OneClawTheme(state.settings.theme, colors) {
        CompositionLocalProvider(LocalPlatform provides platform) {
            val snackbar = rememberNotices(state.notice, strings, onAction)
            Surface(Modifier.fillMaxSize()) {
                BoxWithConstraints {
                    if (maxWidth >= WIDE) {
                        TwoPanes(state, strings, snackbar, onAction)
                    } else {
                        OnePane(state, strings, snackbar, onAction)
                    }
                }
            }
            state.picker?.let { ModelPickerSheet(it, strings, onAction) }
            state.context?.let { ContextSheet(it, state.chat.isQuiet, strings, onAction) }
        }
    }
}

@Composable
private fun OnePane(state: AppUiState, strings: Strings, snackbar: SnackbarHostState, onAction: (ChatAction) -> Unit) {
    when (state.screen) {
        Screen.SESSIONS -> SessionListScreen(state.sessions, strings, onAction, busy = state.busySessions, snackbar = snackbar)
        Screen.CHAT -> ChatScreen(state.chat, state.catalogue, strings, onAction, snackbar = snackbar)
        Screen.SETTINGS -> SettingsScreen(state.settings, state.catalogue, strings, onAction, snackbar = snackbar)
    }
}

@Composable
private fun TwoPanes(state: AppUiState, strings: Strings, snackbar: SnackbarHostState, onAction: (ChatAction) -> Unit) {
    Row {
        SessionListScreen(
            state.sessions,
            strings,
            onAction,
            Modifier.width(LIST_WIDTH).fillMaxHeight(),
            openId = state.openId,
            busy = state.busySessions,
        )
        VerticalDivider()
        if (state.screen == Screen.SETTINGS) {
            SettingsScreen(state.settings, state.catalogue, strings, onAction, Modifier.weight(1f), snackbar)
        } else {
            ChatScreen(state.chat, state.catalogue, strings, onAction, Modifier.weight(1f), hasBack = false, snackbar)
        }
    }
}
