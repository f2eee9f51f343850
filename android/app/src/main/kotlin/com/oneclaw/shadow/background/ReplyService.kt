package com.oneclaw.shadow.background

import android.app.Service
import android.content.Context
import android.content.Intent
import android.os.IBinder
import com.oneclaw.shadow.container
import kotlinx.coroutines.Job
import kotlinx.coroutines.launch

/**
 * Keeps the process alive while an answer is received and the app is not in front. It does none of the work: that goes on in
 * the process's own scope. Ends itself as soon as there is nothing to wait for, or the user is back.
 *
 * Nobody else may end it: a service that is stopped between its start and its notification takes the app down.
 */
class ReplyService : Service() {
    private var watch: Job? = null

    override fun onBind(intent: Intent?): IBinder? = null

    override fun onStartCommand(intent: Intent?, flags: Int, startId: Int): Int {
        if (intent?.action == STOP) container.scope.launch { container.work.stop() }
        try {
            // Of the type that the manifest names.
            startForeground(REPLY_NOTIFICATION, replyNotification(this))
        } catch (_: IllegalStateException) {
            // Refused, as when the hours of the day are used up. The answer goes on as long as the process does.
            stopSelf(startId)
            return START_NOT_STICKY
        }
        watch?.cancel()
        watch = container.scope.launch {
            container.work.isGoingOnUnseen.collect { if (!it) end(startId) }
        }
        return START_NOT_STICKY
    }

    /** Android lets data be exchanged in the background for some hours a day, no longer. */
    override fun onTimeout(startId: Int, fgsType: Int) = end(startId)

    override fun onDestroy() {
        watch?.cancel()
        super.onDestroy()
    }

    private fun end(startId: Int) {
        stopForeground(STOP_FOREGROUND_REMOVE)
        stopSelf(startId)
    }

    companion object {
        internal const val STOP = "com.oneclaw.shadow.STOP"

        /** To be called while the app is still in front; from the background Android refuses. */
        internal fun start(context: Context) {
            try {
                context.startForegroundService(Intent(context, ReplyService::class.java))
            } catch (_: IllegalStateException) {
                // Refused. The answer goes on as long as the process does, and is stored step by step.
            }
        }
    }
}
