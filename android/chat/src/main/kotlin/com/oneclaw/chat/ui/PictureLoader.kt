package com.oneclaw.chat.ui

import androidx.compose.runtime.Stable
import androidx.compose.runtime.staticCompositionLocalOf
import androidx.compose.ui.graphics.ImageBitmap
import com.oneclaw.core.AttachmentContent
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.sync.Semaphore
import kotlinx.coroutines.sync.withPermit
import java.util.Base64

/** Reads what is attached to a stored message; the number is how many are attached to it before. */
typealias ReadAttachment = suspend (messageId: String, nth: Int) -> ByteArray

/** How many pictures are read at a time: each is in memory as a file and as pixels then. */
private const val AT_ONCE = 2

/** What the pictures that were seen last may take, as pixels. */
private const val MOST_BYTES = 32L * 1_024 * 1_024
private const val BYTES_PER_PIXEL = 4L

/**
 * Pictures as they are drawn. Those of stored messages are read when they come into sight, and kept until there are too many of
 * them; the one that was seen longest ago goes first. For the thread that draws.
 *
 * @param decode makes a picture of a file's bytes, about so many pixels long at most; null: it cannot be read
 * @param most how many bytes the kept ones may have together
 */
@Stable
class PictureLoader(
    private val read: ReadAttachment,
    private val decode: suspend (ByteArray, Int) -> ImageBitmap?,
    private val most: Long = MOST_BYTES,
) {
    private class Kept(val bitmap: ImageBitmap, val pixels: Int) {
        val bytes = bitmap.width * bitmap.height * BYTES_PER_PIXEL
    }

    /** In the order they were seen. */
    private val kept = LinkedHashMap<AttachmentContent, Kept>(16, 0.75f, true)
    private val reading = Semaphore(AT_ONCE)

    /** The picture, if it is kept and large enough. */
    fun kept(content: AttachmentContent, pixels: Int): ImageBitmap? = kept[content]?.takeIf { it.pixels >= pixels }?.bitmap

    /** The picture for a place of so many pixels; null: it cannot be read. */
    suspend fun load(content: AttachmentContent, pixels: Int): ImageBitmap? {
        kept(content, pixels)?.let { return it }
        val loaded = reading.withPermit { decoded(content, pixels) }
        // What was replaced is no longer in the file; it is shown until the new message is read, as it was seen before.
        if (loaded == null) return kept[content]?.bitmap
        if (content is AttachmentContent.Stored) keep(content, Kept(loaded, pixels))
        return loaded
    }

    private suspend fun decoded(content: AttachmentContent, pixels: Int): ImageBitmap? = try {
        val bytes = when (content) {
            is AttachmentContent.New -> Base64.getDecoder().decode(content.data)
            is AttachmentContent.Stored -> read(content.messageId, content.nth)
        }
        decode(bytes, pixels)
    } catch (cancelled: CancellationException) {
        throw cancelled
    } catch (_: Exception) {
        null
    } catch (_: OutOfMemoryError) {
        null
    }

    private fun keep(content: AttachmentContent, picture: Kept) {
        kept[content] = picture
        val oldest = kept.entries.iterator()
        var bytes = kept.values.sumOf { it.bytes }
        while (bytes > most && oldest.hasNext()) {
            bytes -= oldest.next().value.bytes
            oldest.remove()
        }
    }
}

/** The [PictureLoader] around a screen. */
internal val LocalPictures = staticCompositionLocalOf<PictureLoader> { error("OneClawApp provides it") }
