package com.oneclaw.shadow

import android.app.Activity
import android.content.Intent
import android.net.Uri
import android.os.Looper
import com.oneclaw.bridge.fake.FakeChatRepository
import com.oneclaw.chat.CHINESE
import com.oneclaw.shadow.start.StartState
import com.oneclaw.shadow.start.writeCopy
import kotlinx.coroutines.CompletableDeferred
import org.junit.Test
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import org.robolectric.shadows.ShadowToast
import java.io.ByteArrayOutputStream
import java.time.Duration
import java.util.zip.ZipInputStream
import kotlin.test.assertEquals
import kotlin.test.assertIs

/** The way to the conversations where it is not the usual one: slow, in Chinese, or to the copy of a file. */
class SlowStartTest : AppTest() {
    @Test
    fun onlyAnOpeningThatTakesLongIsShown() {
        val opened = CompletableDeferred<Unit>()
        val core = FakeChatRepository()
        app.endProcess(AppContainer(app, open = { _, _ -> core.also { opened.await() } }))
        launch()
        ui.waitForIdle()
        assertIs<StartState.Opening>(app.container.start.state.value)
        assertEquals(0, count(app.getString(R.string.start_slow)))

        shadowOf(Looper.getMainLooper()).idleFor(Duration.ofSeconds(1))
        untilText(app.getString(R.string.start_slow))
        assertIs<StartState.Slow>(app.container.start.state.value)

        opened.complete(Unit)
        untilText(strings.chat.empty)
        assertEquals(0, count(app.getString(R.string.start_slow)))
    }

    @Test
    fun theTextsFollowTheLanguageOfThePhone() {
        RuntimeEnvironment.setQualifiers("+zh-rCN")
        launch()
        untilText(CHINESE.chat.empty)
        assertEquals("zh", app.getString(R.string.language))
        assertEquals(0, count(strings.chat.empty))
    }

    @Test
    fun theCopyHasTheFileAndTheLogBesideIt() {
        val files = brokenFiles("", "-wal")
        launch()
        untilText(app.getString(R.string.save_copy))
        tap(app.getString(R.string.save_copy))
        val request = shadowOf(screen.get()).nextStartedActivityForResult
        assertEquals(Intent.ACTION_CREATE_DOCUMENT, request.intent.action)
        val out = ByteArrayOutputStream()
        val to = Uri.parse("content://documents/copy")
        shadowOf(app.contentResolver).registerOutputStream(to, out)
        shadowOf(screen.get()).receiveResult(request.intent, Activity.RESULT_OK, Intent().setData(to))
        until("word about it") { ShadowToast.shownToastCount() > 0 }
        assertEquals(app.getString(R.string.copy_saved), ShadowToast.getTextOfLatestToast())
        assertEquals(files, entries(out))
    }

    @Test
    fun aPhoneWithoutAnAppForFilesSaysSo() {
        brokenFiles("")
        launch()
        untilText(app.getString(R.string.save_copy))
        shadowOf(app).checkActivities(true)
        tap(app.getString(R.string.save_copy))
        until("word about it") { ShadowToast.shownToastCount() > 0 }
        assertEquals(app.getString(R.string.copy_failed), ShadowToast.getTextOfLatestToast())
    }

    @Test
    fun aPhoneWithoutAnAppForPicturesSaysSo() {
        app.playedBy(FakeChatRepository())
        launchReady()
        shadowOf(app).checkActivities(true)
        press(strings.chat.attach)
        until("word about it") { ShadowToast.shownToastCount() > 0 }
        assertEquals(app.getString(R.string.no_picker), ShadowToast.getTextOfLatestToast())
    }

    @Test
    fun theCopyHasWhateverIsThere() {
        val files = brokenFiles("", "-wal", "-journal")
        val out = ByteArrayOutputStream()
        writeCopy(app.getDatabasePath(DATABASE), out)
        assertEquals(files, entries(out))
    }

    /** By name. None of them is what it should be. */
    private fun brokenFiles(vararg endings: String): Map<String, List<Byte>> = endings.associate { ending ->
        val file = app.getDatabasePath(DATABASE + ending)
        file.parentFile?.mkdirs()
        val bytes = ByteArray(4_096) { (it * 7 + ending.length).toByte() }
        file.writeBytes(bytes)
        file.name to bytes.toList()
    }

    private fun entries(zip: ByteArrayOutputStream): Map<String, List<Byte>> = ZipInputStream(zip.toByteArray().inputStream()).use {
        generateSequence { it.nextEntry }.associate { entry -> entry.name to it.readBytes().toList() }
    }
}
