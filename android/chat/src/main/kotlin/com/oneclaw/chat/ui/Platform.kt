package com.oneclaw.chat.ui

import androidx.compose.runtime.Immutable
import androidx.compose.runtime.staticCompositionLocalOf
import androidx.compose.ui.graphics.ImageBitmap
import java.time.Instant
import java.time.ZoneId
import java.time.format.DateTimeFormatter
import java.time.format.FormatStyle
import java.util.Locale

/**
 * What the screens need from the system, and each system does in its own way.
 *
 * @property copy puts a text into the clipboard; false: it did not fit, and the user was told
 * @property decode makes a picture of a file's bytes, about so many pixels long at most; null: it cannot be read
 * @property pickPicture lets the user choose a picture, and answers with [com.oneclaw.chat.ChatAction.AddAttachment]; null:
 * there is no way to
 * @property formatTime a moment in milliseconds, as short as people write it
 */
@Immutable
class Platform(
    val copy: (String) -> Boolean,
    val decode: suspend (ByteArray, Int) -> ImageBitmap?,
    val pickPicture: (() -> Unit)? = null,
    val formatTime: (Long) -> String = timeFormat(Locale.getDefault()),
)

/** The [Platform] around a screen. */
val LocalPlatform = staticCompositionLocalOf<Platform> { error("OneClawApp provides it") }

/** The time for moments of today, the date for others. */
fun timeFormat(
    locale: Locale,
    zone: ZoneId = ZoneId.systemDefault(),
    now: () -> Long = System::currentTimeMillis,
): (Long) -> String {
    val time = DateTimeFormatter.ofLocalizedTime(FormatStyle.SHORT).withLocale(locale)
    val date = DateTimeFormatter.ofLocalizedDate(FormatStyle.SHORT).withLocale(locale)
    return { moment ->
        val at = Instant.ofEpochMilli(moment).atZone(zone)
        val today = Instant.ofEpochMilli(now()).atZone(zone).toLocalDate()
        if (at.toLocalDate() == today) time.format(at) else date.format(at)
    }
}
