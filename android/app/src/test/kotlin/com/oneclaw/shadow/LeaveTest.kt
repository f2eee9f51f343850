package com.oneclaw.shadow

import android.content.Intent
import android.os.Build
import com.oneclaw.bridge.fake.FakeChatRepository
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Screen
import com.oneclaw.core.CoreException
import com.oneclaw.shadow.background.ReplyService
import org.junit.Assume.assumeTrue
import org.junit.Test
import org.robolectric.Robolectric
import org.robolectric.Shadows.shadowOf
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertNotNull
import kotlin.test.assertNull
import kotlin.test.assertSame
import kotlin.test.assertTrue

/** Leaving: with Back, for a while, and when Android wants no service. */
class LeaveTest : AppTest() {
    private val core = FakeChatRepository()

    @Test
    fun backGoesFromTheChatToTheListAndThenOut() {
        launchReady()
        untilText(strings.chat.empty)
        assertTrue(screen.get().onBackPressedDispatcher.hasEnabledCallbacks())
        back()
        untilText(strings.sessions.empty)
        assertEquals(Screen.SESSIONS, state.screen)
        assertFalse(screen.get().isFinishing)
        assertFalse(screen.get().onBackPressedDispatcher.hasEnabledCallbacks(), "Back is the system's from here on")
        back()
        assertEquals(Screen.SESSIONS, state.screen)
        // From Android 12 on the system puts the app aside instead, which Robolectric does not play.
        if (Build.VERSION.SDK_INT < Build.VERSION_CODES.S) assertTrue(screen.get().isFinishing)
    }

    @Test
    fun notificationsAreAskedAboutOnce() {
        assumeTrue("older ones do not ask", Build.VERSION.SDK_INT >= Build.VERSION_CODES.TIRAMISU)
        answeredBy(core)
        assertNull(lastRequest())
        // A dialog of the system only pauses.
        screen.pause().resume()
        assertNull(lastRequest())
        leaveAndComeBack()
        val asked = assertNotNull(lastRequest())
        assertContentEquals(arrayOf(android.Manifest.permission.POST_NOTIFICATIONS), asked.requestedPermissions)
        screen.pause().resume()
        leaveAndComeBack()
        assertSame(asked, lastRequest())
    }

    @Test
    fun whoLeavesWhileNothingGoesOnIsNotAsked() {
        app.playedBy(core)
        launchReady()
        leaveAndComeBack()
        assertNull(lastRequest())
    }

    @Test
    fun aServiceThatAndroidRefusesEndsAndTheAnswerGoesOn() {
        answeredBy(core)
        screen.pause().stop()
        val service = Robolectric.buildService(ReplyService::class.java, Intent()).create()
        shadowOf(service.get()).setThrowInStartForeground(IllegalStateException("time is up"))
        service.startCommand(0, 1)
        assertTrue(shadowOf(service.get()).isStoppedBySelf)
        core.turns.last().text("Whole").complete()
        until("answer") { state.chat.isQuiet && state.chat.items.size == 2 }
    }

    @Test
    fun anAnswerThatCannotBeStoppedDoesNotEndTheApp() {
        answeredBy(core)
        act(ChatAction.NewSession)
        core.fail("stop", CoreException.Closed())
        screen.pause().stop()
        val stop = Intent(app, ReplyService::class.java).setAction(ReplyService.STOP)
        Robolectric.buildService(ReplyService::class.java, stop).create().startCommand(0, 1)
        until("attempt") { core.calls.any { it.startsWith("stop") } }
        assertEquals(1, state.busySessions.size)
    }

    private fun leaveAndComeBack() {
        screen.pause().stop().restart().start().resume()
    }

    private fun back() {
        ui.runOnUiThread { screen.get().onBackPressedDispatcher.onBackPressed() }
        ui.waitForIdle()
    }

    private fun lastRequest() = shadowOf(screen.get()).lastRequestedPermission
}
