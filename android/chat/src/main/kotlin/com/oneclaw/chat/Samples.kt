package com.oneclaw.chat

import com.oneclaw.bridge.Problem
import com.oneclaw.core.ErrorCode
import com.oneclaw.core.MessageKind
import com.oneclaw.core.Shelf
import com.oneclaw.core.ToolStatus

/** Every state once, for previews, tests and pictures. */
object Samples {
    private val data = SampleData

    private val base = AppUiState(
        sessions = SessionListState(data.sessions),
        catalogue = data.catalogue,
        openId = data.session.id,
        chats = mapOf(
            data.session.id to ChatUiState(
                session = data.session,
                model = data.session.model,
                transcript = Transcript(data.conversation),
                meter = data.status.toMeter(),
            ),
        ),
    )

    // The list of conversations.

    val sessions = base.copy(screen = Screen.SESSIONS)
    val sessionsEmpty = sessions.list { SessionListState() }
    val sessionsLoading = sessions.list { SessionListState(isLoading = true) }
    val sessionsSearch = sessions.list { it.copy(search = "kyoto", sessions = data.sessions.take(1)) }
    val sessionsNothingFound = sessions.list { SessionListState(search = "atlantis") }
    val sessionsFailed = sessions.list { it.copy(next = "cursor", isFailed = true) }
    val sessionsRenaming = sessions.list { it.copy(renaming = Renaming(data.session.id, data.session.title)) }
    val sessionsRenamingBlank = sessions.list { it.copy(renaming = Renaming(data.session.id, " ")) }
    val sessionsDeleted = sessions.list { it.copy(sessions = it.sessions.drop(1)) }
        .copy(notices = listOf(Notice.SessionDeleted(1, data.session.id, data.session.title)))
    val sessionsTrash = sessions.list { list ->
        list.copy(shelf = Shelf.DELETED, sessions = data.sessions.drop(3).map { it.copy(isDeleted = true) })
    }
    val sessionsPurging = sessionsTrash.list { it.copy(purging = it.sessions.first()) }

    // The conversation.

