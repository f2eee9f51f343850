package com.oneclaw.shadow

import android.app.Application
import android.graphics.Bitmap
import android.graphics.Canvas
import android.graphics.Color
import android.graphics.Paint
import com.oneclaw.core.AttachmentContent
import com.oneclaw.shadow.share.MOST_PIXELS_SENT
import com.oneclaw.shadow.share.bitmapOf
import com.oneclaw.shadow.share.pictureOf
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config
import java.io.ByteArrayOutputStream
import java.io.DataOutputStream
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.Base64
import java.util.zip.CRC32
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertIs
import kotlin.test.assertNotNull
import kotlin.test.assertTrue

private const val NORMAL = 1
private const val WIDTH = 48
private const val HEIGHT = 32

/** What stands before the TIFF in a JPEG: marker, length, name. */
private const val APP1_HEAD = 10

@Suppress("DEPRECATION")
private val WEBP = Bitmap.CompressFormat.WEBP

/** What of a photo is sent to a service. */
@RunWith(RobolectricTestRunner::class)
@Config(application = Application::class)
class SentPictureTest {
    @Test
    fun aPictureThatSaysNothingIsSentAsItCame() {
        for (bytes in listOf(jpeg(), jpeg(exif(NORMAL, hasPlace = false)))) {
            assertContentEquals(bytes, sent(bytes))
        }
    }

    @Test
    fun whereAPictureWasTakenIsNotSent() {
        val bytes = jpeg(exif(NORMAL, hasPlace = true))
        assertTrue("Exif" in bytes.toString(Charsets.ISO_8859_1))
        val sent = sent(bytes)
        assertFalse("Exif" in sent.toString(Charsets.ISO_8859_1))
        val bitmap = assertNotNull(bitmapOf(sent, 640))
        assertEquals(WIDTH to HEIGHT, bitmap.width to bitmap.height)
    }

    @Test
    fun aPngOrWebpThatCarriesExifIsMadeAnew() {
        val png = encoded(Bitmap.CompressFormat.PNG)
        val webp = encoded(WEBP)
        val exif = exif(NORMAL, hasPlace = false).drop(APP1_HEAD).toByteArray()
        for (bytes in listOf(png, webp)) assertContentEquals(bytes, sent(bytes))
        for (bytes in listOf(png.withPngExif(exif), webp.withWebpExif(exif))) {
            assertNotNull(bitmapOf(bytes, 640), "still a picture")
            assertTrue("exif" in text(bytes))
            assertFalse("exif" in text(sent(bytes)))
        }
    }

    @Test
    fun aLongPictureIsMadeShorterHoweverSmallTheFileIs() {
        val bytes = encoded(Bitmap.CompressFormat.PNG, width = MOST_PIXELS_SENT + 1, height = 2)
        val picture = assertNotNull(pictureOf("line", bytes))
        assertTrue(assertNotNull(picture.width) <= 2_048, "${picture.width}")
    }

    /** Which corner the red one of an upright picture's left upper corner is at, after each of Exif's eight values. */
    @Test
    fun aPictureThatLiesOnItsSideIsSentAndShownUpright() {
        val corners = listOf("left top", "right top", "right bottom", "left bottom", "left top", "right top", "right bottom", "left bottom")
        corners.forEachIndexed { index, corner ->
            val orientation = index + 1
            val bytes = jpeg(exif(orientation, hasPlace = false))
            val isTurned = orientation > 4
            for (bitmap in listOf(bitmapOf(bytes, 640), bitmapOf(sent(bytes), 640))) {
                assertNotNull(bitmap)
                assertEquals(isTurned, bitmap.height > bitmap.width, "orientation $orientation")
                assertEquals(corner, redCorner(bitmap), "orientation $orientation")
            }
        }
    }

    @Test
    fun aPictureIsNoLargerThanItIsShown() {
        val bytes = encoded(Bitmap.CompressFormat.PNG, width = 190, height = 60)
        val sizes = listOf(50, 100, 400).map { longest -> assertNotNull(bitmapOf(bytes, longest)).run { width to height } }
        assertEquals(listOf(50 to 16, 100 to 32, 190 to 60), sizes)
    }

