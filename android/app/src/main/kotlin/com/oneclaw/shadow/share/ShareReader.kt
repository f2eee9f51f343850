package com.oneclaw.shadow.share

import android.content.ContentResolver
import android.content.Intent
import android.net.Uri
import android.os.Parcelable
import android.provider.OpenableColumns
import com.oneclaw.core.Attachment
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.withContext
import java.io.ByteArrayOutputStream
import java.io.IOException
import java.io.InputStream

/** The longest text that is taken over, in characters. */
internal const val MOST_TEXT = 200_000

/** The most pictures at a time. */
internal const val MOST_PICTURES = 8

/** The most that pictures have together, in characters of base64: services take requests of about 20 MB. */
internal const val MOST_DATA = 16 * 1_024 * 1_024

/** The largest file that is read at all. */
internal const val MOST_BYTES = 32 * 1_024 * 1_024

private const val MOST_NAME = 80

/** What another app has sent, and what of it was left out. */
data class Shared(
    val text: String,
    val pictures: List<Attachment>,
    val isTextRefused: Boolean = false,
    val isPictureRefused: Boolean = false,
) {
    val isEmpty: Boolean get() = text.isEmpty() && pictures.isEmpty()
}

/**
 * Reads what other apps send, and pictures that the user has picked.
 *
 * Whoever sends may be careless or hostile: only `content:` addresses are read, never those of this app (it would send its own
 * files to whoever asks), never more than fits, and a picture is what can be decoded, whatever it says it is.
 */
class ShareReader(
    private val resolver: ContentResolver,
    private val ownPackage: String,
    private val io: CoroutineDispatcher,
) {
    suspend fun read(intent: Intent): Shared = withContext(io) {
        val (text, addresses) = contentOf(intent) ?: return@withContext Shared("", emptyList(), isTextRefused = true)
        val pictures = picturesAt(addresses)
        val isTooLong = text.length > MOST_TEXT
        Shared(if (isTooLong) "" else text, pictures, isTooLong, isPictureRefused = pictures.size < addresses.size)
    }

    /** Null: there is no picture, or it is too big. */
    suspend fun picture(address: Uri): Attachment? = withContext(io) { pictureAt(address) }

    /** Text and addresses. Null: it cannot be read, as something in it is of a class that only the sender knows. */
    private fun contentOf(intent: Intent): Pair<String, List<Uri>>? = try {
        val text = intent.getCharSequenceExtra(Intent.EXTRA_TEXT)?.toString().orEmpty()
        val addresses = when (intent.action) {
            Intent.ACTION_SEND -> listOfNotNull(intent.stream())
            Intent.ACTION_SEND_MULTIPLE -> intent.streams()
            else -> emptyList()
        }
        text to addresses
    } catch (_: RuntimeException) {
        null
    }

    private fun picturesAt(addresses: List<Uri>): List<Attachment> {
        var room = MOST_DATA
        return addresses.take(MOST_PICTURES).mapNotNull(::pictureAt).filter { picture ->
            val size = picture.data?.length ?: 0
            (size <= room).also { isTaken -> if (isTaken) room -= size }
        }
    }

    // Other apps' providers throw what they like.
    private fun pictureAt(address: Uri): Attachment? = try {
        if (isAllowed(address)) pictureOf(nameOf(address), bytesOf(address)) else null
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

    private fun bytesOf(address: Uri): ByteArray =
        resolver.openInputStream(address)?.use { it.readAtMost(MOST_BYTES) } ?: throw IOException("nothing there")

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
