package com.oneclaw.chat

import com.oneclaw.bridge.Problem
import com.oneclaw.core.CoreException
import com.oneclaw.core.ErrorCode
import com.oneclaw.core.MessageKind
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertIs
import kotlin.test.assertNull
import kotlin.test.assertTrue

/** The conversation, from the action to the stored row, against the fake. */
class ChatStateHolderTest {
    @Test
    fun aNewConversationIsAnswered() = stage {
        send("How are you?")
        assertEquals("How are you?", chat.turns.single().bubble?.text)
        turn().think("A greeting.").text("Well, ").text("thanks.")
        settle()
        assertEquals("Well, thanks.", chat.turns.single().plain)
        turn().complete()
        settle()
        assertEquals(emptyList(), chat.turns)
        assertEquals(listOf("How are you?", "Well, thanks."), chat.items.map { (it as ChatItem.Written).text })
        assertEquals("How are you?", chat.session?.title)
        assertEquals(listOf(chat.session?.id), state.sessions.sessions.map { it.id })
    }

    @Test
    fun toolResultsCanBeReadWhileTheTurnRuns() = stage {
        send("Look it up")
        turn().text("Looking.").startTool("c", "read_file", """{"path":"a"}""").endTool("c", "42", ms = 7)
        settle()
        val card = chat.turns.single().parts.filterIsInstance<LivePart.Tool>().single().card
        assertEquals("42", card.output)
        assertEquals("""{"path":"a"}""", card.arguments)
        turn().round(1).text("It is 42.").complete()
        settle()
        assertEquals(listOf("User", "Reply", "Tool", "Reply"), chat.items.map { it::class.simpleName })
    }

    @Test
    fun aMessageSentDuringACompactionIsKeptAndAnswered() = stage {
        send("One")
        turn().text("First.").answer().startCompaction()
        settle()
        assertTrue(chat.isCompacting)
        assertEquals(2, chat.items.size, "the answer is shown as stored while the compaction runs")
        act(ChatAction.EditDraft("Two"), ChatAction.Send)
        assertEquals(2, fake.turns.size)
        fake.turns[1].text("Second.")
        fake.turns[0].endCompaction().finish()
        settle()
        assertFalse(chat.isCompacting)
        fake.turns[1].complete()
        settle()
        assertEquals(emptyList(), chat.turns)
        val texts = chat.items.filterIsInstance<ChatItem.Written>().map { it.text }
        assertEquals(listOf("One", "First.", "Two", "Second."), texts)
    }

    @Test
    fun aFallbackIsToldOnceAndSurvivesARotation() = stage {
        send("One")
        turn().startCompaction().endCompaction(fallback = true).text("Hi.").complete()
        settle()
        val shown = assertIs<Notice.Trimmed>(state.notice)
        // Another screen begins to read: it finds the same value.
        assertEquals(shown, holder.state.value.notice)
        act(ChatAction.NoticeShown(shown.id))
        assertNull(holder.state.value.notice)
    }

    @Test
    fun aRotationLosesNothing() = stage {
        send("One")
        turn().text("Half ")
        act(ChatAction.EditDraft("next"))
        val before = state
        // The screen is gone and comes back; the holder stays, and the stream goes on meanwhile.
        turn().text("a reply")
        settle()
        assertEquals("Half a reply", chat.turns.single().plain)
        assertEquals(before.chat.draft, chat.draft)
    }

    @Test
    fun stopKeepsWhatWasReceived() = stage {
        send("A story, please")
        turn().text("Once upon")
        act(ChatAction.Stop)
        assertEquals("stop ${chat.session?.id}", fake.calls.last { it.startsWith("stop") })
        val reply = assertIs<ChatItem.Reply>(chat.items.last())
        assertTrue(reply.isInterrupted)
        assertEquals("Once upon", reply.text)
        assertTrue(chat.isQuiet)
    }

