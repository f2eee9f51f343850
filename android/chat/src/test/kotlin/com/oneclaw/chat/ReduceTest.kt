package com.oneclaw.chat

import com.oneclaw.core.AttachmentContent
import com.oneclaw.core.MessagePage
import com.oneclaw.core.SessionPage
import com.oneclaw.core.Shelf
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertIs
import kotlin.test.assertNotNull
import kotlin.test.assertNull
import kotlin.test.assertTrue

class ReduceTest {
    private val play = Play()

    // Writing.

    @Test
    fun aBlankDraftIsNotSent() {
        play.act(ChatAction.EditDraft(" \n"), ChatAction.Send)
        assertEquals(emptyList(), play.chat.turns)
    }

    @Test
    fun aPictureAloneCanBeSent() {
        play.act(ChatAction.AddAttachment(SampleData.picture), ChatAction.AddAttachment(SampleData.picture))
        play.act(ChatAction.RemoveAttachment(0), ChatAction.RemoveAttachment(7), ChatAction.Send)
        assertEquals(TurnRequest.Send("", listOf(SampleData.picture)), play.chat.turns.single().request)
    }

    @Test
    fun aMessageTakesSoManyPicturesAndNoMore() {
        repeat(MOST_PICTURES + 2) { play.act(ChatAction.AddAttachment(SampleData.picture)) }
        assertEquals(MOST_PICTURES, play.chat.draft.attachments.size)
        assertIs<Notice.TooManyPictures>(play.state.notices.single())
    }

    @Test
    fun severalPicturesAreNotLargerThanAServiceTakes() {
        val large = SampleData.picture.copy(content = AttachmentContent.New("A".repeat(MOST_PICTURE_BYTES / 3 * 2 + 4)))
        play.act(ChatAction.AddAttachment(large), ChatAction.AddAttachment(large), ChatAction.AddAttachment(SampleData.picture))
        assertEquals(listOf(large, SampleData.picture), play.chat.draft.attachments)
        assertIs<Notice.TooManyPictures>(play.state.notices.single())
        assertEquals("A message takes 8 pictures, of 12 MB together. The rest was left out", ENGLISH.of(play.state.notices.single()))
    }

    @Test
    fun whatIsStoredCountsToo() {
        val stored = AttachmentContent.Stored("m-8", nth = 0, size = MOST_PICTURE_BYTES.toLong())
        val large = SampleData.picture.copy(content = stored)
        play.act(ChatAction.AddAttachment(large), ChatAction.AddAttachment(SampleData.picture))
        assertEquals(listOf(large), play.chat.draft.attachments)
    }

    @Test
    fun editingReplacesWhatFollows() {
        play.act(ChatAction.EditDraft("half a thought"), ChatAction.StartEdit("m-8"))
        assertEquals("Is this the shrine you mean?", play.chat.draft.text)
        play.act(ChatAction.EditDraft("Is this it?"), ChatAction.Send)
        val turn = play.chat.turns.single()
        assertEquals(TurnRequest.Edit("m-8", "Is this it?", listOf(SampleData.storedPicture("m-8"))), turn.request)
        assertEquals("m-7", play.chat.transcript.messages.last().id)
        assertEquals("half a thought", play.chat.draft.text)
    }

    @Test
    fun anEditThatIsGivenUpChangesNothing() {
        play.act(ChatAction.EditDraft("half a thought"))
        val before = play.state.chats
        assertEquals(before, play.act(ChatAction.StartEdit("m-8"), ChatAction.StartEdit("m-8"), ChatAction.CancelEdit).state.chats)
        assertEquals(before, play.act(ChatAction.StartEdit("m-8"), ChatAction.Back).state.chats)
    }

    @Test
    fun regeneratingHidesTheOldAnswer() {
        play.act(ChatAction.Regenerate("m-9"))
        assertEquals("m-8", play.chat.transcript.messages.last().id)
        assertEquals(TurnRequest.Regenerate, play.chat.turns.single().request)
    }

    @Test
    fun onlyTheNewestMessageIsEditedOrAnsweredAnew() {
        val before = play.state
        assertEquals(before, play.act(ChatAction.Regenerate("m-7"), ChatAction.StartEdit("m-1")).state)
        val newest = play.chat.items.filterIsInstance<ChatItem.Written>().filter { it.isNewest }
        assertEquals(listOf("m-8", "m-9"), newest.map { it.messageId })
    }

    @Test
    fun whileAReplyComesNothingIsRegeneratedOrEdited() {
        play.send("Hi")
        val before = play.state
        assertEquals(before, play.act(ChatAction.Regenerate("m-9"), ChatAction.Retry).state)
    }

    // Reading.

    @Test
    fun aPageReadBeforeTheLatestTurnIsLeftAside() {
        val old = play.chat.begun
        val turn = play.send("Hi")
        play.update(ChatUpdate.TurnEnded(turn)).loaded(MessagePage(emptyList(), null), begun = old)
        assertEquals(SampleData.conversation, play.chat.transcript.messages)
        assertEquals(1, play.chat.turns.size)
    }

