package com.oneclaw.shadow.background

import android.app.Notification
import android.app.NotificationChannel
import android.app.NotificationManager
import android.app.PendingIntent
import android.content.Context
import android.content.Intent
import android.graphics.drawable.Icon
import com.oneclaw.shadow.MainActivity
import com.oneclaw.shadow.R
import com.oneclaw.shadow.ui.screenTexts

internal const val REPLY_NOTIFICATION = 1
private const val CHANNEL = "replies"

/** Says that an answer is being received; silent, and without a word of the conversation: it shows on a locked phone too. */
internal fun replyNotification(context: Context): Notification {
    val channel = NotificationChannel(CHANNEL, context.getString(R.string.replies_channel), NotificationManager.IMPORTANCE_LOW)
    channel.description = context.getString(R.string.replies_channel_description)
    channel.setShowBadge(false)
    context.getSystemService(NotificationManager::class.java)?.createNotificationChannel(channel)
    val icon = Icon.createWithResource(context, R.drawable.ic_notification)
    val open = Intent(context, MainActivity::class.java)
    val stop = Intent(context, ReplyService::class.java).setAction(ReplyService.STOP)
    val onStop = PendingIntent.getService(context, 0, stop, PendingIntent.FLAG_IMMUTABLE)
    return Notification.Builder(context, CHANNEL)
        .setSmallIcon(icon)
        .setContentTitle(context.getString(R.string.reply_going_on))
        .setCategory(Notification.CATEGORY_PROGRESS)
        .setProgress(0, 0, true)
        .setOngoing(true)
        .setContentIntent(PendingIntent.getActivity(context, 0, open, PendingIntent.FLAG_IMMUTABLE))
        .addAction(Notification.Action.Builder(icon, context.screenTexts().chat.stop, onStop).build())
        .build()
}
