package com.oneclaw.chat.ui

import androidx.compose.ui.test.assertIsDisplayed
import androidx.compose.ui.test.assertIsNotEnabled
import androidx.compose.ui.test.hasAnyAncestor
import androidx.compose.ui.test.hasClickAction
import androidx.compose.ui.test.hasContentDescription
import androidx.compose.ui.test.hasText
import androidx.compose.ui.test.isDialog
import androidx.compose.ui.test.onAllNodesWithContentDescription
import androidx.compose.ui.test.onFirst
import androidx.compose.ui.test.onNodeWithText
import androidx.compose.ui.test.performClick
import androidx.compose.ui.test.performTextInput
import androidx.compose.ui.test.performTextReplacement
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.SampleData
import com.oneclaw.chat.Screen
import kotlin.test.Test
import kotlin.test.assertEquals
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
