package com.oneclaw.chat.ui

import androidx.compose.ui.graphics.toComposeImageBitmap
import java.time.ZoneOffset
import java.util.Locale
import org.jetbrains.skia.Image

private const val NOW = 1_790_000_000_000

/** A platform without a system: a clipboard that can be read, one moment, and pictures decoded at once. */
class TestPlatform(locale: Locale = Locale.UK) {
    var copied: String? = null
    var picks = 0
    var isClipboardFull = false

    /** How large pictures were to be, each time. */
    val asked = mutableListOf<Int>()

    val platform = Platform(
        copy = { text -> !isClipboardFull.also { if (!it) copied = text } },
        decode = { bytes, longest ->
            asked += longest
            Image.makeFromEncoded(bytes).toComposeImageBitmap()
        },
        pickPicture = { picks++ },
        formatTime = timeFormat(locale, ZoneOffset.UTC) { NOW },
    )
}
