package com.oneclaw.shadow

import android.content.pm.ActivityInfo.SCREEN_ORIENTATION_LANDSCAPE
import android.content.pm.ActivityInfo.SCREEN_ORIENTATION_PORTRAIT
import android.content.res.Configuration.ORIENTATION_LANDSCAPE
import android.content.res.Configuration.ORIENTATION_PORTRAIT
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
import kotlinx.coroutines.runBlocking
import org.junit.Rule
import org.junit.Test
import org.junit.rules.RuleChain
import org.junit.runner.RunWith
import kotlin.test.assertEquals
import kotlin.test.assertTrue

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
        HeldService("Gravel was discussed.").use { service ->
            ActivityScenario.launch(MainActivity::class.java).use { activity ->
                folder.until("core") { folder.start is StartState.Ready }
                val id = runBlocking { service.session(folder.ready.repository) }
                folder.act(ChatAction.OpenSession(id))
                folder.until("conversation") { !folder.state.chat.isLoading }
                repeat(4) { say("Note $it: ${"gravel road ".repeat(300)}") }
                service.hold()
                folder.act(ChatAction.OpenContext, ChatAction.CompactNow)
                folder.until("compaction") { folder.state.chat.isCompacting }
                folder.act(ChatAction.CloseContext)
                untilText(strings.chat.compacting)
                turn(activity)
                untilText(strings.chat.compacting)
                assertTrue(folder.state.chat.isCompacting)
                service.release()
                var notice: Notice? = null
                folder.until("end of the compaction") { folder.state.notice.also { notice = it } is Notice.Compacted }
                untilText(strings.of(checkNotNull(notice)))
                assertEquals(1, runBlocking { folder.ready.repository.contextStatus(id) }.epochs.size)
            }
        }
    }

    /** As a hand does it: the system ends the activity and makes another, of the other shape. */
    private fun turn(activity: ActivityScenario<MainActivity>) {
        var before: MainActivity? = null
        var wanted = 0
        activity.onActivity {
            val isUpright = it.resources.configuration.orientation == ORIENTATION_PORTRAIT
            before = it
            wanted = if (isUpright) ORIENTATION_LANDSCAPE else ORIENTATION_PORTRAIT
            it.requestedOrientation = if (isUpright) SCREEN_ORIENTATION_LANDSCAPE else SCREEN_ORIENTATION_PORTRAIT
        }
        folder.until("turned activity") {
            var isTurned = false
            activity.onActivity { isTurned = it !== before && it.resources.configuration.orientation == wanted }
            isTurned
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
