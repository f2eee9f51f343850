package com.oneclaw.chat.ui

import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.setValue
import androidx.compose.ui.test.assertIsDisplayed
import androidx.compose.ui.test.assertIsNotEnabled
import androidx.compose.ui.test.hasAnyAncestor
import androidx.compose.ui.test.hasClickAction
import androidx.compose.ui.test.hasContentDescription
import androidx.compose.ui.test.hasText
import androidx.compose.ui.test.isDialog
import androidx.compose.ui.test.onAllNodesWithContentDescription
import androidx.compose.ui.test.onFirst
import androidx.compose.ui.test.onNodeWithTag
import androidx.compose.ui.test.onNodeWithText
import androidx.compose.ui.test.performClick
import androidx.compose.ui.test.performScrollToIndex
import androidx.compose.ui.test.performScrollToNode
import androidx.compose.ui.test.performTextInput
import androidx.compose.ui.test.performTextReplacement
import androidx.compose.ui.test.v2.runSkikoComposeUiTest
import com.oneclaw.bridge.SESSION_PAGE
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.DEFAULT_TITLE
import com.oneclaw.chat.SampleData
import com.oneclaw.chat.Samples
import com.oneclaw.chat.Screen
import com.oneclaw.chat.ui.sessions.SESSIONS
import com.oneclaw.core.CoreException
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertSame
import kotlin.test.assertTrue

class SessionListUiTest {
    private fun list(autoAdvance: Boolean = true, test: Desk.() -> Unit) = desk(
        prepare = { SampleData.sessions.drop(1).forEach { file.add(it) } },
        autoAdvance = autoAdvance,
    ) {
        act(ChatAction.ShowScreen(Screen.SESSIONS))
        test()
    }

    private fun Desk.menuOfFirst(entry: String) {
        ui.onAllNodesWithContentDescription(strings.common.more).onFirst().performClick()
        settle()
        if (!ui.mainClock.autoAdvance) later(500)
        tap(entry)
    }

    @Test
    fun opensAConversation() = list {
        tap("A weekend in Kyoto")
        assertEquals("s-1", state.openId)
        assertEquals(Screen.CHAT, state.screen)
        press(strings.sessions.title)
        ui.onNodeWithText(strings.sessions.title).assertIsDisplayed()
    }

    @Test
    fun searches() = list {
        field(strings.sessions.search).performTextInput("sqlite")
        settle()
        assertEquals(1, count("SQLite write-ahead log"))
        assertEquals(0, count("Kyoto"))
        press(strings.sessions.clearSearch)
        assertEquals(1, count("A weekend in Kyoto"))
        field(strings.sessions.search).performTextInput("atlantis")
        settle()
        ui.onNodeWithText(strings.sessions.nothingFound).assertIsDisplayed()
    }

    @Test
    fun renames() = list {
        menuOfFirst(strings.sessions.rename)
        field(strings.sessions.name).performTextReplacement(" ")
        settle()
        ui.onNodeWithText(strings.settings.required).assertIsDisplayed()
        ui.onNodeWithText(strings.common.save).assertIsNotEnabled()
        field(strings.sessions.name).performTextReplacement("Two days in Kyoto")
        settle()
        tap(strings.common.save)
        ui.onNodeWithText("Two days in Kyoto").assertIsDisplayed()
        assertEquals("Two days in Kyoto", fake.file.session("s-1").title)
    }

    @Test
    fun deletesAndBringsBack() = list(autoAdvance = false) {
        menuOfFirst(strings.common.delete)
        later(1_000)
        ui.onNodeWithText("“A weekend in Kyoto” deleted").assertIsDisplayed()
        ui.onNodeWithText("A weekend in Kyoto").assertDoesNotExist()
        assertTrue(fake.file.session("s-1").isDeleted)
        tap(strings.common.undo)
        later(1_000)
        ui.onNodeWithText("A weekend in Kyoto").assertIsDisplayed()
        assertTrue(!fake.file.session("s-1").isDeleted)
        assertTrue(state.notices.isEmpty())
    }

