package com.oneclaw.shadow

import android.content.Intent
import android.os.Bundle
import android.os.Looper
import android.os.Parcel
import androidx.compose.ui.semantics.SemanticsProperties
import androidx.compose.ui.test.ComposeTimeoutException
import androidx.compose.ui.test.SemanticsMatcher
import androidx.compose.ui.test.SemanticsNodeInteraction
import androidx.compose.ui.test.hasContentDescription
import androidx.compose.ui.test.hasSetTextAction
import androidx.compose.ui.test.hasText
import androidx.compose.ui.test.junit4.v2.createEmptyComposeRule
import androidx.compose.ui.test.onNodeWithContentDescription
import androidx.compose.ui.test.onNodeWithText
import androidx.compose.ui.test.performClick
import androidx.compose.ui.test.performTextInput
import androidx.test.core.app.ApplicationProvider
import com.oneclaw.bridge.fake.FakeChatRepository
import com.oneclaw.chat.AppUiState
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ENGLISH
import org.junit.After
import org.junit.Rule
import org.junit.runner.RunWith
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import org.robolectric.android.controller.ActivityController
import org.robolectric.annotation.Config

private const val PATIENCE_MS = 30_000L
private const val LINE = 80

/** The real activity with the real core on the host. What Android does is played by Robolectric; see tests/android. */
@RunWith(RobolectricTestRunner::class)
@Config(application = TestApp::class)
abstract class AppTest {
    @get:Rule
    val ui = createEmptyComposeRule()

    protected val strings = ENGLISH
    protected val app: TestApp get() = ApplicationProvider.getApplicationContext()
    protected val state: AppUiState get() = checkNotNull(app.ready) { "not ready" }.holder.state.value
    protected lateinit var screen: ActivityController<MainActivity>

    @After
    fun end() {
        if (::screen.isInitialized) screen.close()
        app.endProcess()
    }

    /** Starts the activity, as a tap on the icon or another app does. */
    protected fun launch(intent: Intent = Intent(Intent.ACTION_MAIN)) {
        screen = Robolectric.buildActivity(MainActivity::class.java, intent.setClass(app, MainActivity::class.java)).setup()
    }

    protected fun launchReady(intent: Intent = Intent(Intent.ACTION_MAIN)) {
        launch(intent)
        until("core") { app.ready != null }
    }

    /** Turns the phone, which makes a new activity. */
    protected fun turn() {
        val old = screen.get()
        RuntimeEnvironment.setQualifiers(if (isUpright()) "+land" else "+port")
        screen.configurationChange().visible()
        check(screen.get() !== old || old.isDestroyed) { "the activity was not made anew" }
        ui.waitForIdle()
    }

    protected fun isUpright() = app.resources.configuration.let { it.screenHeightDp > it.screenWidthDp }

    /** Ends activity and process as the system does with an app in the background, and comes back to it. */
    protected fun dieAndComeBack() {
        val bundle = Bundle()
        screen.pause().stop().saveInstanceState(bundle).destroy()
        app.endProcess()
        val kept = throughParcel(bundle)
        screen = Robolectric.buildActivity(MainActivity::class.java, screen.intent).setup(kept)
        until("core") { app.ready != null }
    }

    /** The activity while [core], which the test plays, answers. */
    protected fun answeredBy(core: FakeChatRepository) {
        app.playedBy(core)
        launchReady()
        act(ChatAction.EditDraft("Hello"), ChatAction.Send)
        until("answer") { state.chat.isAnswering && core.turns.isNotEmpty() }
    }

    protected fun until(what: String, condition: () -> Boolean) {
        try {
            ui.waitUntil(PATIENCE_MS) {
                shadowOf(Looper.getMainLooper()).idle()
                condition()
            }
        } catch (late: ComposeTimeoutException) {
            throw AssertionError("no $what in time; on the screen: ${onScreen()}", late)
        }
    }

    private fun onScreen(): List<String> = ui.onAllNodes(SemanticsMatcher.keyIsDefined(SemanticsProperties.Text))
        .fetchSemanticsNodes(false).flatMap { it.config[SemanticsProperties.Text] }.map { it.text.take(LINE) }

    protected fun untilText(text: String) = until("text “$text”") { count(text) > 0 }

    protected fun count(text: String): Int = ui.onAllNodes(hasText(text, substring = true)).fetchSemanticsNodes(false).size

    protected fun input(): SemanticsNodeInteraction = ui.onNode(hasContentDescription(strings.chat.input) and hasSetTextAction())

    /** Types a message and presses the button. */
    protected fun send(text: String) {
        input().performTextInput(text)
        press(strings.chat.send)
    }

    protected fun press(label: String) {
        ui.onNodeWithContentDescription(label).performClick()
    }

    protected fun tap(text: String) {
        ui.onNodeWithText(text).performClick()
    }

    protected fun act(vararg actions: ChatAction) {
        ui.runOnUiThread { actions.forEach { checkNotNull(app.ready).holder.onAction(it) } }
        ui.waitForIdle()
    }
}

/** As the system keeps it outside the process: only what can be written down survives. */
private fun throughParcel(bundle: Bundle): Bundle {
    val parcel = Parcel.obtain()
    try {
        bundle.writeToParcel(parcel, 0)
        parcel.setDataPosition(0)
        return checkNotNull(parcel.readBundle(AppTest::class.java.classLoader))
    } finally {
        parcel.recycle()
    }
}
