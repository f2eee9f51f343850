package com.oneclaw.desktop

import androidx.compose.runtime.Composable
import androidx.compose.runtime.LaunchedEffect
import androidx.compose.runtime.snapshotFlow
import androidx.compose.ui.input.key.Key
import androidx.compose.ui.input.key.KeyEventType
import androidx.compose.ui.input.key.key
import androidx.compose.ui.input.key.type
import androidx.compose.ui.window.ApplicationScope
import androidx.compose.ui.window.Window
import androidx.compose.ui.window.WindowState
import androidx.compose.ui.window.application
import com.oneclaw.bridge.ChatRepository
import com.oneclaw.bridge.RustChatRepository
import com.oneclaw.bridge.problemOf
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ChatStateHolder
import com.oneclaw.chat.Strings
import com.oneclaw.chat.ui.OneClawRoute
import com.oneclaw.chat.ui.Platform
import com.oneclaw.core.CoreException
import com.oneclaw.core.OpenConfig
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.FlowPreview
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.debounce
import kotlinx.coroutines.flow.distinctUntilChanged
import kotlinx.coroutines.flow.drop
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import java.nio.file.Path
import java.util.Locale
import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.milliseconds

private const val WINDOW = "desktop.window"
private const val SESSION = "desktop.session"
private val REST = 300.milliseconds

/** The app in a window: the screens of the phone, with the conversations in the user's data folder. */
fun main() {
    val folder = dataFolder(System.getenv())
    val repository = open(folder)
    // Also on Ctrl+C: what is being received is stored before the process ends.
    Runtime.getRuntime().addShutdownHook(Thread(repository::close))
    val scope = CoroutineScope(Dispatchers.Main + SupervisorJob())
    val holder = ChatStateHolder(repository, scope)
    val (window, session) = runBlocking { repository.setting(WINDOW) to repository.setting(SESSION) }
    val state = windowState(window)
    val platform = desktopPlatform(scope) { picture ->
        holder.onAction(picture?.let(ChatAction::AddAttachment) ?: ChatAction.RefusePicture)
    }
    runBlocking(Dispatchers.Main) { session?.let { holder.onAction(ChatAction.OpenSession(it)) } }
    application(exitProcessOnExit = false) {
        ChatWindow(holder, repository, state, stringsFor(Locale.getDefault()), platform)
    }
    exitProcess(0)
}

private fun open(folder: Path): RustChatRepository = try {
    val config = OpenConfig("${folder.resolve("oneclaw.db")}", "${folder.resolve("files")}", demo = true)
    runBlocking { RustChatRepository.open(config, FileKeys(folder.resolve("keys.properties"))) }
} catch (error: Exception) {
    System.err.println("OneClaw cannot open its file in $folder: ${problemOf(error).detail}")
    exitProcess(1)
}

@Composable
private fun ApplicationScope.ChatWindow(
    holder: ChatStateHolder,
    repository: ChatRepository,
    window: WindowState,
    strings: Strings,
    platform: Platform,
) {
    Window(
        onCloseRequest = ::exitApplication,
        state = window,
        title = "OneClaw",
        onKeyEvent = { event ->
            val isBack = event.key == Key.Escape && event.type == KeyEventType.KeyDown
            if (isBack) holder.onAction(ChatAction.Back)
            isBack
        },
    ) {
        OneClawRoute(holder, strings, platform)
    }
    LaunchedEffect(Unit) { keepPlace(holder, repository, window) }
}

/** Keeps the window's place and the open conversation for the next start. */
@OptIn(FlowPreview::class)
private suspend fun keepPlace(holder: ChatStateHolder, repository: ChatRepository, window: WindowState) = coroutineScope {
    launch {
        snapshotFlow { window.write() }.drop(1).debounce(REST).collect { repository.keep(WINDOW, it) }
    }
    launch {
        holder.state.map { it.openSessionId }.distinctUntilChanged().drop(1).collect { repository.keep(SESSION, it) }
    }
}

private suspend fun ChatRepository.keep(key: String, value: String?) = try {
    setSetting(key, value)
} catch (_: CoreException) {
    // The next start finds an older place; nothing is lost.
}

/** The texts, with a plain word on where keys are kept. */
internal fun stringsFor(locale: Locale): Strings {
    val strings = Strings.of(locale)
    val label = if (locale.language == "zh") "API 密钥（以明文保存在仅本人可读的文件中）" else "API key (kept as plain text in a file only you can read)"
    return strings.copy(settings = strings.settings.copy(key = label))
}