    @Test
    fun deletesForEverOnlyAfterAQuestion() = list {
        menuOfFirst(strings.common.delete)
        press(strings.sessions.trash)
        ui.onNodeWithText("A weekend in Kyoto").assertIsDisplayed()
        menuOfFirst(strings.sessions.purge)
        ui.onNodeWithText(strings.sessions.purgeQuestion).assertIsDisplayed()
        ui.onNode(hasText(strings.common.delete) and hasClickAction() and hasAnyAncestor(isDialog())).performClick()
        settle()
        ui.onNodeWithText(strings.sessions.trashEmpty).assertIsDisplayed()
        press(strings.sessions.open)
        assertEquals(1, count("SQLite write-ahead log"))
    }

    @Test
    fun aListThatCannotBeReadIsNotAnEmptyOne() = desk(prepare = { fail("sessions", CoreException.Storage("disk full")) }) {
        act(ChatAction.ShowScreen(Screen.SESSIONS))
        assertEquals(0, count(strings.sessions.empty))
        ui.onNodeWithText(strings.sessions.failed).assertIsDisplayed()
        tap(strings.common.retry)
        ui.onNodeWithText("A weekend in Kyoto").assertIsDisplayed()
        assertEquals(0, count(strings.sessions.failed))
    }

    @Test
    fun theRestOfTheListCanBeAskedForAgain() = desk(
        prepare = { repeat(SESSION_PAGE + 5) { file.add(SampleData.session("more-$it", "Number $it", null, 100L + it)) } },
    ) {
        fake.fail("sessions", CoreException.Storage("disk full"))
        act(ChatAction.ShowScreen(Screen.SESSIONS))
        val last = "Number ${SESSION_PAGE + 4}"
        ui.onNodeWithTag(SESSIONS).performScrollToIndex(SESSION_PAGE)
        settle()
        assertEquals(SESSION_PAGE, state.sessions.sessions.size)
        assertEquals(0, ui.onAllNodesWithContentDescription(strings.common.loading).fetchSemanticsNodes().size)
        // The Snackbar stands over the end of the list.
        act(ChatAction.NoticeShown(checkNotNull(state.notice).id))
        tap(strings.common.retry)
        ui.onNodeWithTag(SESSIONS).performScrollToNode(hasText(last))
        ui.onNodeWithText(last).assertIsDisplayed()
        assertEquals(0, count(strings.sessions.failed))
    }

    @Test
    fun theListIsNotDrawnAgainForEveryWord() = runSkikoComposeUiTest {
        var state by mutableStateOf(Samples.chatWaiting)
        val seen = mutableListOf<Set<String>>()
        setContent {
            val busy by rememberBusy(state)
            seen += busy
        }
        state = Samples.chatStreaming
        waitForIdle()
        assertEquals(2, seen.size)
        // Sets are not compared by their members when it is decided what to draw again.
        assertSame(seen.first(), seen.last())
        state = Samples.chat
        waitForIdle()
        assertEquals(emptySet(), seen.last())
    }

    @Test
    fun theFirstTitleIsInTheLanguageOfTheApp() = desk(
        prepare = { file.add(SampleData.session("s-new", DEFAULT_TITLE, null, -1)) },
    ) {
        act(ChatAction.OpenSession("s-new"))
        assertEquals(0, count(DEFAULT_TITLE))
        ui.onNodeWithText(strings.sessions.new).assertIsDisplayed()
    }

    @Test
    fun showsTheListBesideTheChatWhereThereIsRoom() = desk(width = 1_000) {
        tap("A weekend in Kyoto")
        assertEquals("s-1", state.openId)
        ui.onNodeWithText(strings.sessions.title).assertIsDisplayed()
        assertEquals(2, count("A weekend in Kyoto"))
        press(strings.settings.title)
        ui.onNodeWithText(strings.settings.providers).assertIsDisplayed()
        ui.onNodeWithText(strings.sessions.title).assertIsDisplayed()
        press(strings.common.back)
        ui.onNode(hasContentDescription(strings.chat.input)).assertIsDisplayed()
    }
}
