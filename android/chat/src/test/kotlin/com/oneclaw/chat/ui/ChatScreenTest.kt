package com.oneclaw.chat.ui

import androidx.compose.ui.input.key.Key
import androidx.compose.ui.semantics.SemanticsActions
import androidx.compose.ui.semantics.getOrNull
import androidx.compose.ui.test.SemanticsMatcher
import androidx.compose.ui.test.SkikoComposeUiTest
import androidx.compose.ui.test.assert
import androidx.compose.ui.test.assertIsDisplayed
import androidx.compose.ui.test.assertIsEnabled
import androidx.compose.ui.test.assertIsFocused
import androidx.compose.ui.test.assertIsNotEnabled
import androidx.compose.ui.test.assertIsNotFocused
import androidx.compose.ui.test.hasAnyAncestor
import androidx.compose.ui.test.hasContentDescription
import androidx.compose.ui.test.hasStateDescription
import androidx.compose.ui.test.hasText
import androidx.compose.ui.test.onNodeWithContentDescription
import androidx.compose.ui.test.onNodeWithTag
import androidx.compose.ui.test.onNodeWithText
import androidx.compose.ui.test.performClick
import androidx.compose.ui.test.performKeyInput
import androidx.compose.ui.test.performScrollToNode
import androidx.compose.ui.test.performTextReplacement
import androidx.compose.ui.test.performTouchInput
import androidx.compose.ui.test.pressKey
import androidx.compose.ui.test.swipeDown
import androidx.compose.ui.test.withKeyDown
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ChatItem
import com.oneclaw.chat.SampleData
import com.oneclaw.chat.ui.chat.MESSAGES
import com.oneclaw.core.Attachment
import com.oneclaw.core.AttachmentContent
import com.oneclaw.core.CoreException
import com.oneclaw.core.MessageKind
import com.oneclaw.core.ToolStatus
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertNull
import kotlin.test.assertTrue

class ChatScreenTest {
    @Test
    fun typesSendsAndReadsTheReplyAsItGrows() = desk {
        ui.onNodeWithText(strings.chat.empty).assertIsDisplayed()
        ui.onNodeWithContentDescription(strings.chat.send).assertIsNotEnabled()
        send("Hello there")
        assertEquals("Hello there", turn().detail)
        assertEquals("", written())
        ui.onNodeWithText("Hello there").assertIsDisplayed()
        ui.onNodeWithText(strings.chat.waiting).assertIsDisplayed()
        play { text("Good **mor") }
        ui.onNodeWithText("Good **mor").assertIsDisplayed()
        play { text("ning**") }
        ui.onNodeWithText("Good morning").assertIsDisplayed()
        assertEquals(0, count(strings.chat.waiting))
        play { complete() }
        ui.onNodeWithText("Good morning").assertIsDisplayed()
        ui.onNodeWithContentDescription(strings.chat.regenerate).assertIsEnabled()
    }

    @Test
    fun enterSendsAndShiftEnterBeginsALine() = desk {
        type("one")
        input().performKeyInput { withKeyDown(Key.ShiftLeft) { pressKey(Key.Enter) } }
        settle()
        type("two")
        assertEquals("one\ntwo", written())
        assertTrue(fake.turns.isEmpty())
        input().performKeyInput { pressKey(Key.Enter) }
        settle()
        assertEquals("one\ntwo", turn().detail)
        assertEquals("", written())
        input().performKeyInput { pressKey(Key.Enter) }
        settle()
        assertEquals(1, fake.turns.size)
    }

    @Test
    fun keepsWhatIsTypedWhileAReplyIsReceived() = desk {
        send("Hello")
        type("And th")
        play { text("a") }
        type("en")
        play { text("b").complete() }
        assertEquals("And then", written())
        ui.onNodeWithContentDescription(strings.chat.send).assertIsEnabled()
    }

    @Test
    fun stops() = desk {
        send("Count to a million")
        play { text("1, 2") }
        press(strings.chat.stop)
        ui.onNodeWithText(strings.chat.interrupted).assertIsDisplayed()
        ui.onNodeWithText("1, 2").assertIsDisplayed()
        ui.onNodeWithContentDescription(strings.chat.send).assertIsNotEnabled()
    }

    @Test
    fun showsAnErrorAndTriesAgain() = desk {
        send("Hello")
        play {
            error("The line is dead")
            finish()
        }
        ui.onNodeWithText(strings.problems.network).assertIsDisplayed()
        ui.onNodeWithText("The line is dead").assertIsDisplayed()
        tap(strings.common.retry)
        assertEquals("regenerate", turn().name)
        play { text("Back again").complete() }
        ui.onNodeWithText("Back again").assertIsDisplayed()
        assertEquals(0, count(strings.common.retry))
    }