    @Test
    fun earlierMessagesAreAddedOnce() {
        play.loaded(MessagePage(SampleData.conversation.drop(4), "cursor"))
        play.act(ChatAction.LoadEarlier)
        assertTrue(play.chat.isLoadingEarlier)
        val earlier = ChatUpdate.EarlierLoaded("s-1", "cursor", MessagePage(SampleData.conversation.take(4), null))
        play.update(earlier).update(earlier)
        assertEquals(SampleData.conversation, play.chat.transcript.messages)
        assertFalse(play.chat.isLoadingEarlier)
        assertFalse(play.act(ChatAction.LoadEarlier).chat.isLoadingEarlier)
    }

    // Conversations.

    @Test
    fun aConversationLeftBehindGoesOn() {
        val turn = play.send("Hi")
        play.act(ChatAction.OpenSession("s-2"))
        assertTrue(play.chat.isLoading)
        play.events(turn, Events.text)
        assertEquals(setOf("s-1"), play.state.busySessions)
        play.act(ChatAction.OpenSession("s-1"))
        assertEquals("Hello", play.turn(turn).plain)
        assertEquals(setOf("s-1"), play.state.chats.keys, "the one without anything to keep is gone")
    }

    @Test
    fun draftsStayWithTheirConversations() {
        play.act(ChatAction.EditDraft("here"), ChatAction.OpenSession("s-2"), ChatAction.EditDraft("there"))
        assertEquals("here", play.act(ChatAction.OpenSession("s-1")).chat.draft.text)
        assertEquals("there", play.act(ChatAction.OpenSession("s-2")).chat.draft.text)
    }

    @Test
    fun aNewConversationGetsItsNameWhileItIsAnswered() {
        play.act(ChatAction.NewSession)
        assertEquals(SampleData.models.first().ref, play.chat.model)
        val turn = play.send("Hi")
        val session = SampleData.session("s-9", "", null, 0)
        play.update(ChatUpdate.SessionCreated(turn, session)).events(turn, Events.text)
        assertEquals("s-9", play.state.openId)
        assertEquals("Hello", play.turn(turn).plain)
    }

    @Test
    fun onlyAnswersToTheCurrentSearchCount() {
        play.act(ChatAction.Search("kyo"), ChatAction.Search("kyoto"))
        val page = SessionPage(emptyList(), null)
        play.update(ChatUpdate.SessionsLoaded("kyo", Shelf.OPEN, true, page))
        assertTrue(play.state.sessions.isLoading)
        play.update(ChatUpdate.SessionsLoaded("kyoto", Shelf.OPEN, true, page))
        assertTrue(play.state.sessions.isEmpty)
    }

    @Test
    fun noConversationIsListedTwice() {
        val page = SessionPage(SampleData.sessions.take(2), "x")
        play.update(ChatUpdate.SessionsLoaded("", Shelf.OPEN, true, page))
        play.update(ChatUpdate.SessionsLoaded("", Shelf.OPEN, false, SessionPage(SampleData.sessions.drop(1), null)))
        assertEquals(SampleData.sessions, play.state.sessions.sessions)
    }

    @Test
    fun aDeletedConversationLeavesANoticeAndANewChat() {
        play.update(ChatUpdate.SessionDeleted(SampleData.session))
        assertEquals("s-1", assertIs<Notice.SessionDeleted>(play.state.notice).sessionId)
        assertEquals(NEW_CHAT, play.state.openId)
        assertFalse(SampleData.session in play.state.sessions.sessions)
    }

    @Test
    fun aBlankTitleIsNotSaved() {
        play.act(ChatAction.StartRename(SampleData.session), ChatAction.RenameTo("  "), ChatAction.SaveRename)
        assertNotNull(play.state.sessions.renaming)
        play.act(ChatAction.RenameTo("Kyoto"), ChatAction.SaveRename)
        assertNull(play.state.sessions.renaming)
    }

    // Models and context.

    @Test
    fun aSmallerWindowIsAskedAboutFirst() {
        play.act(ChatAction.OpenPicker, ChatAction.PickModel(SampleData.smallModel))
        val warning = assertNotNull(play.state.picker?.warning)
        assertEquals(WindowWarning(SampleData.smallModel, 8_192, 61_200), warning)
        assertEquals(SampleData.session.model, play.chat.model)
        play.act(ChatAction.DeclineModel)
        assertNull(play.state.picker?.warning)
        play.act(ChatAction.PickModel(SampleData.smallModel), ChatAction.ConfirmModel)
        assertEquals(SampleData.smallModel.ref, play.chat.model)
        assertNull(play.state.picker)
    }

    @Test
    fun aBigEnoughOrUnknownWindowIsTakenAtOnce() {
        for (model in listOf(SampleData.bigModel, SampleData.models.last())) {
            play.act(ChatAction.OpenPicker, ChatAction.PickModel(model))
            assertEquals(model.ref, play.chat.model)
            assertNull(play.state.picker)
        }
    }