    private fun sent(bytes: ByteArray): ByteArray =
        Base64.getDecoder().decode(assertIs<AttachmentContent.New>(assertNotNull(pictureOf("photo", bytes)).content).data)

    private fun redCorner(bitmap: Bitmap): String {
        val places = listOf(4 to "left", bitmap.width - 5 to "right").flatMap { (x, side) ->
            listOf(4 to "top", bitmap.height - 5 to "bottom").map { (y, end) -> Triple(x, y, "$side $end") }
        }
        return places.single { (x, y, _) -> bitmap.getPixel(x, y).let { Color.red(it) > 200 && Color.blue(it) < 80 } }.third
    }

    private fun text(bytes: ByteArray) = bytes.toString(Charsets.ISO_8859_1).lowercase()

    private fun encoded(format: Bitmap.CompressFormat, width: Int = WIDTH, height: Int = HEIGHT): ByteArray {
        val out = ByteArrayOutputStream()
        Bitmap.createBitmap(width, height, Bitmap.Config.ARGB_8888).compress(format, 100, out)
        return out.toByteArray()
    }

    /** Before the last part, which is 12 bytes long. */
    private fun ByteArray.withPngExif(exif: ByteArray): ByteArray {
        val name = "eXIf".toByteArray()
        val check = CRC32().apply { update(name + exif) }.value.toInt()
        val part = ByteBuffer.allocate(12 + exif.size).putInt(exif.size).put(name).put(exif).putInt(check).array()
        return copyOf(size - 12) + part + copyOfRange(size - 12, size)
    }

    /** As a further part; strictly there would be a head that announces it. */
    private fun ByteArray.withWebpExif(exif: ByteArray): ByteArray {
        val part = ByteBuffer.allocate(8 + exif.size).order(ByteOrder.LITTLE_ENDIAN).put("EXIF".toByteArray()).putInt(exif.size).put(exif)
        val whole = this + part.array()
        ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN).putInt(4, whole.size - 8)
        return whole
    }

    /** Blue, with a red corner at the left above; [app1] stands where a camera puts its notes. */
    private fun jpeg(app1: ByteArray = ByteArray(0)): ByteArray {
        val bitmap = Bitmap.createBitmap(WIDTH, HEIGHT, Bitmap.Config.ARGB_8888)
        Canvas(bitmap).apply {
            drawColor(Color.BLUE)
            drawRect(0f, 0f, 16f, 16f, Paint().apply { color = Color.RED })
        }
        val out = ByteArrayOutputStream()
        bitmap.compress(Bitmap.CompressFormat.JPEG, 95, out)
        val plain = out.toByteArray()
        return plain.copyOfRange(0, 2) + app1 + plain.copyOfRange(2, plain.size)
    }

    private fun exif(orientation: Int, hasPlace: Boolean): ByteArray {
        val tiff = ByteArrayOutputStream()
        DataOutputStream(tiff).apply {
            writeBytes("MM")
            writeShort(42)
            writeInt(8)
            writeShort(if (hasPlace) 2 else 1)
            entry(tag = 0x0112, type = 3, count = 1, value = orientation shl 16)
            if (hasPlace) entry(tag = 0x8825, type = 4, count = 1, value = 38)
            writeInt(0)
            if (hasPlace) {
                writeShort(2)
                entry(tag = 1, type = 2, count = 2, value = 'N'.code shl 24)
                entry(tag = 2, type = 5, count = 3, value = 68)
                writeInt(0)
                for (part in listOf(47, 22, 8)) {
                    writeInt(part)
                    writeInt(1)
                }
            }
        }
        val out = ByteArrayOutputStream()
        DataOutputStream(out).apply {
            writeShort(0xFFE1)
            writeShort(2 + 6 + tiff.size())
            writeBytes("Exif\u0000\u0000")
            write(tiff.toByteArray())
        }
        return out.toByteArray()
    }

    private fun DataOutputStream.entry(tag: Int, type: Int, count: Int, value: Int) {
        writeShort(tag)
        writeShort(type)
        writeInt(count)
        writeInt(value)
    }
}
