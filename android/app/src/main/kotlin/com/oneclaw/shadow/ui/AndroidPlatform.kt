package com.oneclaw.shadow.ui

import android.content.ClipData
import android.content.ClipboardManager
import android.content.Context
import android.widget.Toast
import androidx.compose.ui.graphics.asImageBitmap
import com.oneclaw.chat.ui.Platform
import com.oneclaw.shadow.R
import com.oneclaw.shadow.share.bitmapOf
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext

/** Clipboard, pictures and the photo picker of a phone. */
internal fun androidPlatform(context: Context, pickPicture: () -> Unit) = Platform(
    copy = { copy(context, it) },
    decode = { bytes, longest -> withContext(Dispatchers.Default) { bitmapOf(bytes, longest)?.asImageBitmap() } },
    pickPicture = pickPicture,
)

/** The clipboard is another process, and what is given to it has to fit through: about half a million characters. */
private fun copy(context: Context, text: String): Boolean {
    val clipboard = context.getSystemService(ClipboardManager::class.java) ?: return false
    return try {
        clipboard.setPrimaryClip(ClipData.newPlainText(null, text))
        true
    } catch (_: RuntimeException) {
        Toast.makeText(context, R.string.too_long_to_copy, Toast.LENGTH_LONG).show()
        false
    }
}
