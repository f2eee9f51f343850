package com.oneclaw.shadow.share

import android.content.ContentResolver
import android.content.Intent
import android.net.Uri
import android.os.Parcelable
import android.provider.OpenableColumns
import com.oneclaw.chat.MOST_PICTURES
import com.oneclaw.core.Attachment
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.async
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import java.io.ByteArrayOutputStream
import java.io.IOException
import java.io.InputStream
import java.nio.ByteBuffer
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds

/** The longest text that is taken over, in characters. */
internal const val MOST_TEXT = 200_000

/** The largest file that is read at all. */
internal const val MOST_BYTES = 32 * 1_024 * 1_024

private const val MOST_NAME = 80

/** No character of Java's has more bytes in UTF-8. */
private const val BYTES_PER_CHAR = 3

/** How many providers may keep this app waiting. */
private const val READERS = 2

/** What another app has sent, and what of it was left out. */
data class Shared(
    val text: String,
    val pictures: List<Attachment>,
    val isTextRefused: Boolean = false,
    val isPictureRefused: Boolean = false,
    val hasMorePictures: Boolean = false,
) {
    val isEmpty: Boolean get() = text.isEmpty() && pictures.isEmpty()
}

/**
 * Reads what other apps send, and pictures that the user has picked.
 *
 * Whoever sends may be careless or hostile: only `content:` addresses are read, never those of this app (it would send its own
 * files to whoever asks), never more than fits and not for longer than [patience], and a picture is what can be decoded,
 * whatever it says it is.
 */
class ShareReader(
    private val resolver: ContentResolver,
    private val ownPackage: String,
    private val io: CoroutineDispatcher,
    private val patience: Duration = 30.seconds,
) {
    /** For calls that another app can hold up for ever: they keep these threads and no others, and are not waited for. */
    private val readers = CoroutineScope(SupervisorJob() + io.limitedParallelism(READERS))

    /** What came in time. */
    suspend fun read(intent: Intent): Shared {
        val content = withContext(io) { contentOf(intent) } ?: return Shared("", emptyList(), isTextRefused = true)
        val wanted = content.addresses.take(MOST_PICTURES)
        val texts = mutableListOf<String>()
        val pictures = mutableListOf<Attachment>()
        withTimeoutOrNull(patience) {
            for (address in wanted) {
                val text = if (content.isText) apart { textAt(address) } else null
                if (text != null) texts += text else apart { pictureAt(address) }?.let(pictures::add)
            }
        }
        val isIncomplete = texts.size + pictures.size < wanted.size
        val text = (listOf(content.text) + texts).filter { it.isNotEmpty() }.joinToString("\n\n")
        val isTooLong = text.length > MOST_TEXT
        return Shared(
            if (isTooLong) "" else text,
            pictures.toList(),
            isTextRefused = isTooLong || (content.isText && isIncomplete),
            isPictureRefused = !content.isText && isIncomplete,
            hasMorePictures = wanted.size < content.addresses.size,
        )
    }

    /** Null: there is no picture, it is too big, or it does not come. */
    suspend fun picture(address: Uri): Attachment? = withTimeoutOrNull(patience) { apart { pictureAt(address) } }

    private suspend fun <T> apart(block: () -> T): T {
        val result = readers.async { block() }
        try {
            return result.await()
        } finally {
            result.cancel()
        }
    }

    private class Content(val text: String, val addresses: List<Uri>, val isText: Boolean)

    /** Text and addresses. Null: it cannot be read, as something in it is of a class that only the sender knows. */
    private fun contentOf(intent: Intent): Content? = try {
        val text = intent.getCharSequenceExtra(Intent.EXTRA_TEXT)?.toString().orEmpty()
        val addresses = when (intent.action) {
            Intent.ACTION_SEND -> listOfNotNull(intent.stream())
            Intent.ACTION_SEND_MULTIPLE -> intent.streams()
            else -> emptyList()
        }
        Content(text, addresses, intent.type.orEmpty().startsWith("text/"))
    } catch (_: RuntimeException) {
        null
    }

    private fun pictureAt(address: Uri): Attachment? = read(address) { pictureOf(nameOf(address), bytesOf(address, MOST_BYTES)) }

    /** A file of text, as some apps send what is long. */
    private fun textAt(address: Uri): String? = read(address) {
        val bytes = ByteBuffer.wrap(bytesOf(address, MOST_TEXT * BYTES_PER_CHAR))
        Charsets.UTF_8.newDecoder().decode(bytes).toString().removePrefix("\uFEFF")
    }

    // Other apps' providers throw what they like.
    private fun <T> read(address: Uri, block: () -> T?): T? = try {
        if (isAllowed(address)) block() else null
    } catch (_: IOException) {
        null
    } catch (_: RuntimeException) {
        null
    } catch (_: OutOfMemoryError) {
        // A picture that is small as a file can be larger than the phone.
        null
    }

    private fun isAllowed(address: Uri): Boolean {
        // Before an @ stands for which user of the phone.
        val authority = address.authority.orEmpty().substringAfterLast('@')
        val isOurs = authority == ownPackage || authority.startsWith("$ownPackage.")
        return address.scheme == ContentResolver.SCHEME_CONTENT && authority.isNotEmpty() && !isOurs
    }

    private fun bytesOf(address: Uri, limit: Int): ByteArray =
        resolver.openInputStream(address)?.use { it.readAtMost(limit) } ?: throw IOException("nothing there")

    private fun nameOf(address: Uri): String {
        val columns = arrayOf(OpenableColumns.DISPLAY_NAME)
        val name = resolver.query(address, columns, null, null, null)?.use { if (it.moveToFirst()) it.getString(0) else null }
        return name.orEmpty().substringAfterLast('/').filterNot { it.isISOControl() }.take(MOST_NAME).ifBlank { "picture" }
    }
}

// The typed getters of Android 13 fail there for some senders; looking at the class afterwards is as good.

@Suppress("DEPRECATION")
private fun Intent.stream(): Uri? = getParcelableExtra<Parcelable>(Intent.EXTRA_STREAM) as? Uri

@Suppress("DEPRECATION")
private fun Intent.streams(): List<Uri> =
    getParcelableArrayListExtra<Parcelable>(Intent.EXTRA_STREAM).orEmpty().filterIsInstance<Uri>()

/** Whatever size was announced, it ends here. */
internal fun InputStream.readAtMost(limit: Int): ByteArray {
    val out = ByteArrayOutputStream()
    val buffer = ByteArray(DEFAULT_BUFFER_SIZE)
    while (true) {
        val count = read(buffer)
        if (count < 0) return out.toByteArray()
        if (out.size() + count > limit) throw IOException("more than $limit bytes")
        out.write(buffer, 0, count)
    }
}
