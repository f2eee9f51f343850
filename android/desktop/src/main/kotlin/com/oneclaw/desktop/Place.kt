package com.oneclaw.desktop

import androidx.compose.ui.unit.DpSize
import androidx.compose.ui.unit.dp
import androidx.compose.ui.window.WindowPlacement
import androidx.compose.ui.window.WindowPosition
import androidx.compose.ui.window.WindowState
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermissions
import kotlin.io.path.Path

private val USUAL_SIZE = DpSize(1100.dp, 760.dp)
private val SIZES = 300f..10_000f

/** The folder for conversations and keys, which only its owner may enter: `$XDG_DATA_HOME/oneclaw`. */
internal fun dataFolder(environment: Map<String, String>): Path {
    val data = environment["XDG_DATA_HOME"]?.let(::Path)?.takeIf { it.isAbsolute }
        ?: Path(System.getProperty("user.home"), ".local", "share")
    val folder = data.resolve("oneclaw")
    Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")))
    return folder
}

/** A window's size and place as a setting: `1100 760 40 30`, or `maximized`. */
internal fun WindowState.write(): String = when (placement) {
    WindowPlacement.Floating -> listOf(size.width, size.height, position.x, position.y).joinToString(" ") { "${it.value.toInt()}" }
    else -> "maximized"
}

/** The window that [setting] describes; the usual one, where it makes no sense. */
internal fun windowState(setting: String?): WindowState {
    if (setting == "maximized") return WindowState(WindowPlacement.Maximized, size = USUAL_SIZE)
    val numbers = setting.orEmpty().split(' ').mapNotNull { it.toFloatOrNull() }
    if (numbers.size != 4 || numbers.take(2).any { it !in SIZES }) return WindowState(size = USUAL_SIZE)
    val (width, height, x, y) = numbers
    return WindowState(position = WindowPosition(x.dp, y.dp), size = DpSize(width.dp, height.dp))
}