    @Test
    fun unfoldsAToolAndShowsWhatIsMissingOfItsResult() = desk {
        send("Read the log")
        val marker = "[... content truncated, showing first 12 of 48211 characters ...]"
        play { startTool("c-1", "read_file", """{"path":"log"}""") }
        ui.onNodeWithContentDescription("Tool read_file: Running").assertIsDisplayed()
        play { endTool("c-1", "line of log\n\n$marker", ToolStatus.SUCCESS, ms = 1_400) }
        assertEquals(0, count("line of log"))
        press("Tool read_file: Done · 1.4 s")
        ui.onNodeWithText("""{"path":"log"}""").assertIsDisplayed()
        ui.onNodeWithText("line of log").assertIsDisplayed()
        ui.onNodeWithText(marker).assertIsDisplayed()
        ui.onNodeWithContentDescription(strings.tools.truncated).assertIsDisplayed()
        press("Tool read_file: Done · 1.4 s")
        assertEquals(0, count(marker))
    }

    @Test
    fun aToolThatWasUnfoldedStaysSoOnceItIsStored() = desk {
        send("Read it twice")
        play { startTool("c-1", "read_file", """{"path":"log"}""") }
        press("Tool read_file: Running")
        play { endTool("c-1", "line of log", ToolStatus.SUCCESS, ms = 5) }
        ui.onNodeWithText("line of log").assertIsDisplayed()
        // The service uses the name of the call again.
        play {
            round(1).startTool("c-1", "read_file").endTool("c-1", "once more", ToolStatus.SUCCESS, ms = 6)
            text("Done").complete()
        }
        assertEquals(emptyList(), state.chat.turns)
        ui.onNodeWithText("line of log").assertIsDisplayed()
        assertEquals(0, count("once more"))
    }

    @Test
    fun foldsSayHowTheyStandAndWhatATapDoes() = desk {
        send("Read the log")
        play { startTool("c-1", "read_file") }
        val label = "Tool read_file: Running"
        val header = ui.onNodeWithContentDescription(label)
        header.assert(hasStateDescription(strings.common.collapsed) and hasClickLabel(strings.common.expand))
        press(label)
        header.assert(hasStateDescription(strings.common.expanded) and hasClickLabel(strings.common.collapse))
    }

    @Test
    fun anOldErrorHasWordsOfTheAppAndThoseOfTheCore() = desk(
        prepare = {
            val rows = listOf(SampleData.user("u-1", "Hi", 0), SampleData.message("e-1", 1, MessageKind.Error("socket hang up")))
            file.add(SampleData.session.copy(id = "s-error"), rows)
        },
    ) {
        act(ChatAction.OpenSession("s-error"))
        ui.onNodeWithText(strings.problems.unknown).assertIsDisplayed()
        ui.onNodeWithText("socket hang up").assertIsDisplayed()
        ui.onNodeWithText(strings.common.retry).assertIsDisplayed()
    }

    @Test
    fun saysWhoWroteWhat() = desk {
        send("Good morning")
        play { text("Good evening") }
        fun spoken() {
            ui.onNode(hasContentDescription(strings.chat.you) and hasText("Good morning")).assertIsDisplayed()
            ui.onNode(hasText("Good evening") and hasAnyAncestor(hasContentDescription(strings.chat.assistant))).assertIsDisplayed()
        }
        spoken()
        play { complete() }
        spoken()
    }

    @Test
    fun aTextThatIsRefusedAtOnceIsStillInTheField() = desk(autoAdvance = false) {
        act(ChatAction.OpenSession("s-1"))
        type("Precious words")
        repeat(2) {
            fake.fail("send", CoreException.Storage("disk full"))
            // No frame is drawn between the press and the refusal.
            press(strings.chat.send)
            assertEquals("Precious words", state.chat.draft.text)
            assertEquals("Precious words", written())
        }
        press(strings.chat.send)
        assertEquals("Precious words", turn().detail)
        assertEquals("", written())
    }

    @Test
    fun tabLeavesTheField() = desk {
        type("Hello")
        input().assertIsFocused().performKeyInput { pressKey(Key.Tab) }
        settle()
        input().assertIsNotFocused()
        ui.onNodeWithContentDescription(strings.chat.send).assertIsFocused()
        ui.onNodeWithContentDescription(strings.chat.send).performKeyInput { withKeyDown(Key.ShiftLeft) { pressKey(Key.Tab) } }
        settle()
        input().assertIsFocused().performKeyInput { withKeyDown(Key.ShiftLeft) { pressKey(Key.Tab) } }
        settle()
        ui.onNodeWithContentDescription(strings.chat.attach).assertIsFocused()
        assertEquals("Hello", written())
    }

    @Test
    fun theKeyboardGoesToTheFieldOnAWideWindowAndAfterNew() {
        desk { input().assertIsNotFocused() }
        desk(width = 1_000) {
            input().assertIsFocused()
            tap("A weekend in Kyoto")
            field(strings.sessions.search).performClick()
            input().assertIsNotFocused()
            press(strings.sessions.new)
            input().assertIsFocused()
        }
        desk {
            act(ChatAction.OpenSession("s-1"))
            press(strings.sessions.new)
            input().assertIsFocused()
        }
    }

    @Test
    fun unfoldsThinking() = desk {
        send("Think")
        play { think("Hm, let me see") }
        ui.onNodeWithText(strings.chat.thinkingNow).assertIsDisplayed()
        assertEquals(0, count("Hm, let me see"))
        tap(strings.chat.thinkingNow)
        ui.onNodeWithText("Hm, let me see").assertIsDisplayed()
        play { text("Yes.").complete() }
        ui.onNodeWithText(strings.chat.thinking).assertIsDisplayed()
    }

