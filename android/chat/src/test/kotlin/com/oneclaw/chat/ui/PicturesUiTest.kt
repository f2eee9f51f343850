package com.oneclaw.chat.ui

import androidx.compose.ui.test.assertIsDisplayed
import androidx.compose.ui.test.hasText
import androidx.compose.ui.test.onAllNodesWithText
import androidx.compose.ui.test.onNodeWithContentDescription
import androidx.compose.ui.test.onNodeWithTag
import androidx.compose.ui.test.onNodeWithText
import androidx.compose.ui.test.performScrollToNode
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.SampleData
import com.oneclaw.chat.ui.chat.MESSAGES
import com.oneclaw.core.AttachmentContent
import com.oneclaw.core.CoreException
import com.oneclaw.core.MessageKind
import java.util.Base64
import kotlin.test.Test
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertIs
import kotlin.test.assertTrue

/** The square in a message, twice as long as it is, at one pixel per dp. */
private const val WANTED = 304

private val PICTURE = (SampleData.picture.content as AttachmentContent.New).data

/** Pictures of stored messages are read when they come into sight. */
class PicturesUiTest {
    private val Desk.read: List<String> get() = fake.calls.filter { it.startsWith("attachment ") }

    private fun Desk.shows(text: String) = ui.onAllNodesWithText(text, useUnmergedTree = true).fetchSemanticsNodes().isNotEmpty()

    @Test
    fun onlyWhatIsInSightIsRead() = desk(
        prepare = {
            val many = List(40) { SampleData.user("u-$it", "Message number $it", it.toLong(), listOf(SampleData.storedPicture("u-$it"))) }
            many.forEach { file.attach(it.id, 0, PICTURE) }
            file.add(SampleData.session.copy(id = "s-many"), many)
        },
    ) {
        act(ChatAction.OpenSession("s-many"))
        ui.onNodeWithText("Message number 39").assertIsDisplayed()
        assertTrue("attachment u-39 0" in read)
        assertTrue(read.size <= 8, "$read")
        ui.onNodeWithTag(MESSAGES).performScrollToNode(hasText("Message number 0"))
        settle()
        assertTrue("attachment u-0 0" in read)
        assertTrue(read.size <= 16, "$read")
        assertEquals(setOf(WANTED), system.asked.toSet())
    }

    @Test
    fun theNameStandsThereUntilThePictureIsRead() = desk {
        val gate = fake.hold("attachment")
        act(ChatAction.OpenSession("s-1"))
        ui.onNodeWithContentDescription("Picture gate.png").assertIsDisplayed()
        assertTrue(shows("gate.png"))
        gate.complete(Unit)
        settle()
        ui.onNodeWithContentDescription("Picture gate.png").assertIsDisplayed()
        assertTrue(!shows("gate.png") && !shows(strings.common.pictureUnreadable))
    }

    @Test
    fun aPictureThatCannotBeReadSaysSo() = desk(prepare = { fail("attachment", CoreException.Storage("disk I/O error")) }) {
        act(ChatAction.OpenSession("s-1"))
        assertTrue(shows("gate.png") && shows(strings.common.pictureUnreadable))
    }

    @Test
    fun aPictureIsReadOnceHoweverOftenTheStateChanges() = desk {
        act(ChatAction.OpenSession("s-1"))
        assertEquals(listOf("attachment m-8 0"), read)
        type("And now?")
        press(strings.chat.send)
        play { text("One. ").text("Two.").complete() }
        act(ChatAction.Pin("m-9"), ChatAction.OpenContext, ChatAction.CloseContext)
        assertEquals(listOf("attachment m-8 0"), read)
    }

    @Test
    fun anEditKeepsThePictureInSightAndInTheFile() = desk {
        act(ChatAction.OpenSession("s-1"))
        act(ChatAction.StartEdit("m-8"))
        act(ChatAction.EditDraft("Is it this one?"), ChatAction.Send)
        // What was replaced is gone from the file by now.
        ui.onNodeWithText("Is it this one?", useUnmergedTree = true).assertIsDisplayed()
        ui.onNodeWithContentDescription("Picture gate.png").assertIsDisplayed()
        assertTrue(!shows(strings.common.pictureUnreadable))
        play { text("Yes.").complete() }
        assertTrue(!shows(strings.common.pictureUnreadable))
        val asked = fake.file.rows("s-1").last { it.kind is MessageKind.User }
        val attachment = assertIs<MessageKind.User>(asked.kind).attachments.single()
        assertEquals(SampleData.storedPicture(asked.id), attachment)
        assertContentEquals(Base64.getDecoder().decode(PICTURE), fake.file.attachment(asked.id, 0))
        assertTrue("attachment ${asked.id} 0" in read)
    }

    @Test
    fun anotherReplyKeepsThePicture() = desk {
        act(ChatAction.OpenSession("s-1"))
        act(ChatAction.Regenerate("m-9"))
        play { text("Perhaps.").complete() }
        ui.onNodeWithContentDescription("Picture gate.png").assertIsDisplayed()
        assertEquals(listOf("attachment m-8 0"), read)
    }
}