    @Test
    fun stoppedBeforeItBeganTheTextIsGivenBack() = stage {
        val gate = fake.hold("createSession")
        act(ChatAction.EditDraft("Too early"), ChatAction.Send, ChatAction.Stop)
        gate.complete(Unit)
        settle()
        assertEquals("Too early", chat.draft.text)
        assertEquals(emptyList(), fake.turns)
        assertEquals(emptyList(), chat.turns)
    }

    @Test
    fun anErrorIsShownAndRetried() = stage {
        send("Hi")
        turn().error("No connection").finish()
        settle()
        assertIs<ChatItem.Failed>(chat.items.last())
        assertNull(chat.looseFailure, "the row says it already")
        assertTrue(chat.canRetry)
        act(ChatAction.Retry)
        assertEquals("regenerate", turn().name)
        turn().text("Here I am.").complete()
        settle()
        assertNull(chat.failure)
        assertEquals("Here I am.", assertIs<ChatItem.Reply>(chat.items.last()).text)
    }

    @Test
    fun aRefusedMessageGoesBackToTheDraft() = stage {
        fake.fail("send", CoreException.Storage("disk full"))
        send("Precious words")
        assertEquals("Precious words", chat.draft.text)
        assertEquals(Failure.Refused(Problem.Storage("disk full")), chat.failure)
        send("Precious words")
        turn().text("Thanks.").complete()
        settle()
        assertNull(chat.failure)
    }

    @Test
    fun aStreamThatBreaksOffShowsWhatIsStored() = stage {
        send("Hi")
        turn().text("Hel").breakOff(CoreException.Internal("odd"))
        settle()
        assertIs<Failure.Refused>(chat.failure)
        assertTrue(chat.isQuiet)
        assertEquals("Hi", assertIs<ChatItem.User>(chat.items.first()).text)
    }

    @Test
    fun regenerateAndEdit() = stage {
        send("One")
        turn().text("First.").complete()
        settle()
        act(ChatAction.Regenerate((chat.items.last() as ChatItem.Reply).messageId))
        assertEquals(1, chat.items.size)
        turn().text("Second.").complete()
        settle()
        assertEquals(listOf("One", "Second."), chat.items.map { (it as ChatItem.Written).text })
        act(ChatAction.StartEdit((chat.items.first() as ChatItem.User).messageId), ChatAction.EditDraft("Uno"), ChatAction.Send)
        turn().text("Primero.").complete()
        settle()
        assertEquals(listOf("Uno", "Primero."), chat.items.map { (it as ChatItem.Written).text })
    }

    @Test
    fun aConversationAnswersWhileAnotherIsOpen() = stage {
        val other = fake.file.create(null, null)
        send("One")
        act(ChatAction.OpenSession(other.id))
        turn().text("In the background.").complete()
        settle()
        assertEquals(other.id, state.openId)
        assertEquals(emptyList(), chat.items)
        act(ChatAction.OpenSession(turn().sessionId))
        assertEquals("In the background.", assertIs<ChatItem.Reply>(chat.items.last()).text)
    }

    @Test
    fun aConversationThatIsGoneSaysSo() = stage {
        act(ChatAction.OpenSession("nowhere"))
        assertEquals(Failure.Refused(Problem.NotFound("session nowhere")), chat.failure)
        assertFalse(chat.isLoading)
    }

    @Test
    fun longConversationsComeInPages() = stage {
        val session = fake.file.create(null, null)
        repeat(120) { fake.file.addUser(session.id, "$it", emptyList()) }
        act(ChatAction.OpenSession(session.id))
        assertEquals(50, chat.items.size)
        act(ChatAction.LoadEarlier)
        act(ChatAction.LoadEarlier)
        assertEquals(List(120) { "$it" }, chat.items.map { (it as ChatItem.User).text })
        assertFalse(chat.hasEarlier)
        send("120")
        turn().text("Done.").complete()
        settle()
        assertTrue(chat.items.size >= 120, "what was read stays read")
    }

