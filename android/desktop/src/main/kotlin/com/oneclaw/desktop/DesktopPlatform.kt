package com.oneclaw.desktop

import androidx.compose.ui.graphics.ImageBitmap
import androidx.compose.ui.graphics.toComposeImageBitmap
import com.oneclaw.chat.ui.Platform
import com.oneclaw.core.Attachment
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.jetbrains.skia.Image
import java.awt.FileDialog
import java.awt.Frame
import java.awt.Toolkit
import java.awt.datatransfer.StringSelection
import java.io.File
import java.io.IOException
import java.util.Base64

private val MEDIA_TYPES =
    mapOf("png" to "image/png", "jpg" to "image/jpeg", "jpeg" to "image/jpeg", "gif" to "image/gif", "webp" to "image/webp")

/** The largest picture that is read; services take less. */
private const val MOST_BYTES = 20L * 1024 * 1024

/** Clipboard, pictures and the file dialog of a desktop. [onPicture] gets null for a file that is no picture. */
internal fun desktopPlatform(scope: CoroutineScope, onPicture: (Attachment?) -> Unit) = Platform(
    copy = {
        Toolkit.getDefaultToolkit().systemClipboard.setContents(StringSelection(it), null)
        true
    },
    decode = { bytes -> withContext(Dispatchers.Default) { decode(bytes) } },
    pickPicture = {
        pickFile()?.let { file -> scope.launch { onPicture(withContext(Dispatchers.IO) { pictureOf(file) }) } }
    },
)

private fun decode(bytes: ByteArray): ImageBitmap? = imageOf(bytes)?.use { it.toComposeImageBitmap() }

private fun imageOf(bytes: ByteArray): Image? = try {
    Image.makeFromEncoded(bytes)
} catch (_: IllegalArgumentException) {
    null
}

private fun pickFile(): File? {
    val dialog = FileDialog(null as Frame?, null, FileDialog.LOAD)
    dialog.setFilenameFilter { _, name -> mediaTypeOf(name) != null }
    dialog.isVisible = true
    return dialog.files.firstOrNull()
}

/** The picture as it is sent; null: the file is none, cannot be read or is too large. */
internal fun pictureOf(file: File): Attachment? {
    val type = mediaTypeOf(file.name)?.takeIf { file.length() <= MOST_BYTES } ?: return null
    val bytes = try {
        file.readBytes()
    } catch (_: IOException) {
        return null
    }
    val size = imageOf(bytes)?.use { it.width to it.height } ?: return null
    return Attachment(type, file.name, size.first, size.second, Base64.getEncoder().encodeToString(bytes))
}

private fun mediaTypeOf(name: String) = MEDIA_TYPES[name.substringAfterLast('.').lowercase()]
