package com.oneclaw.shadow

import android.content.Intent
import android.graphics.Bitmap
import android.net.Uri
import androidx.compose.ui.test.assertIsDisplayed
import androidx.compose.ui.test.onNodeWithText
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.MOST_PICTURES
import com.oneclaw.chat.Notice
import com.oneclaw.shadow.share.MOST_BYTES
import com.oneclaw.shadow.share.MOST_TEXT
import com.oneclaw.shadow.share.ShareReader
import com.oneclaw.shadow.share.Shared
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import org.junit.Test
import org.robolectric.Shadows.shadowOf
import java.io.ByteArrayOutputStream
import java.io.InputStream
import java.util.concurrent.CountDownLatch
import kotlin.test.assertEquals
import kotlin.test.assertSame
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.milliseconds

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

    @Test
    fun severalPicturesAreAttached() {
        launchReady(pictures(3))
        until("pictures") { state.chat.draft.attachments.size == 3 }
        assertTrue(state.notices.isEmpty())
    }

    @Test
    fun ofTooManyPicturesTheFirstAreAttachedAndThatIsSaid() {
        launchReady(pictures(MOST_PICTURES + 2))
        until("pictures") { state.chat.draft.attachments.size == MOST_PICTURES }
        until("word about it") { state.notice is Notice.TooManyPictures }
    }

    @Test
    fun whatIsSharedIntoTheOpenAppComesToANewConversation() {
        launchReady()
        untilText(strings.chat.empty)
        val open = screen.get()
        screen.newIntent(Intent(Intent.ACTION_SEND).setType("text/plain").putExtra(Intent.EXTRA_TEXT, "Look at this"))
        untilText("Look at this")
        assertSame(open, screen.get())
    }

    @Test
    fun aTextThatComesAsAFileBecomesTheDraft() {
        launchReady(textFile("Grüße 🌍".toByteArray()))
        until("text") { state.chat.draft.text == "Grüße 🌍" }
        assertTrue(state.notices.isEmpty())
    }

    @Test
    fun aTextThatIsTooLongOrNoneIsNotTaken() {
        val long = ByteArray(MOST_TEXT + 1) { 'a'.code.toByte() }
        for (bytes in listOf(long, ByteArray(MOST_TEXT * 4), byteArrayOf(0x61, 0xff.toByte()))) {
            assertEquals(Shared("", emptyList(), isTextRefused = true), read(textFile(bytes)))
        }
        val text = Intent(Intent.ACTION_SEND).setType("text/plain").putExtra(Intent.EXTRA_TEXT, "a".repeat(MOST_TEXT + 1))
        assertEquals(Shared("", emptyList(), isTextRefused = true), read(text))
        assertEquals(MOST_TEXT, read(textFile(long.copyOf(MOST_TEXT))).text.length)
    }

    @Test
    fun aFileThatNeverEndsIsNotReadToItsEnd() {
        var count = 0L
        val endless = object : InputStream() {
            override fun read() = 0.also { count++ }

            override fun read(bytes: ByteArray, from: Int, length: Int) = length.also { count += it }
        }
        val intent = stream("image/*", Uri.parse("content://photos/endless")) { endless }
        assertEquals(Shared("", emptyList(), isPictureRefused = true), read(intent))
        assertTrue(count < MOST_BYTES + 100_000, "$count bytes")
    }

    @Test
    fun anAppThatDoesNotAnswerIsNotWaitedForAndHoldsUpNoText() {
        val answers = CountDownLatch(1)
        val silent = stream("image/*", Uri.parse("content://photos/silent")) { png().inputStream().also { answers.await() } }
        val reader = ShareReader(app.contentResolver, app.packageName, Dispatchers.IO, patience = 100.milliseconds)
        repeat(3) {
            assertEquals(Shared("", emptyList(), isPictureRefused = true), runBlocking { reader.read(silent) })
        }
        val text = Intent(Intent.ACTION_SEND).setType("text/plain").putExtra(Intent.EXTRA_TEXT, "Look at this")
        assertEquals(Shared("Look at this", emptyList()), runBlocking { reader.read(text) })
        answers.countDown()
    }

    private fun read(intent: Intent): Shared = runBlocking { app.container.shareReader.read(intent) }

    private fun textFile(bytes: ByteArray) = stream("text/plain", Uri.parse("content://texts/1")) { bytes.inputStream() }

    private fun picture(uri: Uri, bytes: ByteArray) = stream("image/*", uri) { bytes.inputStream() }

    private fun pictures(count: Int): Intent {
        val addresses = (1..count).map { Uri.parse("content://photos/$it") }
        val bytes = png()
        addresses.forEach { picture(it, bytes) }
        return Intent(Intent.ACTION_SEND_MULTIPLE).setType("image/*").putParcelableArrayListExtra(Intent.EXTRA_STREAM, ArrayList(addresses))
    }

    private fun stream(type: String, uri: Uri, open: () -> InputStream): Intent {
        shadowOf(app.contentResolver).registerInputStreamSupplier(uri) { open() }
        return Intent(Intent.ACTION_SEND).setType(type).putExtra(Intent.EXTRA_STREAM, uri)
    }

    private fun png(): ByteArray {
        val out = ByteArrayOutputStream()
        Bitmap.createBitmap(40, 30, Bitmap.Config.ARGB_8888).compress(Bitmap.CompressFormat.PNG, 100, out)
        return out.toByteArray()
    }
}
