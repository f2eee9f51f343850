package com.oneclaw.desktop

import androidx.compose.ui.graphics.ImageBitmap
import androidx.compose.ui.graphics.asComposeImageBitmap
import androidx.compose.ui.graphics.toComposeImageBitmap
import com.oneclaw.chat.ui.Platform
import com.oneclaw.core.Attachment
import com.oneclaw.core.AttachmentContent
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

private val SMOOTH = FilterMipmap(FilterMode.LINEAR, MipmapMode.LINEAR)

/** Clipboard, pictures and the file dialog of a desktop. [onPicture] gets null for a file that is no picture. */
internal fun desktopPlatform(scope: CoroutineScope, onPicture: (Attachment?) -> Unit) = Platform(
    copy = {
        Toolkit.getDefaultToolkit().systemClipboard.setContents(StringSelection(it), null)
        true
    },
    decode = { bytes, longest -> withContext(Dispatchers.Default) { decode(bytes, longest) } },
    pickPicture = {
        pickFile()?.let { file -> scope.launch { onPicture(withContext(Dispatchers.IO) { pictureOf(file) }) } }
    },
)

/** A picture as large as it is shown at most: a photograph has fifty times as many pixels as its square in the chat. */
internal fun decode(bytes: ByteArray, longest: Int): ImageBitmap? = imageOf(bytes)?.use { image ->
    val larger = maxOf(image.width, image.height)
    if (larger <= longest) return image.toComposeImageBitmap()
    val bitmap = Bitmap()
    val shorten = { side: Int -> (side.toLong() * longest / larger).toInt().coerceAtLeast(1) }
    val isMade = bitmap.allocN32Pixels(shorten(image.width), shorten(image.height))
    val pixels = if (isMade) bitmap.peekPixels() else null
    if (pixels == null || !image.scalePixels(pixels, SMOOTH, false)) null else bitmap.asComposeImageBitmap()
}

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
    return Attachment(type, file.name, size.first, size.second, AttachmentContent.New(Base64.getEncoder().encodeToString(bytes)))
}

private fun mediaTypeOf(name: String) = MEDIA_TYPES[name.substringAfterLast('.').lowercase()]
