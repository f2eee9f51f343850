package com.oneclaw.shadow

import android.Manifest.permission.POST_NOTIFICATIONS
import android.content.ActivityNotFoundException
import android.content.Intent
import android.content.pm.PackageManager.PERMISSION_GRANTED
import android.os.Build
import android.os.Bundle
import androidx.activity.ComponentActivity
import androidx.activity.compose.setContent
import androidx.activity.enableEdgeToEdge
import androidx.activity.result.PickVisualMediaRequest
import androidx.activity.result.contract.ActivityResultContracts.CreateDocument
import androidx.activity.result.contract.ActivityResultContracts.PickVisualMedia
import androidx.activity.result.contract.ActivityResultContracts.RequestPermission
import androidx.activity.viewModels
import com.oneclaw.shadow.background.ReplyService
import com.oneclaw.shadow.ui.AppActions
import com.oneclaw.shadow.ui.AppScreen
import com.oneclaw.shadow.ui.androidPlatform

/** The one activity: hands the system's side of things to the screens, and what comes from outside to the view model. */
class MainActivity : ComponentActivity() {
    private val model by viewModels<ChatViewModel> { ChatViewModel.Factory }
    private val pickPicture = registerForActivityResult(PickVisualMedia()) { it?.let(model::attach) }
    private val chooseCopy = registerForActivityResult(CreateDocument("application/zip")) { to ->
        to?.let { model.saveCopy(it, contentResolver) }
    }

    // Whatever the answer is: without the permission an answer goes on all the same, only without a notification.
    private val askAboutNotifications = registerForActivityResult(RequestPermission()) {}

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        enableEdgeToEdge()
        val platform = androidPlatform(this) {
            ask(R.string.no_picker) { pickPicture.launch(PickVisualMediaRequest(PickVisualMedia.ImageOnly)) }
        }
        val saveCopy = { ask(R.string.copy_failed) { chooseCopy.launch("$DATABASE.zip") } }
        val actions = AppActions(model::retry, saveCopy, model::messageShown)
        setContent { AppScreen(model.start, model.message, platform, actions) }
        // After a rotation or from the list of recent apps it is an old one.
        if (savedInstanceState == null) take(intent)
    }

    override fun onNewIntent(intent: Intent) {
        super.onNewIntent(intent)
        take(intent)
    }

    override fun onStart() {
        super.onStart()
        if (container.work.wasLeft) askAboutNotifications()
    }

    override fun onResume() {
        super.onResume()
        container.work.cameToFront()
    }

    /** Still in front, so that the service may be started. */
    override fun onPause() {
        if (!isChangingConfigurations) {
            container.work.leftFront()
            if (container.work.isGoingOn) ReplyService.start(this)
        }
        super.onPause()
    }

    /** Out of sight. A dialog of the system, as the one about notifications, only pauses. */
    override fun onStop() {
        if (!isChangingConfigurations) container.work.left()
        super.onStop()
    }

    /** Asks another app; where there is none, [otherwise] is said. */
    private fun ask(otherwise: Int, launch: () -> Unit) = try {
        launch()
    } catch (_: ActivityNotFoundException) {
        model.tell(otherwise)
    }

    private fun take(intent: Intent) {
        val isShare = intent.action == Intent.ACTION_SEND || intent.action == Intent.ACTION_SEND_MULTIPLE
        val isOld = intent.flags and Intent.FLAG_ACTIVITY_LAUNCHED_FROM_HISTORY != 0
        if (isShare && !isOld) model.share(intent)
    }

    /** Asked once, and only of those who have left while an answer was coming, when they are back: now they know what for. */
    private fun askAboutNotifications() {
        container.work.askedAboutNotifications()
        if (Build.VERSION.SDK_INT < Build.VERSION_CODES.TIRAMISU) return
        if (checkSelfPermission(POST_NOTIFICATIONS) != PERMISSION_GRANTED) askAboutNotifications.launch(POST_NOTIFICATIONS)
    }
}