    @Test
    fun editsAMessage() = desk {
        act(ChatAction.OpenSession("s-1"))
        val asked = "Is this the shrine you mean?"
        ui.onNodeWithTag(MESSAGES).performScrollToNode(hasText(asked))
        tap(asked)
        tap(strings.common.edit)
        ui.onNodeWithText(strings.chat.editing).assertIsDisplayed()
        assertEquals(asked, written())
        input().performTextReplacement("Plan a weekend in Nara.")
        settle()
        press(strings.chat.send)
        assertEquals("editAndResend" to "Plan a weekend in Nara.", turn().name to turn().detail)
        assertEquals("", written())
        assertEquals(0, count(strings.chat.editing))
        assertEquals(0, count(asked))
    }

    @Test
    fun copiesAndPinsAndRegenerates() = desk {
        send("Hello")
        play { text("Hi `you`").complete() }
        press(strings.common.copy)
        assertEquals("Hi `you`", system.copied)
        ui.onNodeWithText(strings.common.copied).assertIsDisplayed()
        press(strings.chat.pin)
        ui.onNodeWithText(strings.chat.pinned).assertIsDisplayed()
        press(strings.chat.unpin)
        assertEquals(0, count(strings.chat.pinned))
        press(strings.chat.regenerate)
        assertEquals("regenerate", turn().name)
        assertEquals(0, count("Hi you"))
    }

    @Test
    fun copiesACodeBlock() = desk {
        send("Code, please")
        play { text("```kotlin\nval a = 1\n\nval b = 2\n```").complete() }
        ui.onNodeWithText("kotlin").assertIsDisplayed()
        press(strings.chat.copyCode)
        assertEquals("val a = 1\n\nval b = 2", system.copied)
    }

    @Test
    fun whatDoesNotFitIntoTheClipboardIsNotCalledCopied() = desk {
        system.isClipboardFull = true
        send("Code, please")
        play { text("Look:\n```kotlin\nval a = 1\n```").complete() }
        press(strings.chat.copyCode)
        press(strings.common.copy)
        assertEquals(0, count(strings.common.copied))
    }

    @Test
    fun attachesAndRemovesPictures() = desk {
        val broken = Attachment("image/png", "broken.png", null, null, AttachmentContent.New("%%%"))
        press(strings.chat.attach)
        assertEquals(1, system.picks)
        act(ChatAction.AddAttachment(SampleData.picture), ChatAction.AddAttachment(broken))
        ui.onNodeWithContentDescription("Picture gate.png").assertIsDisplayed()
        ui.onNodeWithText("broken.png", useUnmergedTree = true).assertIsDisplayed()
        ui.onNodeWithText(strings.common.pictureUnreadable, useUnmergedTree = true).assertIsDisplayed()
        press("Remove gate.png")
        ui.onNodeWithContentDescription(strings.chat.send).assertIsEnabled()
        press(strings.chat.send)
        val sent = fake.file.rows(state.openId).first().kind as MessageKind.User
        assertEquals(listOf("broken.png"), sent.attachments.map { it.name })
    }

    @Test
    fun staysWhereTheReaderIs() = desk {
        act(ChatAction.OpenSession("s-1"))
        ui.onNodeWithText("Yes, that is Fushimi Inari, seen from the station.").assertIsDisplayed()
        assertNull(ui.onAllNodesWithDescription(strings.chat.toEnd).firstOrNull())
        ui.onNodeWithTag(MESSAGES).performTouchInput { swipeDown() }
        settle()
        type("More")
        press(strings.chat.send)
        play { text("A new line. ".repeat(40)) }
        assertEquals(1, ui.onAllNodesWithDescription(strings.chat.toEnd).size)
        press(strings.chat.toEnd)
        play { text("\n\nThe last line") }
        ui.onNodeWithText("The last line").assertIsDisplayed()
    }

    @Test
    fun loadsEarlierMessages() = desk(
        prepare = {
            val many = List(120) { SampleData.user("u-$it", "Message number $it", it.toLong()) }
            file.add(SampleData.session.copy(id = "s-long"), many)
        },
    ) {
        act(ChatAction.OpenSession("s-long"))
        ui.onNodeWithText("Message number 119").assertIsDisplayed()
        ui.onNodeWithTag(MESSAGES).performScrollToNode(hasText(strings.chat.loadEarlier))
        tap(strings.chat.loadEarlier)
        ui.onNodeWithText("Message number 70").assertIsDisplayed()
        assertEquals("Message number 20", (state.chat.items.first() as ChatItem.User).text)
    }

    private fun hasClickLabel(label: String) = SemanticsMatcher("tap does: $label") {
        it.config.getOrNull(SemanticsActions.OnClick)?.label == label
    }

    private fun SkikoComposeUiTest.onAllNodesWithDescription(label: String) =
        onAllNodes(hasContentDescription(label)).fetchSemanticsNodes()
}
