package com.oneclaw.desktop

import androidx.compose.ui.graphics.ImageBitmap
import androidx.compose.ui.graphics.asComposeImageBitmap
import androidx.compose.ui.graphics.toComposeImageBitmap
import com.oneclaw.chat.ui.Platform
import com.oneclaw.core.Attachment
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.jetbrains.skia.Bitmap
import org.jetbrains.skia.FilterMipmap
import org.jetbrains.skia.FilterMode
import org.jetbrains.skia.Image
import org.jetbrains.skia.MipmapMode
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

/** The larger side of a picture in the chat, twice over for sharp screens. */
private const val MOST_PIXELS = 640

private val SMOOTH = FilterMipmap(FilterMode.LINEAR, MipmapMode.LINEAR)

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

/** A picture as large as it is shown at most: a photograph has fifty times as many pixels as its square in the chat. */
internal fun decode(bytes: ByteArray): ImageBitmap? = imageOf(bytes)?.use { image ->
    val larger = maxOf(image.width, image.height)
    if (larger <= MOST_PIXELS) return image.toComposeImageBitmap()
    val bitmap = Bitmap()
    val isMade = bitmap.allocN32Pixels(shorten(image.width, larger), shorten(image.height, larger))
    val pixels = if (isMade) bitmap.peekPixels() else null
    if (pixels == null || !image.scalePixels(pixels, SMOOTH, false)) null else bitmap.asComposeImageBitmap()
}

private fun shorten(side: Int, larger: Int) = (side.toLong() * MOST_PIXELS / larger).toInt().coerceAtLeast(1)

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
