package com.oneclaw.chat.ui

import androidx.compose.runtime.Composable
import androidx.compose.runtime.CompositionLocalProvider
import androidx.compose.ui.ImageComposeScene
import androidx.compose.ui.geometry.Offset
import androidx.compose.ui.input.pointer.PointerEventType
import androidx.compose.ui.platform.LocalLayoutDirection
import androidx.compose.ui.unit.Density
import androidx.compose.ui.unit.LayoutDirection
import androidx.compose.ui.use
import com.oneclaw.chat.AppUiState
import com.oneclaw.chat.Samples
import com.oneclaw.chat.Strings
import com.oneclaw.chat.Theme
import java.io.File
import java.util.Locale
import kotlin.math.roundToInt
import kotlin.test.Test
import org.jetbrains.skia.EncodedImageFormat
import org.jetbrains.skia.Image
import org.junit.jupiter.api.condition.EnabledIfSystemProperty

private const val FRAME_NANOS = 16_666_667L
private const val FRAMES = 90

/** The same as the chat on a tablet. */
private const val TWICE = "sessions-tablet"

/** How a picture is taken. Sizes are in dp; [tap] is a place that is touched before. */
data class Shot(
    val name: String,
    val state: AppUiState,
    val width: Int = 412,
    val height: Int = 915,
    val density: Float = 1.5f,
    val fontScale: Float = 1f,
    val theme: Theme = Theme.LIGHT,
    val locale: Locale = Locale.UK,
    val direction: LayoutDirection = LayoutDirection.Ltr,
    val tap: Offset? = null,
)

/** What has to be unfolded to be seen. */
private val taps = mapOf("chat-long-tool" to Offset(200f, 304f))

/** What a phone would have to scroll to. */
private val heights = mapOf(
    "settings" to 1_830,
    "settings-bad-threshold" to 1_830,
    "context" to 1_330,
    "context-epoch" to 1_330,
    "chat-compacted" to 1_780,
    "chat-earlier" to 1_780,
)

/** Every state once, and the three main screens in all their guises. */
val shots: List<Shot> = Samples.all.map { (name, state) -> Shot(name, state, height = heights[name] ?: 915, tap = taps[name]) } +
    listOf("sessions", "chat", "settings").flatMap { name ->
        val state = Samples.all.getValue(name)
        listOf(
            Shot("$name-dark", state, theme = Theme.DARK),
            Shot("$name-tablet", state, width = 1180, height = 820, density = 1f),
            Shot("$name-chinese", state, locale = Locale.SIMPLIFIED_CHINESE),
            Shot("$name-rtl", state, direction = LayoutDirection.Rtl),
            Shot("$name-large-font", state, fontScale = 1.8f),
        ).filterNot { it.name == TWICE }
    }

/** Draws the pictures of the documentation: `scripts/screenshots`. */
@EnabledIfSystemProperty(named = "pictures.dir", matches = ".+")
class Pictures {
    @Test
    fun draw() {
        val dir = File(System.getProperty("pictures.dir")).apply { mkdirs() }
        val only = System.getProperty("pictures.only", "").split(',').filter { it.isNotEmpty() }
        shots.filter { only.isEmpty() || it.name in only }.forEach { shot -> File(dir, "${shot.name}.png").writeBytes(png(shot)) }
    }
}

/** The picture after animations have come to rest. */
fun png(shot: Shot): ByteArray {
    val density = Density(shot.density, shot.fontScale)
    val width = (shot.width * shot.density).roundToInt()
    val height = (shot.height * shot.density).roundToInt()
    return ImageComposeScene(width, height, density) { Scene(shot) }.use { scene ->
        var image = scene.render(0)
        repeat(FRAMES) { image = scene.render((it + 1) * FRAME_NANOS) }
        if (shot.tap != null) {
            scene.sendPointerEvent(PointerEventType.Press, shot.tap * shot.density)
            scene.sendPointerEvent(PointerEventType.Release, shot.tap * shot.density)
            repeat(FRAMES) { image = scene.render((FRAMES + it + 1) * FRAME_NANOS) }
        }
        encode(image)
    }
}

@Composable
private fun Scene(shot: Shot) {
    val state = shot.state.copy(settings = shot.state.settings.copy(theme = shot.theme))
    CompositionLocalProvider(LocalLayoutDirection provides shot.direction) {
        OneClawApp(state, Strings.of(shot.locale), TestPlatform(shot.locale).platform, onAction = {})
    }
}

private fun encode(image: Image): ByteArray = checkNotNull(image.encodeToData(EncodedImageFormat.PNG)).bytes
