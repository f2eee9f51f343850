package com.oneclaw.shadow

import androidx.compose.ui.test.assertIsDisplayed
import androidx.compose.ui.test.onNodeWithText
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Screen
import com.oneclaw.shadow.start.StartState
import org.junit.Test
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertIs
import kotlin.test.assertTrue

class StartTest : AppTest() {
    @Test
    fun theFirstStartMakesTheFileAndOffersAConversation() {
        launch()
        untilText(strings.chat.empty)
        assertTrue(app.getDatabasePath("oneclaw.db").length() > 0)
        // A debug build of Gradle's stands beside the real app.
        assertEquals("com.oneclaw.shadow", app.packageName.removeSuffix(".debug"))
    }

    @Test
    fun theConversationsOfTheOriginalAppAreThere() {
        app.makeVersion1()
        launchReady()
        act(ChatAction.ShowScreen(Screen.SESSIONS))
        untilText("Grüße 🌍")
        assertEquals(0, count("deleted"))
        tap("Grüße 🌍")
        untilText("好的。")
        ui.onNodeWithText("Read both 🙂").assertIsDisplayed()
    }

    @Test
    fun aFileThatCannotBeOpenedIsLeftAsItIs() {
        val file = app.getDatabasePath(DATABASE)
        file.parentFile?.mkdirs()
        val bytes = ByteArray(8_192) { (it * 7).toByte() }
        file.writeBytes(bytes)
        launch()
        untilText("Your conversations cannot be opened")
        assertIs<StartState.Failed>(app.container.start.state.value)
        tap(strings.common.retry)
        untilText("Your conversations cannot be opened")
        assertContentEquals(bytes, file.readBytes())
        // As if the user had mended it meanwhile.
        assertTrue(file.delete())
        tap(strings.common.retry)
        untilText(strings.chat.empty)
    }
}
