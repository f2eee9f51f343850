package com.oneclaw.shadow

import android.content.ContentResolver
import android.content.Intent
import android.net.Uri
import android.os.Bundle
import androidx.lifecycle.DEFAULT_ARGS_KEY
import androidx.lifecycle.SavedStateHandle
import androidx.lifecycle.ViewModel
import androidx.lifecycle.ViewModelProvider.AndroidViewModelFactory.Companion.APPLICATION_KEY
import androidx.lifecycle.createSavedStateHandle
import androidx.lifecycle.viewModelScope
import androidx.lifecycle.viewmodel.CreationExtras
import androidx.lifecycle.viewmodel.MutableCreationExtras
import androidx.lifecycle.viewmodel.initializer
import androidx.lifecycle.viewmodel.viewModelFactory
import com.oneclaw.chat.AppUiState
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ChatStateHolder
import com.oneclaw.shadow.start.StartState
import com.oneclaw.shadow.start.writeCopy
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.filterIsInstance
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import java.io.FileNotFoundException
import java.io.IOException

private const val PLACE = "place"

/**
 * What an activity has of the app. The state itself is the process's: it outlives an activity that is closed while an answer
 * is being received. Kept with the activity is only the place, for the case that the process is ended.
 */
class ChatViewModel(private val container: AppContainer, savedState: SavedStateHandle) : ViewModel() {
    private val restored: Bundle? = savedState[PLACE]
    private val messages = MutableStateFlow<Int?>(null)

    val start: StateFlow<StartState> = container.start.state

    /** Something to tell once, as a resource. Stays until [messageShown]. */
    val message: StateFlow<Int?> = messages.asStateFlow()

    init {
        savedState.setSavedStateProvider(PLACE) { place() }
        container.start.begin(restored?.let(::stateAt) ?: AppUiState())
    }

    fun retry() = container.start.retry()

    fun tell(message: Int) {
        messages.value = message
    }

    fun messageShown() {
        messages.value = null
    }

    /** Begins a conversation with what another app has sent; it is sent on only by the user. */
    fun share(intent: Intent) {
        viewModelScope.launch {
            val shared = container.shareReader.read(intent)
            val holder = holder()
            if (shared.isTextRefused) tell(R.string.share_incomplete)
            if (shared.isPictureRefused) holder.onAction(ChatAction.RefusePicture)
            if (shared.hasMorePictures) holder.onAction(ChatAction.RefuseMorePictures)
            if (shared.isEmpty) return@launch
            holder.onAction(ChatAction.NewSession)
            val texts = listOf(holder.state.value.chat.draft.text, shared.text).filter { it.isNotEmpty() }
            holder.onAction(ChatAction.EditDraft(texts.joinToString("\n\n")))
            shared.pictures.forEach { holder.onAction(ChatAction.AddAttachment(it)) }
        }
    }

    /** Attaches a picture that the user has picked. */
    fun attach(address: Uri) {
        viewModelScope.launch {
            val picture = container.shareReader.picture(address)
            holder().onAction(picture?.let(ChatAction::AddAttachment) ?: ChatAction.RefusePicture)
        }
    }

    /** Writes a copy of the file that cannot be opened to where the user has chosen. */
    fun saveCopy(to: Uri, resolver: ContentResolver) {
        viewModelScope.launch {
            val isSaved = withContext(container.io) {
                try {
                    val out = resolver.openOutputStream(to, "wt") ?: throw FileNotFoundException("$to")
                    out.use { writeCopy(container.database(), it) }
                    true
                } catch (_: IOException) {
                    false
                } catch (_: RuntimeException) {
                    // The place belongs to another app, which throws what it likes.
                    false
                }
            }
            tell(if (isSaved) R.string.copy_saved else R.string.copy_failed)
        }
    }

    private suspend fun holder(): ChatStateHolder = start.filterIsInstance<StartState.Ready>().first().holder

    /** Until there is a state, the place is the one that was to be restored. */
    private fun place(): Bundle {
        val ready = start.value as? StartState.Ready
        return ready?.let { placeOf(it.holder.state.value) } ?: restored ?: Bundle()
    }

    companion object {
        val Factory = viewModelFactory {
            initializer { ChatViewModel((this[APPLICATION_KEY] as OneClawApplication).container, ownState()) }
        }
    }
}

/**
 * What this app has saved, and nothing else. By default a handle begins with the extras of the intent, which any app can send:
 * they would choose the place, end the app with a class that it does not know, and be saved along.
 */
private fun CreationExtras.ownState(): SavedStateHandle =
    MutableCreationExtras(this).apply { set(DEFAULT_ARGS_KEY, Bundle()) }.createSavedStateHandle()