    @Test
    fun aModelThatIsSwitchedOffIsTakenOnlyAfterAQuestion() {
        play.act(ChatAction.OpenPicker, ChatAction.PickModel(SampleData.offModel))
        assertEquals(OffWarning(SampleData.offModel), play.state.picker?.warning)
        assertEquals(SampleData.session.model, play.chat.model)
        play.act(ChatAction.ConfirmModel)
        assertEquals(SampleData.offModel.ref, play.chat.model)
    }

    @Test
    fun aModelThatIsSwitchedOffIsNeverTheDefault() {
        val off = SampleData.models.map { it.copy(isSwitchedOff = it.isDefault || it.isSwitchedOff) }
        val catalogue = SampleData.catalogue.copy(models = off)
        assertEquals("gpt-4o-mini", catalogue.defaultModel?.id, "the first of a service that has a key")
        assertNull(catalogue.copy(keys = emptySet()).defaultModel)
        play.update(ChatUpdate.CatalogueLoaded(catalogue)).act(ChatAction.NewSession)
        assertEquals("gpt-4o-mini", play.chat.model?.modelId)
    }

    @Test
    fun aWindowIsSetInTheSheetOrInADialog() {
        val model = SampleData.unknownModel.ref
        play.act(ChatAction.OpenPicker, ChatAction.StartWindow(model))
        assertEquals(WindowForm(model, "", isDialog = true), play.state.window)
        play.act(ChatAction.EditWindow(model, "many"), ChatAction.SaveWindow)
        assertEquals(FieldError.NOT_A_NUMBER, play.state.window?.error)
        assertEquals(false, play.state.window?.isSaving)
        play.act(ChatAction.EditWindow(model, "32,000"), ChatAction.SaveWindow)
        assertEquals(32_000L to true, play.state.window?.run { tokens to isSaving })
        play.update(ChatUpdate.WindowSaved(isSaved = false))
        assertEquals(false, play.state.window?.isSaving)
        play.update(ChatUpdate.WindowSaved(isSaved = true))
        assertNull(play.state.window)
        assertNotNull(play.state.picker, "the picker stays open")
        play.act(ChatAction.StartWindow(model), ChatAction.Back)
        assertNull(play.state.window)
        play.act(ChatAction.ClosePicker, ChatAction.OpenContext, ChatAction.EditWindow(model, ""), ChatAction.SaveWindow)
        assertEquals(FieldError.REQUIRED, play.state.window?.error, "in the sheet nothing is not taken for a number")
        play.act(ChatAction.CloseContext)
        assertNull(play.state.window)
    }

    @Test
    fun onlyServicesInUseAreOffered() {
        val providers = SampleData.providers.map { it.copy(isActive = it.id != "provider-openai") }
        play.update(ChatUpdate.CatalogueLoaded(SampleData.catalogue.copy(providers = providers))).act(ChatAction.OpenPicker)
        assertEquals(listOf("Anthropic", "Home server", "Demo"), play.state.picker?.groups?.map { it.provider.name })
        assertEquals(listOf(true, false, false), play.state.picker?.groups?.map { it.lacksKey }, "what was added may need no key")
    }

    @Test
    fun theMeterFillsTheWindow() {
        val segments = SampleData.status.toMeter().segments
        assertEquals(Part.entries, segments.map { it.part })
        assertEquals(1f, segments.map { it.share }.sum(), 0.0001f)
        assertEquals(128_000, segments.sumOf { it.tokens })
    }

    @Test
    fun theMeterOfATooBigConversationIsFull() {
        val meter = SampleData.status.toMeter().copy(window = 10_000)
        assertEquals(1f, meter.share)
        assertEquals(1f, meter.segments.map { it.share }.sum(), 0.0001f)
        assertEquals(0f, meter.segments.last().share)
        assertEquals(1f, meter.copy(window = null).segments.map { it.share }.sum(), 0.0001f)
    }

    // Moving about.

    @Test
    fun backClosesWhatIsOnTop() {
        var state = Samples.pickerWarning.copy(context = ContextSheetState("s-1"), screen = Screen.CHAT)
        var steps = 0
        while (goesBack(state)) {
            state = reduce(state, ChatAction.Back)
            steps++
        }
        assertEquals(4, steps, "warning, picker, sheet, chat")
        assertEquals(Screen.SESSIONS, state.screen)
        assertEquals(state, reduce(state, ChatAction.Back))
    }

    @Test
    fun backFromTheSettingsLeadsToWhereTheyWereOpened() {
        for (screen in listOf(Screen.SESSIONS, Screen.CHAT)) {
            play.act(
                ChatAction.ShowScreen(screen),
                ChatAction.ShowScreen(Screen.SETTINGS),
                ChatAction.ShowScreen(Screen.SETTINGS),
            )
            assertEquals(screen, play.act(ChatAction.Back).state.screen)
        }
    }
}