    val chat = base
    val chatNew = base.copy(openId = NEW_CHAT, chats = mapOf(NEW_CHAT to ChatUiState(model = data.models.first().ref)))
    val chatLoading = base.open { ChatUiState(isLoading = true) }
    val chatEarlier = base.open { it.copy(transcript = it.transcript.copy(before = "cursor"), isLoadingEarlier = true) }
    val chatDraft = base.open { it.copy(draft = Draft("And what about\nSunday evening?", listOf(data.picture, data.torn))) }
    val chatEditing =
        reduce(reduce(base, ChatAction.StartEdit("m-8")), ChatAction.EditDraft("Is this the shrine of the first day?"))
    val chatWaiting = base.open { it.turn(turn("Find a quiet garden.")) }
    val chatThinking = base.open {
        it.turn(turn("Find a quiet garden.").copy(open = LivePart.Reply(thinking = streamed("Shisen-dō is small and quiet."))))
    }
    val chatStreaming = base.open {
        val reply = LivePart.Reply(
            thinking = streamed("Shisen-dō is small and quiet."),
            text = streamed("**Shisen-dō** is the one.\n\nIt opens at nine, and the sound of the bamboo"),
        )
        it.turn(turn("Find a quiet garden.").copy(open = reply))
    }
    val chatTools = base.open {
        val parts = listOf(
            LivePart.Reply(text = streamed("I will look it up.")),
            tool(
                "c-8",
                "http_request",
                """{"url":"https://gardens.example.org"}""",
                ToolStatus.SUCCESS,
                412,
                "Shisen-dō\nKōdai-ji",
            ),
            tool("c-9", "read_file", """{"path":"gardens.md"}""", ToolStatus.EXECUTING, null, null),
        )
        it.turn(turn("Find a quiet garden.").copy(parts = parts))
    }
    val chatLongTool = base.open {
        val messages = data.conversation.take(2) + listOf(
            data.call("m-20", "c-7", "http_request", """{"url":"https://log.example.org"}""", 10),
            data.result("m-21", "c-7", "http_request", data.longResult, ToolStatus.SUCCESS, 65_000, 11),
            data.call("m-22", "c-6", "http_request", """{"url":"https://slow.example.org"}""", 12),
            data.result("m-23", "c-6", "http_request", "no answer in 30 s", ToolStatus.TIMEOUT, 30_000, 13),
        )
        it.copy(transcript = Transcript(messages))
    }
    val chatStopping = base.open { it.turn(turn("Find a quiet garden.").copy(phase = TurnPhase.STOPPING)) }
    val chatInterrupted = base.open {
        val messages = data.conversation.take(1) + data.reply("m-2", "With pleasure. Let me", 1, isInterrupted = true)
        it.copy(transcript = Transcript(messages))
    }
    val chatFailed = base.open {
        val failed = data.message("m-30", 30, MessageKind.Error("The service cannot be reached."))
        val failure = Failure.Reported("The service cannot be reached.", ErrorCode.NETWORK)
        it.copy(transcript = Transcript(data.conversation.take(1) + failed), failure = failure)
    }
    val chatRefused = base.open {
        it.copy(draft = Draft("Find a quiet garden."), failure = Failure.Refused(Problem.Storage("disk full")))
    }
    val chatTooBig = base.open {
        val text = "The newest message is too big for this model by 2,310 tokens."
        it.copy(failure = Failure.Reported(text, ErrorCode.CONTEXT))
    }
    val chatCompacting = base.open {
        it.turn(turn("Find a quiet garden.").copy(phase = TurnPhase.ANSWERED, bubble = null, isCompacting = true))
            .copy(draft = Draft("While that goes on"))
    }
    val chatTrimmed = base.copy(notices = listOf(Notice.Trimmed(1)))
    val chatPicturesLeftOut = base.copy(notices = listOf(Notice.PicturesLeftOut(1, 1)))
    val chatWindowUnknown = base.open { it.copy(meter = data.status.copy(window = null, trigger = null).toMeter()) }
        .copy(notices = listOf(Notice.WindowUnknown(1, data.session.id, 61_200)))
    val chatCompacted = base.open { chat ->
        val covered = data.conversation.mapIndexed { index, message ->
            message.copy(isCovered = index < 6, isPinned = index == 0)
        }
        chat.copy(transcript = Transcript(covered))
    }.copy(notices = listOf(Notice.Compacted(1, 109_400, 31_000)))

    // The choice of a model.

    val picker = reduce(base, ChatAction.OpenPicker)
    val pickerWarning = reduce(picker, ChatAction.PickModel(data.smallModel))
    val pickerOff = reduce(picker, ChatAction.PickModel(data.offModel))
    val pickerWindow = reduce(picker, ChatAction.StartWindow(data.unknownModel.ref))
    val pickerEmpty = base.copy(picker = ModelPickerState())

    // The context.

    val context = base.copy(context = ContextSheetState(data.session.id, data.status))
    val contextEpoch = base.copy(context = ContextSheetState(data.session.id, data.status, openEpoch = 1, focus = "prices"))
    val contextReset = base.copy(context = ContextSheetState(data.session.id, data.status, confirmsReset = true))
    val contextLoading = base.copy(context = ContextSheetState(data.session.id))
    val contextFailed = base.copy(context = ContextSheetState(data.session.id, problem = Problem.Storage("disk full")))
    val contextPlain = chatWindowUnknown.copy(
        notices = emptyList(),
        context = ContextSheetState(
            data.session.id,
            data.status.copy(
                window = null,
                hardLimit = null,
                trigger = null,
                summary = null,
                epochs = emptyList(),
                pins = emptyList(),
            ),
        ),
    )

    // The settings.

