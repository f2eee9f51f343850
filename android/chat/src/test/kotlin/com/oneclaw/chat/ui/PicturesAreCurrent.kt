package com.oneclaw.chat.ui

import java.awt.image.BufferedImage
import java.io.ByteArrayInputStream
import java.io.File
import javax.imageio.ImageIO
import kotlin.math.abs
import kotlin.test.Test
import kotlin.test.assertEquals
import org.junit.jupiter.api.condition.EnabledIfSystemProperty

/** Pixels whose colours are compared as one: letters may be drawn a little otherwise, and colours were reduced. */
private const val BLOCK = 16

/** How far the mean colour of a block may be off, of 255. A line of text that moved by one row is off by more. */
private const val TOLERANCE = 24

/** The pictures of the documentation are those of the present screens: `scripts/screenshots --check`. */
@EnabledIfSystemProperty(named = "pictures.check", matches = ".+")
class PicturesAreCurrent {
    @Test
    fun check() {
        val dir = File(System.getProperty("pictures.check"))
        val drawnElsewhere = { name: String -> name == "desktop" || name.startsWith("android-") }
        val there = dir.listFiles { it.extension == "png" }.orEmpty().map { it.nameWithoutExtension }.filterNot(drawnElsewhere)
        assertEquals(shots.map { it.name }.sorted(), there.sorted(), "the pictures there are")
        val stale = shots.mapNotNull { shot ->
            difference(ImageIO.read(File(dir, "${shot.name}.png")), ImageIO.read(ByteArrayInputStream(png(shot))))
                ?.let { "${shot.name}: $it" }
        }
        assertEquals(emptyList(), stale, "draw them again with scripts/screenshots, and look at them")
    }

    /** What is different, for people; null: nothing that can be seen. */
    private fun difference(old: BufferedImage, new: BufferedImage): String? {
        if (old.width != new.width || old.height != new.height) return "${old.width}x${old.height}, now ${new.width}x${new.height}"
        for (top in 0 until old.height step BLOCK) {
            for (left in 0 until old.width step BLOCK) {
                val off = mean(old, left, top).zip(mean(new, left, top)) { a, b -> abs(a - b) }.max()
                if (off > TOLERANCE) return "at $left, $top by $off"
            }
        }
        return null
    }

    private fun mean(image: BufferedImage, left: Int, top: Int): List<Int> {
        val colours = (top until minOf(top + BLOCK, image.height)).flatMap { y ->
            (left until minOf(left + BLOCK, image.width)).map { x -> image.getRGB(x, y) }
        }
        return listOf(16, 8, 0).map { shift -> colours.sumOf { (it shr shift) and 0xff } / colours.size }
    }
}
