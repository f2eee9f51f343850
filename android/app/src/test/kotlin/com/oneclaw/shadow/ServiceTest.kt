package com.oneclaw.shadow

import android.app.NotificationManager
import android.content.ComponentName
import android.content.Intent
import android.content.pm.ServiceInfo
import android.os.Build
import com.oneclaw.bridge.fake.FakeChatRepository
import com.oneclaw.shadow.background.ReplyService
import org.junit.Assume.assumeTrue
import org.junit.Test
import org.robolectric.Robolectric
import org.robolectric.Shadows.shadowOf
import org.robolectric.android.controller.ServiceController
import kotlin.test.assertEquals
import kotlin.test.assertNotNull
import kotlin.test.assertNull
import kotlin.test.assertTrue

private const val DATA_SYNC = ServiceInfo.FOREGROUND_SERVICE_TYPE_DATA_SYNC

/** What happens when the user leaves while an answer is being received. */
class ServiceTest : AppTest() {
    private val core = FakeChatRepository()

    @Test
    fun theServiceIsStartedOnlyWhileSomethingGoesOn() {
        answeredBy(core)
        core.turns.last().text("Whole").complete()
        until("rest") { state.chat.isQuiet }
        screen.pause().stop()
        assertNull(shadowOf(app).nextStartedService)
    }

    @Test
    fun itSaysSilentlyThatAnAnswerIsReceivedAndEndsWithIt() {
        answeredBy(core)
        val service = leave()
        val shadow = shadowOf(service.get())
        val notification = assertNotNull(shadow.lastForegroundNotification)
        val manager = app.getSystemService(NotificationManager::class.java)
        val channel = checkNotNull(manager).getNotificationChannel(notification.channelId)
        assertEquals(NotificationManager.IMPORTANCE_LOW, channel.importance)
        assertTrue("Hello" !in notification.extras.toString())
        core.turns.last().text("Whole").complete()
        until("end of the service") { shadow.isStoppedBySelf }
        assertTrue(shadow.isForegroundStopped)
    }

    @Test
    fun itEndsWhenTheUserIsBack() {
        answeredBy(core)
        val service = leave()
        screen.restart().start().resume()
        until("end of the service") { shadowOf(service.get()).isStoppedBySelf }
        assertEquals(1, state.busySessions.size)
    }

    @Test
    fun itsButtonStopsTheAnswerAndKeepsWhatCame() {
        answeredBy(core)
        core.turns.last().text("As far as")
        until("delta") { state.chat.turns.single().open != null }
        val service = leave()
        val stop = assertNotNull(shadowOf(service.get()).lastForegroundNotification).actions.single()
        val intent = shadowOf(stop.actionIntent).savedIntent
        assertEquals(ComponentName(app, ReplyService::class.java), intent.component)
        service.get().onStartCommand(intent, 0, 2)
        until("end of the service") { shadowOf(service.get()).isStoppedBySelf }
        until("stored form") { state.chat.isQuiet && state.chat.items.size == 2 }
    }

    /** Android 15 ends it after some hours; whoever does not stop then is taken down. */
    @Test
    fun itEndsWhenItsTimeIsUpAndTheAnswerGoesOn() {
        answeredBy(core)
        val service = leave()
        service.get().onTimeout(1, DATA_SYNC)
        val shadow = shadowOf(service.get())
        assertTrue(shadow.isForegroundStopped && shadow.isStoppedBySelf)
        core.turns.last().text("Whole").complete()
        until("answer") { state.chat.isQuiet && state.chat.items.size == 2 }
    }

    @Test
    fun theManifestSaysOfWhichTypeItIs() {
        assumeTrue("older ones know no types", Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q)
        val info = app.packageManager.getServiceInfo(ComponentName(app, ReplyService::class.java), 0)
        assertEquals(DATA_SYNC, info.foregroundServiceType)
        assertTrue(!info.exported)
    }

    /** The service that leaving has started, as the system would run it. */
    private fun leave(): ServiceController<ReplyService> {
        screen.pause().stop()
        val intent: Intent = assertNotNull(shadowOf(app).nextStartedService)
        assertEquals(ComponentName(app, ReplyService::class.java), intent.component)
        return Robolectric.buildService(ReplyService::class.java, intent).create().startCommand(0, 1)
    }
}
