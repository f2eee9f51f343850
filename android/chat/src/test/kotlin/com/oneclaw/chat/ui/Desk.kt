package com.oneclaw.chat.ui

import androidx.compose.runtime.Composable
import androidx.compose.runtime.collectAsState
import androidx.compose.runtime.getValue
import androidx.compose.ui.geometry.Size
import androidx.compose.ui.semantics.SemanticsProperties
import androidx.compose.ui.test.SemanticsNodeInteraction
import androidx.compose.ui.test.SkikoComposeUiTest
import androidx.compose.ui.test.hasContentDescription
import androidx.compose.ui.test.hasSetTextAction
import androidx.compose.ui.test.hasText
import androidx.compose.ui.test.onAllNodesWithText
import androidx.compose.ui.test.onNodeWithContentDescription
import androidx.compose.ui.test.onNodeWithText
import androidx.compose.ui.test.performClick
import androidx.compose.ui.test.performTextInput
import androidx.compose.ui.test.v2.runSkikoComposeUiTest
import androidx.compose.ui.unit.Density
import com.oneclaw.bridge.fake.FakeChatRepository
import com.oneclaw.bridge.fake.FakeTurn
import com.oneclaw.chat.AppUiState
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ChatStateHolder
import com.oneclaw.chat.ENGLISH
import com.oneclaw.chat.SampleData
import com.oneclaw.core.AttachmentContent
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestCoroutineScheduler

/** The real screens on a phone, over the real state holder and a core that the test plays. */
class Desk(val ui: SkikoComposeUiTest, val fake: FakeChatRepository) {
    private val scheduler = TestCoroutineScheduler()
    private val app = CoroutineScope(StandardTestDispatcher(scheduler) + SupervisorJob())
    val holder = ChatStateHolder(fake, app, newId = { "new-id" })
    val system = TestPlatform()
    val strings = ENGLISH
    val state: AppUiState get() = holder.state.value

    /** Lets state and screen come to rest. */
    fun settle() {
        repeat(3) {
            scheduler.advanceUntilIdle()
            if (!ui.mainClock.autoAdvance) ui.mainClock.advanceTimeByFrame()
            ui.waitForIdle()
        }
    }

    /** Where the clock does not run by itself. */
    fun later(ms: Long) {
        settle()
        ui.mainClock.advanceTimeBy(ms)
        settle()
    }

    fun act(vararg actions: ChatAction) {
        actions.forEach(holder::onAction)
        settle()
    }

    fun turn(): FakeTurn = fake.turns.last()

    fun play(steps: FakeTurn.() -> Unit) {
        turn().steps()
        settle()
    }

    fun input(): SemanticsNodeInteraction = ui.onNode(hasContentDescription(strings.chat.input) and hasSetTextAction())

    fun type(text: String) {
        input().performTextInput(text)
        settle()
    }

    fun send(text: String) {
        type(text)
        press(strings.chat.send)
    }

    /** The icon button with that description. */
    fun press(label: String) {
        ui.onNodeWithContentDescription(label).performClick()
        settle()
    }

    /** The row or button with that text. */
    fun tap(text: String) {
        ui.onNodeWithText(text).performClick()
        settle()
    }

    /** What is written in the field for the next message. */
    fun written(): String = input().fetchSemanticsNode().config[SemanticsProperties.EditableText].text

    fun field(label: String): SemanticsNodeInteraction = ui.onNode(hasText(label) and hasSetTextAction())

    fun count(text: String): Int = ui.onAllNodesWithText(text, substring = true).fetchSemanticsNodes().size

    fun leave() = app.cancel()
}

/**
 * A conversation named s-1 is stored with [SampleData.conversation].
 *
 * @param show puts the app on the screen
 */
fun desk(
    prepare: FakeChatRepository.() -> Unit = {},
    width: Int = 412,
    height: Int = 915,
    autoAdvance: Boolean = true,
    show: SkikoComposeUiTest.(@Composable () -> Unit) -> Unit = { setContent(it) },
    test: Desk.() -> Unit,
) = runSkikoComposeUiTest(Size(width.toFloat(), height.toFloat()), Density(1f)) {
    val fake = FakeChatRepository()
    fake.providers = SampleData.providers
    fake.models = SampleData.models
    fake.keys["provider-openai"] = "sk-test"
    fake.file.add(SampleData.session, SampleData.conversation)
    fake.file.attach("m-8", 0, (SampleData.picture.content as AttachmentContent.New).data)
    fake.prepare()
    val desk = Desk(this, fake)
    try {
        mainClock.autoAdvance = autoAdvance
        show {
            val state by desk.holder.state.collectAsState()
            OneClawApp(state, desk.strings, desk.system.platform, desk.holder::readAttachment, desk.holder::onAction)
        }
        desk.settle()
        desk.test()
    } finally {
        desk.leave()
    }
}
