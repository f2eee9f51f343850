package com.oneclaw.shadow

import android.graphics.Bitmap
import android.graphics.Canvas
import android.graphics.Color
import com.oneclaw.chat.ChatAction
import org.junit.Test
import org.robolectric.RuntimeEnvironment
import java.io.File
import kotlin.test.assertTrue

/** The activity as Android's own graphics draw it. Kept as files where `oneclaw.pictures` says so: `scripts/check-android --pictures`. */
class PictureTest : AppTest() {
    @Test
    fun aConversationByDay() {
        RuntimeEnvironment.setQualifiers("+notnight")
        converse()
        assertTrue(brightness(picture("android-chat")) > BRIGHT)
    }

    @Test
    fun aConversationByNight() {
        RuntimeEnvironment.setQualifiers("+night")
        converse()
        assertTrue(brightness(picture("android-chat-dark")) < DARK)
    }

    @Test
    fun aFileThatCannotBeOpened() {
        val file = app.getDatabasePath(DATABASE)
        file.parentFile?.mkdirs()
        file.writeText("not a database, ".repeat(1_000))
        launch()
        untilText(strings.common.retry)
        assertTrue(brightness(picture("android-start-failed")) > BRIGHT)
    }

    private fun converse() {
        launch()
        untilText(strings.chat.empty)
        send("Remember: the port = 8080.")
        untilText("Noted: the port = 8080.")
        until("rest") { state.chat.isQuiet }
        send("What time is it now?")
        untilText("get_current_time returned")
        until("rest") { state.chat.isQuiet && state.chat.turns.isEmpty() }
        act(ChatAction.EditDraft("Drawn by Robolectric"))
        ui.waitForIdle()
    }

    private fun picture(name: String): Bitmap {
        ui.waitForIdle()
        val view = screen.get().window.decorView
        val bitmap = Bitmap.createBitmap(view.width, view.height, Bitmap.Config.ARGB_8888)
        ui.runOnUiThread { view.draw(Canvas(bitmap)) }
        val folder = System.getProperty("oneclaw.pictures").orEmpty()
        if (folder.isNotEmpty()) {
            File(folder).mkdirs()
            File(folder, "$name.png").outputStream().use { bitmap.compress(Bitmap.CompressFormat.PNG, 100, it) }
        }
        return bitmap
    }

    /** The middle of all points, from 0 to 1. */
    private fun brightness(bitmap: Bitmap): Float {
        val small = Bitmap.createScaledBitmap(bitmap, SAMPLE, SAMPLE, true)
        val points = (0 until SAMPLE).flatMap { x -> (0 until SAMPLE).map { y -> Color.luminance(small.getPixel(x, y)) } }
        return points.average().toFloat()
    }

    private companion object {
        const val SAMPLE = 32
        const val BRIGHT = 0.6f
        const val DARK = 0.3f
    }
}
