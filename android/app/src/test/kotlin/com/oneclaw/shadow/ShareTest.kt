package com.oneclaw.shadow

import android.content.Intent
import android.graphics.Bitmap
import android.net.Uri
import androidx.compose.ui.test.assertIsDisplayed
import androidx.compose.ui.test.onNodeWithText
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Notice
import org.junit.Test
import org.robolectric.Shadows.shadowOf
import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import kotlin.test.assertEquals
import kotlin.test.assertTrue

/** What other apps send to this one. */
class ShareTest : AppTest() {
    @Test
    fun aTextBecomesTheDraftOfANewConversation() {
        launchReady(Intent(Intent.ACTION_SEND).setType("text/plain").putExtra(Intent.EXTRA_TEXT, "Look at this"))
        untilText("Look at this")
        ui.onNodeWithText("Look at this").assertIsDisplayed()
        assertEquals(null, state.openSessionId)
    }

    @Test
    fun aTextIsNotTakenTwiceWhenThePhoneIsTurned() {
        launchReady(Intent(Intent.ACTION_SEND).setType("text/plain").putExtra(Intent.EXTRA_TEXT, "Look at this"))
        untilText("Look at this")
        act(ChatAction.EditDraft("Something else"))
        turn()
        untilText("Something else")
        assertEquals("Something else", state.chat.draft.text)
    }

    @Test
    fun aPictureIsAttached() {
        launchReady(picture(Uri.parse("content://photos/1"), png()))
        until("picture") { state.chat.draft.attachments.size == 1 }
        val attachment = state.chat.draft.attachments.single()
        assertEquals("image/png" to 40, attachment.mime to attachment.width)
    }

    @Test
    fun ownFilesAndOtherThingsAreNotTaken() {
        val bytes = png()
        val own = app.packageName
        for (uri in listOf("content://$own.files/oneclaw.db", "content://0@$own.files/x.png", "file:///data/data/$own/x.png")) {
            launchReady(picture(Uri.parse(uri), bytes))
            until("word about it") { state.notice is Notice.PictureRefused }
            assertTrue(state.chat.draft.isEmpty, uri)
            screen.close()
            app.endProcess()
        }
        launchReady(picture(Uri.parse("content://photos/2"), "not a picture".toByteArray()))
        until("word about it") { state.notice is Notice.PictureRefused }
        assertTrue(state.chat.draft.isEmpty)
    }

    private fun picture(uri: Uri, bytes: ByteArray): Intent {
        shadowOf(app.contentResolver).registerInputStreamSupplier(uri) { ByteArrayInputStream(bytes) }
        return Intent(Intent.ACTION_SEND).setType("image/*").putExtra(Intent.EXTRA_STREAM, uri)
    }

    private fun png(): ByteArray {
        val out = ByteArrayOutputStream()
        Bitmap.createBitmap(40, 30, Bitmap.Config.ARGB_8888).compress(Bitmap.CompressFormat.PNG, 100, out)
        return out.toByteArray()
    }
}
