package com.oneclaw.chat

import com.oneclaw.core.Attachment
import com.oneclaw.core.ListedModel
import com.oneclaw.core.Model
import com.oneclaw.core.ModelRef
import com.oneclaw.core.Provider
import com.oneclaw.core.Session
import com.oneclaw.core.Shelf

/** What a person can do. Screens send these and nothing else. */
sealed interface ChatAction {
    // Moving about.

    data class ShowScreen(val screen: Screen) : ChatAction

    /** Closes what is on top: a dialog, a sheet, an edit, a screen. See [goesBack]. */
    data object Back : ChatAction

    data class NoticeShown(val id: Long) : ChatAction

    // The list of conversations.

    data class Search(val text: String) : ChatAction

    data class ShowShelf(val shelf: Shelf) : ChatAction

    data object LoadMoreSessions : ChatAction

    data object NewSession : ChatAction

    data class OpenSession(val sessionId: String) : ChatAction

    data class StartRename(val session: Session) : ChatAction

    data class RenameTo(val title: String) : ChatAction

    data object SaveRename : ChatAction

    data object CancelRename : ChatAction

    data class DeleteSession(val session: Session) : ChatAction

    data class RestoreSession(val sessionId: String) : ChatAction

    data class StartPurge(val session: Session) : ChatAction

    data object ConfirmPurge : ChatAction

    data object CancelPurge : ChatAction

    // The conversation.

    data class EditDraft(val text: String) : ChatAction

    data class AddAttachment(val attachment: Attachment) : ChatAction

    data class RemoveAttachment(val index: Int) : ChatAction

    data object Send : ChatAction

    data object Stop : ChatAction

    data object Retry : ChatAction

    data object DismissFailure : ChatAction

    data class Regenerate(val messageId: String) : ChatAction

    data class StartEdit(val messageId: String) : ChatAction

    data object CancelEdit : ChatAction

    /** The screen has put a text into the clipboard. */
    data object Copied : ChatAction

    /** A file that was chosen cannot be attached. */
    data object RefusePicture : ChatAction

    /** More pictures were offered than a message takes. */
    data object RefuseMorePictures : ChatAction

    data class Pin(val messageId: String) : ChatAction

    data class Unpin(val messageId: String) : ChatAction

    data object LoadEarlier : ChatAction

    // The choice of a model.

    data object OpenPicker : ChatAction

    data object ClosePicker : ChatAction

    data class PickModel(val model: Model) : ChatAction

    /** Takes the model in spite of the warning. */
    data object ConfirmModel : ChatAction

    data object DeclineModel : ChatAction

    /** Opens the form for the window of a model. */
    data class StartWindow(val model: ModelRef) : ChatAction

    /** Types into that form, or into the field in the sheet about the context. */
    data class EditWindow(val model: ModelRef, val text: String) : ChatAction

    data object SaveWindow : ChatAction

    data object CloseWindow : ChatAction

    // The context of the conversation.

    data object OpenContext : ChatAction

    data object CloseContext : ChatAction

    data class EditFocus(val text: String) : ChatAction

    data object CompactNow : ChatAction

    /** Unfolds a compaction, or folds it again. */
    data class ToggleEpoch(val number: Int) : ChatAction

    data object UndoCompaction : ChatAction

    data object StartReset : ChatAction

    data object ConfirmReset : ChatAction

    data object CancelReset : ChatAction

    // The settings.

    data class SetTheme(val theme: Theme) : ChatAction

    data class EditPolicy(val form: PolicyForm) : ChatAction

    data object AddProvider : ChatAction

    data class EditProvider(val provider: Provider) : ChatAction

    data class ChangeProvider(val form: ProviderForm) : ChatAction

    data object SaveProvider : ChatAction

    data object CloseProvider : ChatAction

    data class AddModel(val providerId: String) : ChatAction

    data class EditModel(val model: Model) : ChatAction

    data class ChangeModel(val form: ModelForm) : ChatAction

    data object SaveModel : ChatAction

    data object CloseModel : ChatAction

    data class SetDefaultModel(val model: ModelRef) : ChatAction

    /** Asks a service for its models. */
    data class OpenOffer(val providerId: String) : ChatAction

    data class FilterOffer(val text: String) : ChatAction

    data class TakeOffer(val listed: ListedModel) : ChatAction

    data object CloseOffer : ChatAction

    data class StartRemoval(val removal: Removal) : ChatAction

    data object ConfirmRemoval : ChatAction

    data object CancelRemoval : ChatAction
}
