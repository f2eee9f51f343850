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
import com.oneclaw.chat.SampleData
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
private const val PHONE_HEIGHT = 915

/** How a picture is taken. Sizes are in dp; [tap] is a place that is touched before. */
data class Shot(
    val name: String,
    val state: AppUiState,
    val width: Int = 412,
    val height: Int = PHONE_HEIGHT,
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
    "settings" to 2_240,
    "settings-bad-threshold" to 2_240,
    "picker" to 1_010,
    "context" to 1_330,
    "context-epoch" to 1_330,
    "chat-compacted" to 1_420,
    "chat-earlier" to 1_420,
)

/** States that are checked like all others, but look like one that is drawn. */
private val undrawn = setOf(
    "sessions-loading",
    "sessions-renaming-blank",
    "sessions-nothing-found",
    "chat-loading",
    "chat-stopping",
    "chat-pictures-left-out",
    "context-loading",
    "settings-bad-threshold",
    "settings-offer-failed",
)

private val single = Samples.all.filterKeys { it !in undrawn }
    .map { (name, state) -> Shot(name, state, height = heights[name] ?: PHONE_HEIGHT, tap = taps[name]) }

/** The three main screens in all their guises, as high as they are; sessions on a tablet are those of the chat. */
private val guises = listOf("sessions", "chat", "settings").flatMap { name ->
    val state = Samples.all.getValue(name)
    val height = heights[name] ?: PHONE_HEIGHT
    val isSettings = name == "settings"
    listOfNotNull(
        Shot("$name-dark", state, height = height, theme = Theme.DARK),
        Shot("$name-tablet", state, width = 1180, height = if (isSettings) 2_060 else 820, density = 1f).takeIf { name != "sessions" },
        Shot("$name-chinese", Tongues.inChinese(state), height = height, locale = Locale.SIMPLIFIED_CHINESE),
        Shot("$name-rtl", Tongues.inArabic(state), height = height, direction = LayoutDirection.Rtl),
        Shot("$name-large-font", state, height = if (isSettings) 3_500 else height, fontScale = 1.8f),
    )
}

/** Every state once, and the main screens in all their guises. */
val shots: List<Shot> = single + guises

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
        OneClawApp(state, Strings.of(shot.locale), TestPlatform(shot.locale).platform, SampleData.readAttachment, onAction = {})
    }
}

private fun encode(image: Image): ByteArray = checkNotNull(image.encodeToData(EncodedImageFormat.PNG)).bytes
