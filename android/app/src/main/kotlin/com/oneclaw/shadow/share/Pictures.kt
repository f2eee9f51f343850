package com.oneclaw.shadow.share

import android.annotation.SuppressLint
import android.graphics.Bitmap
import android.graphics.BitmapFactory
import android.graphics.Canvas
import android.graphics.Color
import android.graphics.Matrix
import android.graphics.Paint
import android.media.ExifInterface
import com.oneclaw.core.Attachment
import com.oneclaw.core.AttachmentContent
import java.io.ByteArrayOutputStream
import java.io.IOException
import java.util.Base64

/** What all services take. */
private val MEDIA_TYPES = setOf("image/png", "image/jpeg", "image/gif", "image/webp")

/** A file up to this size is sent as it is, */
private const val MOST_BYTES_SENT = 2_500_000

/** if neither side is longer: there are services that refuse such a picture. */
internal const val MOST_PIXELS_SENT = 8_000

/** The longer side of a picture that was made smaller; services make larger ones smaller themselves. */
private const val MOST_PIXELS = 2_048
private const val JPEG_QUALITY = 85

/**
 * The picture as it is sent: as it came, or smaller. One that lies on its side or says where it was taken is made anew, upright
 * and without a word but the picture. Null: it is none.
 */
internal fun pictureOf(name: String, bytes: ByteArray): Attachment? {
    val bounds = boundsOf(bytes)
    val notes = notesOf(bytes)
    return when {
        bounds.outWidth <= 0 || bounds.outHeight <= 0 -> null
        isSmall(bytes, bounds) && bounds.outMimeType in MEDIA_TYPES && notes.isPlain ->
            attachment(bounds.outMimeType, name, bounds.outWidth, bounds.outHeight, bytes)
        else -> smaller(name, bytes, notes)
    }
}

private fun isSmall(bytes: ByteArray, bounds: BitmapFactory.Options) =
    bytes.size <= MOST_BYTES_SENT && maxOf(bounds.outWidth, bounds.outHeight) <= MOST_PIXELS_SENT

/** The picture for the screen, upright, at most [longest] pixels long. Null: it is none. */
internal fun bitmapOf(bytes: ByteArray, longest: Int): Bitmap? = decoded(bytes, longest)?.upright(notesOf(bytes), longest)

private fun decoded(bytes: ByteArray, longest: Int): Bitmap? {
    val bounds = boundsOf(bytes)
    val longer = maxOf(bounds.outWidth, bounds.outHeight)
    if (longer <= 0) return null
    val options = BitmapFactory.Options()
    // Halved as often as it takes to get below twice the size: a huge picture never has to fit into memory.
    options.inSampleSize = Integer.highestOneBit(maxOf(1, longer / longest))
    return BitmapFactory.decodeByteArray(bytes, 0, bytes.size, options)
}

private fun boundsOf(bytes: ByteArray) = BitmapFactory.Options().also {
    it.inJustDecodeBounds = true
    BitmapFactory.decodeByteArray(bytes, 0, bytes.size, it)
}

private fun smaller(name: String, bytes: ByteArray, notes: Notes): Attachment? {
    val bitmap = decoded(bytes, MOST_PIXELS) ?: return null
    val upright = onWhite(bitmap.upright(notes, MOST_PIXELS))
    val out = ByteArrayOutputStream()
    upright.compress(Bitmap.CompressFormat.JPEG, JPEG_QUALITY, out)
    return attachment("image/jpeg", name, upright.width, upright.height, out.toByteArray())
}

private fun Bitmap.upright(notes: Notes, longest: Int): Bitmap {
    val scale = minOf(1f, longest.toFloat() / maxOf(width, height))
    val matrix = uprightMatrix(notes.orientation).apply { postScale(scale, scale) }
    return Bitmap.createBitmap(this, 0, 0, width, height, matrix, true)
}

/** A JPEG knows no transparency. */
private fun onWhite(bitmap: Bitmap): Bitmap {
    val result = Bitmap.createBitmap(bitmap.width, bitmap.height, Bitmap.Config.ARGB_8888)
    Canvas(result).apply {
        drawColor(Color.WHITE)
        drawBitmap(bitmap, 0f, 0f, Paint(Paint.FILTER_BITMAP_FLAG))
    }
    return result
}

/** What a camera has noted beside the picture: how it was held, and perhaps where. */
private class Notes(val orientation: Int, val hasPlace: Boolean) {
    val isPlain get() = !hasPlace && orientation in PLAIN
}

private val PLAIN = setOf(ExifInterface.ORIENTATION_NORMAL, ExifInterface.ORIENTATION_UNDEFINED)

private val PLACES = listOf(
    ExifInterface.TAG_GPS_LATITUDE,
    ExifInterface.TAG_GPS_LONGITUDE,
    ExifInterface.TAG_GPS_DEST_LATITUDE,
    ExifInterface.TAG_GPS_AREA_INFORMATION,
)

/** Android 8 reads nothing in a file that is shorter. */
private const val LEAST_EXIF_BYTES = 5_000

// Lint prefers a library for the sake of Android 6 and older; a few values are read here, from Android 8 on.
@SuppressLint("ExifInterface")
private fun notesOf(bytes: ByteArray): Notes = try {
    val exif = ExifInterface(bytes.copyOf(maxOf(bytes.size, LEAST_EXIF_BYTES)).inputStream())
    val orientation = exif.getAttributeInt(ExifInterface.TAG_ORIENTATION, ExifInterface.ORIENTATION_NORMAL)
    Notes(orientation, hasChunkOfExif(bytes) || PLACES.any { exif.getAttribute(it) != null })
} catch (_: IOException) {
    NOT_KNOWN
} catch (_: RuntimeException) {
    NOT_KNOWN
}

/** Until Android 10 nothing is read of a PNG or WebP, so whatever it says may be a place. Found by the names of its parts. */
private fun hasChunkOfExif(bytes: ByteArray): Boolean {
    val text = bytes.toString(Charsets.ISO_8859_1)
    return when {
        text.startsWith("\u0089PNG") -> "eXIf" in text || "Raw profile type" in text
        text.startsWith("RIFF") -> "EXIF" in text
        else -> false
    }
}

/** Notes that cannot be read may say anything. */
private val NOT_KNOWN = Notes(ExifInterface.ORIENTATION_NORMAL, hasPlace = true)

/** Turns a picture as the camera was held. The values are those of Exif, mirrored ones among them. */
private fun uprightMatrix(orientation: Int) = Matrix().apply {
    when (orientation) {
        ExifInterface.ORIENTATION_ROTATE_180 -> setRotate(180f)
        ExifInterface.ORIENTATION_ROTATE_90, ExifInterface.ORIENTATION_TRANSPOSE -> setRotate(90f)
        ExifInterface.ORIENTATION_ROTATE_270, ExifInterface.ORIENTATION_TRANSVERSE -> setRotate(270f)
        ExifInterface.ORIENTATION_FLIP_VERTICAL -> setScale(1f, -1f)
        else -> Unit
    }
    if (orientation in MIRRORED) postScale(-1f, 1f)
}

private val MIRRORED = setOf(
    ExifInterface.ORIENTATION_FLIP_HORIZONTAL,
    ExifInterface.ORIENTATION_TRANSPOSE,
    ExifInterface.ORIENTATION_TRANSVERSE,
)

private fun attachment(type: String, name: String, width: Int, height: Int, bytes: ByteArray) =
    Attachment(type, name, width, height, AttachmentContent.New(Base64.getEncoder().encodeToString(bytes)))
