package com.oneclaw.shadow

import androidx.compose.ui.test.hasContentDescription
import androidx.compose.ui.test.hasSetTextAction
import androidx.compose.ui.test.hasText
import androidx.compose.ui.test.junit4.v2.createEmptyComposeRule
import androidx.compose.ui.test.onNodeWithContentDescription
import androidx.compose.ui.test.performClick
import androidx.compose.ui.test.performTextInput
import androidx.test.core.app.ActivityScenario
import androidx.test.ext.junit.runners.AndroidJUnit4
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Notice
import com.oneclaw.shadow.start.StartState
import com.oneclaw.shadow.ui.screenTexts
import org.junit.Rule
import org.junit.Test
import org.junit.rules.RuleChain
import org.junit.runner.RunWith

private const val PATIENCE_MS = 30_000L

/** The app as a user has it, with the demo service, which is part of the core. */
@RunWith(AndroidJUnit4::class)
class ChatTest {
    private val folder = OwnFolder()
    private val ui = createEmptyComposeRule()

    @get:Rule
    val rules: RuleChain = RuleChain.outerRule(folder).around(ui)

    private val strings get() = TestApplication.current.screenTexts()

    @Test
    fun aMessageIsAnswered() {
        ActivityScenario.launch(MainActivity::class.java).use {
            untilText(strings.chat.empty)
            val input = ui.onNode(hasContentDescription(strings.chat.input) and hasSetTextAction())
            input.performTextInput("Remember: the port = 8080.")
            ui.onNodeWithContentDescription(strings.chat.send).performClick()
            untilText("Noted: the port = 8080.")
        }
    }

    @Test
    fun aCompactionGoesOnWhileThePhoneIsTurned() {
        ActivityScenario.launch(MainActivity::class.java).use { activity ->
            folder.until("core") { folder.start is StartState.Ready }
            say("Remember: the port = 8080.")
            repeat(5) { say("Note $it: ${"gravel road ".repeat(300)}") }
            folder.act(ChatAction.OpenContext, ChatAction.CompactNow)
            folder.until("compaction") { folder.state.chat.isCompacting }
            activity.recreate()
            ui.waitUntil(PATIENCE_MS) { isShown(strings.chat.compacting) || !folder.state.chat.isCompacting }
            var notice: Notice? = null
            folder.until("end of the compaction") { folder.state.notice.also { notice = it } is Notice.Compacted }
            untilText(strings.of(checkNotNull(notice)))
            folder.act(ChatAction.OpenContext)
            folder.until("context") { folder.state.context?.status?.epochs?.size == 1 }
        }
    }

    /** Sends, and waits until what is stored is shown. */
    private fun say(text: String) {
        val before = if (folder.state.openSessionId == null) 0 else folder.state.chat.items.size
        folder.act(ChatAction.EditDraft(text), ChatAction.Send)
        folder.until("answer") { folder.state.chat.turns.isEmpty() && folder.state.chat.items.size == before + 2 }
    }

    private fun untilText(text: String) = ui.waitUntil(PATIENCE_MS) { isShown(text) }

    private fun isShown(text: String) =
        ui.onAllNodes(hasText(text, substring = true)).fetchSemanticsNodes(atLeastOneRootRequired = false).isNotEmpty()
}
