package com.oneclaw.desktop

import androidx.compose.ui.graphics.toArgb
import androidx.compose.ui.graphics.toPixelMap
import androidx.compose.ui.unit.DpSize
import androidx.compose.ui.unit.dp
import androidx.compose.ui.window.WindowPlacement
import com.oneclaw.core.Attachment
import com.oneclaw.core.AttachmentContent
import org.junit.jupiter.api.io.TempDir
import java.awt.Color
import java.awt.image.BufferedImage
import java.io.ByteArrayOutputStream
import java.io.File
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermissions
import java.util.Base64
import java.util.Locale
import javax.imageio.ImageIO
import kotlin.io.path.getPosixFilePermissions
import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertNull

class PlaceTest {
    @TempDir
    lateinit var folder: Path

    @Test
    fun theDataFolderIsItsOwnersOnly() {
        val data = dataFolder(mapOf("XDG_DATA_HOME" to "$folder/data"))
        assertEquals(folder.resolve("data/oneclaw"), data)
        assertEquals("rwx------", PosixFilePermissions.toString(data.getPosixFilePermissions()))
    }

    @Test
    fun aWindowComesBackWhereItWas() {
        assertEquals("900 700 20 30", windowState("900 700 20 30").write())
        assertEquals(WindowPlacement.Maximized, windowState(windowState("maximized").write()).placement)
        for (nonsense in listOf(null, "", "900 700", "0 0 0 0", "a b c d", "9e9 1 1 1")) {
            assertEquals(DpSize(1100.dp, 760.dp), windowState(nonsense).size, "$nonsense")
        }
    }

    @Test
    fun onlyPicturesAreAttached() {
        val dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        val file = File(folder.toFile(), "dot.PNG").also { it.writeBytes(Base64.getDecoder().decode(dot)) }
        val picture = checkNotNull(pictureOf(file))
        assertEquals(Attachment("image/png", "dot.PNG", 1, 1, AttachmentContent.New(dot)), picture)
        assertNull(pictureOf(File(folder.toFile(), "note.png").also { it.writeText("no picture") }))
        assertNull(pictureOf(File(folder.toFile(), "note.txt").also { it.writeText("no picture") }))
    }

    @Test
    fun aLargePictureIsReadInTheSizeItIsShownIn() {
        val png = { width: Int, height: Int ->
            val image = BufferedImage(width, height, BufferedImage.TYPE_INT_RGB)
            image.createGraphics().apply { color = Color.ORANGE }.fillRect(0, 0, width, height)
            ByteArrayOutputStream().also { ImageIO.write(image, "png", it) }.toByteArray()
        }
        val large = checkNotNull(decode(png(4_000, 1_000), longest = 640))
        assertEquals(640 to 160, large.width to large.height)
        assertEquals(Color.ORANGE.rgb, large.toPixelMap()[320, 80].toArgb())
        assertEquals(30 to 20, checkNotNull(decode(png(30, 20), longest = 640)).run { width to height })
        assertNull(decode("no picture".toByteArray(), longest = 640))
    }

    @Test
    fun theSettingsSayWhereKeysAreKept() {
        assertContains(stringsFor(Locale.UK).settings.key, "plain text")
        assertContains(stringsFor(Locale.SIMPLIFIED_CHINESE).settings.key, "明文")
    }
}
