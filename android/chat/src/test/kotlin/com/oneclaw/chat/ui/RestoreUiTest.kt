package com.oneclaw.chat.ui

import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.width
import androidx.compose.runtime.CompositionLocalProvider
import androidx.compose.runtime.MutableState
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.saveable.LocalSaveableStateRegistry
import androidx.compose.runtime.saveable.SaveableStateRegistry
import androidx.compose.runtime.setValue
import androidx.compose.ui.Modifier
import androidx.compose.ui.semantics.SemanticsProperties
import androidx.compose.ui.test.assertIsDisplayed
import androidx.compose.ui.test.hasContentDescription
import androidx.compose.ui.test.onNodeWithContentDescription
import androidx.compose.ui.test.onNodeWithTag
import androidx.compose.ui.test.onNodeWithText
import androidx.compose.ui.test.performScrollToNode
import androidx.compose.ui.test.performTouchInput
import androidx.compose.ui.test.swipeDown
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Screen
import com.oneclaw.chat.ui.chat.MESSAGES
import java.io.Serializable
import kotlin.test.Test
import kotlin.test.assertEquals

private const val UPRIGHT = 412
private const val LYING = 915
private const val TOOL = "Tool read_file: Failed · 3 ms"
private const val RESULT = "no such file: notes/japan.md"

/** What the state does not know and the system keeps: where the reader was, and what was unfolded. */
class RestoreUiTest {
    /** Not a state: only a screen that is made anew takes notice of it. */
    private var width = UPRIGHT
    private var isShown by mutableStateOf(true)
    private var registry by mutableStateOf(registry(null))

    private fun reading(test: Desk.() -> Unit) = desk(
        width = LYING,
        height = UPRIGHT,
        show = { app ->
            setContent {
                CompositionLocalProvider(LocalSaveableStateRegistry provides registry) {
                    if (isShown) Box(Modifier.width(width.dp)) { app() }
                }
            }
        },
    ) {
        act(ChatAction.OpenSession("s-1"))
        ui.onNodeWithTag(MESSAGES).performTouchInput { swipeDown() }
        ui.onNodeWithTag(MESSAGES).performScrollToNode(hasContentDescription(TOOL))
        settle()
        press(TOOL)
        settle()
        isAsLeft()
        test()
    }

    private fun Desk.isAsLeft() {
        ui.onNodeWithContentDescription(TOOL).assertIsDisplayed()
        ui.onNodeWithText(RESULT).assertExists()
        ui.onNodeWithContentDescription(strings.chat.toEnd).assertIsDisplayed()
    }

    private fun Desk.place(): Float =
        ui.onNodeWithTag(MESSAGES).fetchSemanticsNode().config[SemanticsProperties.VerticalScrollAxisRange].value()

    /** What a system does that makes a screen anew; the tester of the library has no such thing on the host. */
    private fun Desk.restore() {
        val saved = registry.performSave()
        isShown = false
        settle()
        registry = registry(saved)
        isShown = true
        settle()
    }

    private fun registry(saved: Map<String, List<Any?>>?) = SaveableStateRegistry(saved) { it is Serializable || it is MutableState<*> }

    @Test
    fun theReaderIsWhereHeWas() = reading {
        val place = place()
        restore()
        assertEquals(place, place())
        isAsLeft()
    }

    @Test
    fun alsoAfterARotationThatMakesRoomForTheList() = reading {
        width = LYING
        restore()
        ui.onNodeWithText(strings.sessions.title).assertIsDisplayed()
        isAsLeft()
    }

    @Test
    fun alsoAfterALookAtTheSettings() = reading {
        val place = place()
        act(ChatAction.ShowScreen(Screen.SETTINGS))
        ui.onNodeWithText(strings.settings.title).assertIsDisplayed()
        act(ChatAction.Back)
        assertEquals(place, place())
        isAsLeft()
    }
}