    /** A page that was asked for before the earlier messages came is asked for again, with them. */
    @Test
    fun earlierMessagesAreNotLostToALatePage() = stage {
        val session = fake.file.create(null, null)
        repeat(120) { fake.file.addUser(session.id, "$it", emptyList()) }
        act(ChatAction.OpenSession(session.id))
        val gate = fake.hold("messages")
        act(ChatAction.LoadEarlier, ChatAction.Pin((chat.items.last() as ChatItem.User).messageId))
        gate.complete(Unit)
        settle()
        assertEquals(100, chat.items.size)
        assertTrue((chat.items.last() as ChatItem.User).isPinned)
    }

    @Test
    fun aPinDuringAReplyIsSeenAtOnce() = stage(prepare = { file.add(SampleData.session, SampleData.conversation) }) {
        act(ChatAction.OpenSession("s-1"))
        send("More")
        turn().text("Half")
        act(ChatAction.Pin("m-1"))
        assertTrue(assertIs<ChatItem.User>(chat.items.first()).isPinned)
        fake.fail("unpin", CoreException.Storage("disk full"))
        act(ChatAction.Unpin("m-1"))
        assertTrue(assertIs<ChatItem.User>(chat.items.first()).isPinned, "what is not stored is not shown")
    }

    @Test
    fun aKeyThatWasMissingLetsTheMessageBeTriedAgain() = stage {
        send("Hi")
        turn().error("no key", ErrorCode.AUTH, retryable = false).finish()
        settle()
        act(ChatAction.EditProvider(SampleData.providers.first()))
        act(ChatAction.ChangeProvider(checkNotNull(state.settings.provider).copy(key = "sk-1")), ChatAction.SaveProvider)
        assertTrue(chat.canRetry)
        act(ChatAction.Retry)
        turn().text("Here I am.").complete()
        settle()
        assertEquals(listOf("Hi", "Here I am."), chat.items.map { (it as ChatItem.Written).text })
    }

    @Test
    fun theResultsOfToolsAreReadWithoutOlderRows() = stage(
        prepare = { file.add(SampleData.session, SampleData.conversation) },
    ) {
        act(ChatAction.OpenSession("s-1"))
        send("Look")
        turn().startTool("a", "one").startTool("b", "two").endTool("a", "A").endTool("b", "B")
        settle()
        val cards = chat.turns.single().parts.filterIsInstance<LivePart.Tool>().map { it.card.output }
        assertEquals(listOf<String?>("A", "B"), cards)
        assertTrue(fake.limits.last() < SampleData.conversation.size, "${fake.limits}")
    }

    @Test
    fun aFailedPageCanBeAskedForAgain() = stage {
        val session = fake.file.create(null, null)
        repeat(60) { fake.file.addUser(session.id, "$it", emptyList()) }
        act(ChatAction.OpenSession(session.id))
        fake.fail("messages", CoreException.Busy("locked"))
        act(ChatAction.LoadEarlier)
        assertIs<Notice.Failed>(state.notice)
        act(ChatAction.LoadEarlier)
        assertEquals(60, chat.items.size)
    }

    @Test
    fun pinsAndCompactions() = stage {
        send("One")
        turn().text("First.").complete()
        settle()
        val asked = chat.items.first() as ChatItem.User
        act(ChatAction.Pin(asked.messageId), ChatAction.OpenContext)
        assertEquals(asked.messageId, state.context?.status?.pins?.single()?.id)
        act(ChatAction.EditFocus("numbers"), ChatAction.CompactNow)
        assertEquals("compact" to "numbers", turn().name to turn().detail)
        turn().startCompaction().endCompaction().finish()
        settle()
        assertTrue(ChatItem.Boundary in chat.items)
        act(ChatAction.OpenContext)
        assertEquals(1, state.context?.undoable)
        act(ChatAction.UndoCompaction)
        assertFalse(ChatItem.Boundary in chat.items)
        assertNull(state.context?.undoable)
        act(ChatAction.Unpin(asked.messageId))
        assertEquals(emptyList(), state.context?.status?.pins)
        assertEquals(2, fake.file.rows(state.openId).count { it.kind !is MessageKind.System })
    }

