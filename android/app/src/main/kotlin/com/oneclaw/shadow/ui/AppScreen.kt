package com.oneclaw.shadow.ui

import android.os.Build
import android.widget.Toast
import androidx.activity.compose.BackHandler
import androidx.compose.material3.ColorScheme
import androidx.compose.material3.dynamicDarkColorScheme
import androidx.compose.material3.dynamicLightColorScheme
import androidx.compose.runtime.Composable
import androidx.compose.runtime.LaunchedEffect
import androidx.compose.runtime.getValue
import androidx.compose.runtime.remember
import androidx.compose.ui.platform.LocalConfiguration
import androidx.compose.ui.platform.LocalContext
import androidx.lifecycle.compose.collectAsStateWithLifecycle
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ChatStateHolder
import com.oneclaw.chat.Strings
import com.oneclaw.chat.Theme
import com.oneclaw.chat.goesBack
import com.oneclaw.chat.ui.OneClawApp
import com.oneclaw.chat.ui.Platform
import com.oneclaw.chat.ui.theme.DarkColors
import com.oneclaw.chat.ui.theme.LightColors
import com.oneclaw.chat.ui.theme.OneClawTheme
import com.oneclaw.shadow.start.StartState
import kotlinx.coroutines.flow.StateFlow

/** What a screen outside the chat can ask of the activity. */
internal class AppActions(val retry: () -> Unit, val saveCopy: () -> Unit, val messageShown: () -> Unit)

/** All of the app: the way to the conversations, or the conversations. */
@Composable
internal fun AppScreen(start: StateFlow<StartState>, message: StateFlow<Int?>, platform: Platform, actions: AppActions) {
    val context = LocalContext.current
    val configuration = LocalConfiguration.current
    val strings = remember(context, configuration) { context.screenTexts() }
    val state by start.collectAsStateWithLifecycle()
    when (val now = state) {
        is StartState.Ready -> Chat(now.holder, strings, platform)
        else -> OneClawTheme(colors = { platformColors(it) }) {
            SystemBars(Theme.SYSTEM)
            StartScreen(now, strings, actions)
        }
    }
    val told by message.collectAsStateWithLifecycle()
    LaunchedEffect(told) {
        told?.let {
            Toast.makeText(context, it, Toast.LENGTH_LONG).show()
            actions.messageShown()
        }
    }
}

@Composable
private fun Chat(holder: ChatStateHolder, strings: Strings, platform: Platform) {
    val state by holder.state.collectAsStateWithLifecycle()
    SystemBars(state.settings.theme)
    OneClawApp(
        state,
        strings,
        platform,
        holder::readAttachment,
        onAction = { if (!isSaidBySystem(it)) holder.onAction(it) },
        colors = { platformColors(it) },
    )
    BackHandler(enabled = goesBack(state)) { holder.onAction(ChatAction.Back) }
}

/** From Android 13 on the system itself shows what was copied. */
private fun isSaidBySystem(action: ChatAction) =
    action is ChatAction.Copied && Build.VERSION.SDK_INT >= Build.VERSION_CODES.TIRAMISU

/** The colours of the user's wallpaper, where Android knows them. */
@Composable
private fun platformColors(isDark: Boolean): ColorScheme {
    val context = LocalContext.current
    // Reading them takes dozens of resources, and a new scheme draws everything anew. Another wallpaper is another configuration.
    return remember(context, LocalConfiguration.current, isDark) {
        when {
            Build.VERSION.SDK_INT < Build.VERSION_CODES.S -> if (isDark) DarkColors else LightColors
            isDark -> dynamicDarkColorScheme(context)
            else -> dynamicLightColorScheme(context)
        }
    }
}
