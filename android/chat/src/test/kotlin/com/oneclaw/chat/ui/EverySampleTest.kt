package com.oneclaw.chat.ui

import androidx.compose.runtime.CompositionLocalProvider
import androidx.compose.ui.geometry.Size
import androidx.compose.ui.platform.LocalLayoutDirection
import androidx.compose.ui.semantics.SemanticsActions
import androidx.compose.ui.semantics.SemanticsNode
import androidx.compose.ui.semantics.SemanticsProperties
import androidx.compose.ui.semantics.getOrNull
import androidx.compose.ui.test.SkikoComposeUiTest
import androidx.compose.ui.test.hasClickAction
import androidx.compose.ui.test.v2.runSkikoComposeUiTest
import androidx.compose.ui.unit.Density
import androidx.compose.ui.unit.LayoutDirection
import com.oneclaw.chat.AppUiState
import com.oneclaw.chat.CHINESE
import com.oneclaw.chat.ENGLISH
import com.oneclaw.chat.SampleData
import com.oneclaw.chat.Samples
import com.oneclaw.chat.Strings
import com.oneclaw.chat.Theme
import com.oneclaw.chat.wordsOf
import java.io.File
import java.util.Locale
import kotlin.test.assertEquals
import kotlin.test.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource

private const val TOUCH = 48f
private const val ROUNDING = 0.5f

/** Every state is drawn, is what it was when it was last looked at, and can be used by everyone. */
class EverySampleTest {
    @ParameterizedTest
    @MethodSource("names")
    fun isAsItWas(name: String) = show(Samples.all.getValue(name), height = ALL_ROWS) {
        val file = File(goldenDir, "$name.txt")
        val now = dump()
        if (System.getProperty("golden.update") != null) file.writeText(now)
        assertTrue(file.exists(), "no $file: run with -Dgolden.update=true and look at it")
        assertEquals(file.readText(), now)
    }

    @ParameterizedTest
    @MethodSource("names")
    fun everyButtonHasWordsAndIsBigEnough(name: String) = show(Samples.all.getValue(name), direction = LayoutDirection.Rtl) {
        // A link is part of a text, and read out with it.
        for (node in onAllNodes(hasClickAction()).fetchSemanticsNodes().filterNot { it.isLink }) {
            assertTrue(node.hasWords, "no words: ${node.config}")
            if (!node.isCut) {
                val touch = node.touchBoundsInRoot
                assertTrue(touch.width >= TOUCH - ROUNDING && touch.height >= TOUCH - ROUNDING, "$touch: ${node.config}")
            }
        }
    }

    /** The same things in the same places, and not a word of the app's own is left in English. */
    @ParameterizedTest
    @MethodSource("names")
    fun isTheSameInChinese(name: String) = show(Samples.all.getValue(name), CHINESE, height = ALL_ROWS) {
        assertEquals(shape(golden(name)), shape(dump()))
        val foreign = wordsOf(ENGLISH).values - wordsOf(CHINESE).values.toSet()
        assertEquals(emptyList(), said(dump()).filter { it in foreign })
    }

    @ParameterizedTest
    @MethodSource("names")
    fun isTheSameInLargeLetters(name: String) = show(Samples.all.getValue(name), height = 4 * ALL_ROWS, fontScale = 2f) {
        assertEquals(withButtonsSorted(golden(name)), withButtonsSorted(dump()))
    }

    /** Another screen stands beside it, but nothing is missing except the way there. */
    @ParameterizedTest
    @MethodSource("names")
    fun isAllThereOnAWideScreen(name: String) = show(Samples.all.getValue(name), width = 1_180, height = ALL_ROWS) {
        val ways = listOf(ENGLISH.sessions.title, ENGLISH.common.back)
        assertEquals(emptyList(), said(golden(name)) - said(dump()).toSet() - ways.toSet())
    }

    private fun golden(name: String) = File(goldenDir, "$name.txt").readText()

    /** A dialog is last, and ends with its buttons. Where they do not fit beside each other, Material puts the last one on top. */
    private fun withButtonsSorted(dump: String): List<String> {
        val lines = dump.trimEnd().lines()
        val buttons = lines.takeLastWhile { it.startsWith("  Button ") }
        return lines.dropLast(buttons.size) + buttons.sorted()
    }

    /** A dump without its words. */
    private fun shape(dump: String) = dump.lines().map { line ->
        line.replace(Regex("\".*\""), "\"\"").replace(Regex("\\(.*\\)"), "()").replace(Regex("<.*>"), "<>").replace(Regex("click: .*"), "click:")
    }

    /** The words of a dump: what is read, heard or done. */
    private fun said(dump: String): List<String> = dump.lines().flatMap { line ->
        val text = Regex("\"(.*)\"").find(line)?.groupValues?.get(1)?.split(" / ").orEmpty()
        val others = Regex("\\(([^\"]*)\\)|<(.*)>|click: (.*)").findAll(line.replace(Regex("\".*\""), "")).flatMap { it.groupValues.drop(1) }
        text + others.filter { it.isNotEmpty() }
    }

    private val SemanticsNode.hasWords: Boolean
        get() = config.getOrNull(SemanticsProperties.Text)?.any { it.isNotBlank() } == true ||
            config.getOrNull(SemanticsProperties.ContentDescription)?.any { it.isNotBlank() } == true ||
            SemanticsActions.SetText in config

    private val SemanticsNode.isLink: Boolean get() = config.any { it.key.name == "LinkTestMarker" }

    /** Scrolled out in part, or under the edge of the screen. */
    private val SemanticsNode.isCut: Boolean
        get() = boundsInRoot.width < size.width - 1 || boundsInRoot.height < size.height - 1

    private fun show(
        state: AppUiState,
        strings: Strings = ENGLISH,
        width: Int = 412,
        height: Float = PHONE,
        fontScale: Float = 1f,
        direction: LayoutDirection = LayoutDirection.Ltr,
        test: SkikoComposeUiTest.() -> Unit,
    ) = runSkikoComposeUiTest(Size(width.toFloat(), height), Density(1f, fontScale)) {
        mainClock.autoAdvance = false
        val platform = TestPlatform(Locale.UK).platform
        setContent {
            CompositionLocalProvider(LocalLayoutDirection provides direction) {
                val light = state.copy(settings = state.settings.copy(theme = Theme.LIGHT))
                OneClawApp(light, strings, platform, SampleData.readAttachment, onAction = {})
            }
        }
        mainClock.advanceTimeBy(1_000)
        waitForIdle()
        test()
    }

    companion object {
        private const val PHONE = 915f

        /** So high that no row is left out, whatever the fonts. */
        private const val ALL_ROWS = 5_000f

        /** Maven and Gradle start in different folders. */
        private val goldenDir: File = generateSequence(File("").absoluteFile) { it.parentFile }
            .map { File(it, "android/chat/src/test/golden") }
            .first { it.isDirectory }

        @JvmStatic
        fun names(): List<String> = Samples.all.keys.toList()
    }
}