    val settings = base.copy(screen = Screen.SETTINGS, settings = SettingsState(isLoading = false))
    val settingsBadThreshold = settings.settings { it.copy(policy = PolicyForm(threshold = "140")) }
    val settingsProvider = settings.settings { it.copy(provider = ProviderForm.of(data.providers.first(), data.catalogue)) }
    val settingsProviderBad = settings.settings {
        it.copy(provider = ProviderForm(name = "", baseUrl = "ftp://example.org", key = "sk-1 2", showsErrors = true))
    }
    val settingsModel = settings.settings { it.copy(model = ModelForm.of(data.smallModel)) }
    val settingsModelBad = settings.settings {
        it.copy(model = ModelForm("provider-home", id = "", window = "many", maxOutput = "12", showsErrors = true))
    }
    val settingsRemoving = settings.settings {
        it.copy(
            provider = ProviderForm.of(data.providers[2], data.catalogue),
            removing = Removal.OfProvider("provider-home", "Home server"),
        )
    }
    val settingsOffer = settings.settings {
        it.copy(
            offer = ModelOffer("provider-home", data.offered),
        )
    }
    val settingsOfferFailed = settings.settings {
        it.copy(offer = ModelOffer("provider-home", problem = Problem.Network("connection refused")))
    }

    /** All of them by name, in the order of the screens. */
    val all: Map<String, AppUiState> = linkedMapOf(
        "sessions" to sessions,
        "sessions-empty" to sessionsEmpty,
        "sessions-loading" to sessionsLoading,
        "sessions-search" to sessionsSearch,
        "sessions-nothing-found" to sessionsNothingFound,
        "sessions-failed" to sessionsFailed,
        "sessions-renaming" to sessionsRenaming,
        "sessions-renaming-blank" to sessionsRenamingBlank,
        "sessions-deleted" to sessionsDeleted,
        "sessions-trash" to sessionsTrash,
        "sessions-purging" to sessionsPurging,
        "chat" to chat,
        "chat-new" to chatNew,
        "chat-loading" to chatLoading,
        "chat-earlier" to chatEarlier,
        "chat-draft" to chatDraft,
        "chat-editing" to chatEditing,
        "chat-waiting" to chatWaiting,
        "chat-thinking" to chatThinking,
        "chat-streaming" to chatStreaming,
        "chat-tools" to chatTools,
        "chat-long-tool" to chatLongTool,
        "chat-stopping" to chatStopping,
        "chat-interrupted" to chatInterrupted,
        "chat-failed" to chatFailed,
        "chat-refused" to chatRefused,
        "chat-too-big" to chatTooBig,
        "chat-compacting" to chatCompacting,
        "chat-trimmed" to chatTrimmed,
        "chat-pictures-left-out" to chatPicturesLeftOut,
        "chat-window-unknown" to chatWindowUnknown,
        "chat-compacted" to chatCompacted,
        "picker" to picker,
        "picker-warning" to pickerWarning,
        "picker-off" to pickerOff,
        "picker-window" to pickerWindow,
        "picker-empty" to pickerEmpty,
        "context" to context,
        "context-epoch" to contextEpoch,
        "context-reset" to contextReset,
        "context-loading" to contextLoading,
        "context-failed" to contextFailed,
        "context-plain" to contextPlain,
        "settings" to settings,
        "settings-bad-threshold" to settingsBadThreshold,
        "settings-provider" to settingsProvider,
        "settings-provider-bad" to settingsProviderBad,
        "settings-model" to settingsModel,
        "settings-model-bad" to settingsModelBad,
        "settings-removing" to settingsRemoving,
        "settings-offer" to settingsOffer,
        "settings-offer-failed" to settingsOfferFailed,
    )

    private fun turn(text: String) = LiveTurn(id = 1, request = TurnRequest.Send(text), bubble = Draft(text))

    private fun streamed(text: String) = StreamedText().append(text)

    private fun tool(callId: String, name: String, arguments: String, status: ToolStatus, ms: Long?, output: String?) =
        LivePart.Tool(ChatItem.Tool("turn-1-$callId", callId, name, arguments, status, output, ms), streamed(arguments))

    private fun ChatUiState.turn(turn: LiveTurn) = copy(turns = listOf(turn), begun = 1)

    private fun AppUiState.open(change: (ChatUiState) -> ChatUiState) = copy(chats = chats + (openId to change(chat)))

    private fun AppUiState.list(change: (SessionListState) -> SessionListState) = copy(sessions = change(sessions))

    private fun AppUiState.settings(change: (SettingsState) -> SettingsState) = copy(settings = change(settings))
}