    @Test
    fun resetForgetsAllSummaries() = stage {
        send("One")
        turn().text("First.").answer().startCompaction().endCompaction().finish()
        settle()
        act(ChatAction.OpenContext, ChatAction.StartReset)
        assertEquals(true, state.context?.confirmsReset)
        act(ChatAction.ConfirmReset)
        assertEquals(emptyList(), state.context?.status?.epochs)
        assertFalse(ChatItem.Boundary in chat.items)
    }

    @Test
    fun aCompactionThatWasCutShortGoesOnWhenItsConversationIsOpened() = stage(
        prepare = {
            file.add(SampleData.session, SampleData.conversation)
            interrupted += SampleData.session.id
        },
    ) {
        act(ChatAction.OpenSession(SampleData.session.id))
        assertEquals("resume", turn().name)
        assertFalse(chat.isQuiet || chat.isAnswering)
        turn().startCompaction()
        settle()
        assertTrue(chat.isCompacting)
        turn().endCompaction().finish()
        settle()
        assertTrue(chat.isQuiet && !chat.isCompacting && state.notices.isEmpty())
        act(ChatAction.OpenSession(SampleData.session.id))
        assertEquals(1, fake.turns.size)
    }

    @Test
    fun aStopReachesATurnThatWasStillInLine() = stage {
        send("One")
        turn().startCompaction()
        settle()
        send("Two")
        act(ChatAction.Stop)
        // The core stops what is at work; the second message is answered after it, and says so.
        assertTrue(fake.turns[0].isOver)
        fake.turns[1].usage(10, 100)
        settle()
        assertTrue(fake.turns[1].isOver && chat.isQuiet)
        assertEquals(2, fake.calls.count { it.startsWith("stop") })
    }

    @Test
    fun aTitleThatComesLaterIsShown() = stage {
        send("How are you?")
        val id = checkNotNull(chat.session).id
        fake.file.change(id) { it.copy(title = DEFAULT_TITLE) }
        turn().text("Well.").complete()
        later(100)
        assertEquals(DEFAULT_TITLE, chat.session?.title)
        fake.file.change(id) { it.copy(title = "A greeting") }
        settle()
        assertEquals("A greeting", chat.session?.title)
        assertEquals("A greeting", state.sessions.sessions.single().title)
    }

    @Test
    fun aCompactionIsUndoneOnce() = stage(prepare = { file.add(SampleData.session, SampleData.conversation) }) {
        act(ChatAction.OpenSession(SampleData.session.id), ChatAction.OpenContext)
        act(ChatAction.UndoCompaction, ChatAction.UndoCompaction)
        assertEquals(1, fake.calls.count { it.startsWith("undoCompaction") })
        fake.fail("undoCompaction", CoreException.Storage("full"))
        act(ChatAction.UndoCompaction)
        assertEquals(Notice.Failed(state.lastId, Problem.Storage("full")), state.notice)
        act(ChatAction.UndoCompaction)
        assertEquals(3, fake.calls.count { it.startsWith("undoCompaction") })
    }

    @Test
    fun whatWasBeingWrittenSurvivesADeletionThatIsTakenBack() = stage(
        prepare = { file.add(SampleData.session, SampleData.conversation) },
    ) {
        act(ChatAction.OpenSession(SampleData.session.id), ChatAction.EditDraft("Half a thou"))
        act(ChatAction.DeleteSession(SampleData.session))
        assertEquals(null, state.openSessionId)
        act(ChatAction.RestoreSession(SampleData.session.id), ChatAction.OpenSession(SampleData.session.id))
        assertEquals("Half a thou", chat.draft.text)
    }
}
