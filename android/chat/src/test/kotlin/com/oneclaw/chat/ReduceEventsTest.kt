package com.oneclaw.chat

import com.oneclaw.bridge.Problem
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.ErrorCode
import com.oneclaw.core.MessageKind
import com.oneclaw.core.MessagePage
import com.oneclaw.core.ToolStatus
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertIs
import kotlin.test.assertNull
import kotlin.test.assertTrue

class ReduceEventsTest {
    private val play = Play()

    @Test
    fun aReplyGrowsApartFromTheList() {
        val rows = play.chat.items
        val turn = play.send("Hi")
        assertTrue(play.turn(turn).isWaiting)
        play.events(turn, Events.thinking, Events.text, ChatEvent.StreamingText(" there"))
        assertEquals("Hello there", play.turn(turn).open?.text?.text)
        assertEquals("Hm", play.turn(turn).open?.thinking?.text)
        assertTrue(rows === play.chat.items, "the finished rows are untouched")
        assertFalse(play.turn(turn).isWaiting)
    }

    @Test
    fun toolsBecomeCardsBetweenReplies() {
        val turn = play.send("Hi")
        play.events(turn, Events.text, Events.toolStarted, Events.toolArguments)
        assertEquals("Hello|[read_file EXECUTING]", play.turn(turn).plain)
        play.events(turn, Events.round, Events.toolCompleted, Events.text)
        assertEquals("Hello|[read_file SUCCESS]|Hello", play.turn(turn).plain)
        val card = assertIs<LivePart.Tool>(play.turn(turn).parts[1]).card
        assertEquals(12, card.durationMs)
        assertEquals("{}", card.arguments)
    }

    @Test
    fun parallelToolsEndInAnyOrder() {
        val turn = play.send("Hi")
        play.events(
            turn,
            ChatEvent.ToolCallStarted("a", "first"),
            ChatEvent.ToolCallStarted("b", "second"),
            ChatEvent.ToolCallCompleted("b", "second", ToolStatus.TIMEOUT, 30_000),
        )
        assertEquals("[first EXECUTING]|[second TIMEOUT]", play.turn(turn).plain)
        play.events(turn, ChatEvent.ToolCallCompleted("a", "first", ToolStatus.ERROR, 1))
        assertEquals("[first ERROR]|[second TIMEOUT]", play.turn(turn).plain)
    }

    @Test
    fun aToolThatEndsWithoutHavingBegunIsShown() {
        val turn = play.send("Hi")
        play.events(turn, Events.toolCompleted)
        assertEquals("[read_file SUCCESS]", play.turn(turn).plain)
    }

    @Test
    fun aCallNameUsedAgainIsAnotherCard() {
        val turn = play.send("Hi")
        val round = arrayOf(Events.toolStarted, Events.toolCompleted, Events.round)
        play.events(turn, *round, Events.toolStarted)
        assertEquals("[read_file SUCCESS]|[read_file EXECUTING]", play.turn(turn).plain)
        val keys = play.turn(turn).parts.filterIsInstance<LivePart.Tool>().map { it.card.key }
        assertEquals(keys.distinct(), keys)
    }

    @Test
    fun storedResultsAreShownWhileTheTurnRuns() {
        val turn = play.send("Hi")
        play.events(turn, Events.toolStarted, Events.toolCompleted)
        val result = SampleData.result("m", "c", "read_file", "42", ToolStatus.SUCCESS, 12, 0)
        play.update(ChatUpdate.ToolsLoaded(turn, MessagePage(listOf(result), null)))
        assertEquals("42", assertIs<LivePart.Tool>(play.turn(turn).parts.single()).card.output)
    }

    @Test
    fun theIndicatorIsThereOnlyWhileASummaryIsWritten() {
        val turn = play.send("Hi")
        assertFalse(play.chat.isCompacting)
        play.events(turn, Events.usage, Events.compactStarted)
        assertTrue(play.chat.isCompacting)
        play.events(turn, Events.compacted)
        assertFalse(play.chat.isCompacting)
        play.events(turn, Events.text, Events.complete, Events.compactStarted)
        assertTrue(play.chat.isCompacting)
        play.events(turn, Events.compacted, ChatEvent.Finished)
        assertFalse(play.chat.isCompacting)
        assertEquals(emptyList(), play.state.notices)
    }

    @Test
    fun aCompactionWithoutACallShowsNoIndicator() {
        val turn = play.send("Hi")
        play.events(turn, Events.trimmed)
        assertFalse(play.chat.isCompacting)
        assertIs<Notice.Trimmed>(play.state.notice)
    }

    @Test
    fun whatTheModelWasNotToldAndAWindowNobodyKnowsAreSaid() {
        val turn = play.send("Hi")
        play.events(turn, Events.usage, Events.picturesLeftOut, Events.windowUnknown, Events.text)
        val (pictures, window) = play.state.notices
        assertEquals(2, assertIs<Notice.PicturesLeftOut>(pictures).count)
        assertEquals("s-1" to 40_000L, assertIs<Notice.WindowUnknown>(window).run { sessionId to expected })
        assertEquals("Hello", play.turn(turn).plain, "the reply goes on")
    }

    @Test
    fun eachFallbackIsToldOnce() {
        val turn = play.send("Hi")
        play.events(turn, Events.compactStarted, Events.trimmed, Events.text, Events.complete)
        play.events(turn, Events.compactStarted, Events.trimmed, ChatEvent.Finished)
        assertEquals(2, play.state.notices.size)
        val first = play.state.notices.first()
        play.act(ChatAction.NoticeShown(first.id))
        assertEquals(1, play.state.notices.size)
        play.act(ChatAction.NoticeShown(first.id))
        assertEquals(1, play.state.notices.size)
        play.act(ChatAction.NoticeShown(play.state.notices.single().id))
        assertNull(play.state.notice)
    }

    @Test
    fun aStreamThatEndsDuringACompactionLeavesNoIndicator() {
        val turn = play.send("Hi")
        play.events(turn, Events.compactStarted, ChatEvent.Finished)
        assertFalse(play.chat.isCompacting)
    }

    @Test
    fun aMessageIsAcceptedDuringACompaction() {
        val first = play.send("One")
        play.act(ChatAction.EditDraft("Two"))
        assertFalse(play.chat.canSend, "one reply at a time")
        play.events(first, Events.compactStarted)
        assertTrue(play.chat.canSend)
        play.act(ChatAction.Send)
        assertEquals(listOf("One", "Two"), play.chat.turns.map { it.bubble?.text })
        assertTrue(play.chat.draft.isEmpty)
        val second = play.chat.turns.last().id
        play.events(second, Events.text)
        play.events(first, Events.compacted, Events.text, Events.complete, ChatEvent.Finished)
        assertFalse(play.chat.isCompacting)
        assertEquals(listOf("Hello", "Hello"), play.chat.turns.map { it.plain })
        play.loaded(MessagePage(emptyList(), null))
        assertEquals(2, play.chat.turns.size, "what is stored is read when nothing is being received")
        play.events(second, Events.complete, ChatEvent.Finished).loaded(MessagePage(SampleData.conversation, null))
        assertEquals(emptyList(), play.chat.turns)
    }

    @Test
    fun aMessageIsAcceptedDuringACompactionThatWasAskedFor() {
        play.act(ChatAction.OpenContext, ChatAction.EditFocus(" prices "), ChatAction.CompactNow)
        val compaction = play.chat.turns.single()
        assertEquals(TurnRequest.Compact("prices"), compaction.request)
        play.events(compaction.id, Events.compactStarted)
        val turn = play.send("Hi")
        play.events(turn, Events.text, Events.complete, ChatEvent.Finished)
        play.events(compaction.id, Events.compacted, ChatEvent.Finished)
        assertIs<Notice.Compacted>(play.state.notice)
    }

    @Test
    fun whatWasAskedForIsReported() {
        play.act(ChatAction.OpenContext, ChatAction.CompactNow)
        play.events(play.chat.turns.single().id, Events.notCompacted, ChatEvent.Finished)
        assertIs<Notice.NothingToCompact>(play.state.notice)
    }

    @Test
    fun aCompactionThatFailedIsTriedAgainAsSuch() {
        play.act(ChatAction.OpenSession("s-1")).loaded(MessagePage(SampleData.conversation, null))
        play.act(ChatAction.OpenContext, ChatAction.EditFocus("prices"), ChatAction.CompactNow)
        val error = ChatEvent.Error("No summary", ErrorCode.PROVIDER, true)
        play.events(play.chat.turns.single().id, Events.compactStarted, Events.notCompacted, error, ChatEvent.Finished)
        assertEquals(emptyList(), play.state.notices, "there was something to compact")
        play.act(ChatAction.Retry)
        assertEquals(TurnRequest.Compact("prices"), play.chat.turns.last().request)
        assertEquals(SampleData.conversation, play.chat.transcript.messages)
    }

    @Test
    fun stopWaitsForTheEnd() {
        val turn = play.send("Hi")
        play.events(turn, Events.text).act(ChatAction.Stop)
        assertTrue(play.chat.isStopping)
        assertFalse(play.chat.canStop)
        play.events(turn, ChatEvent.StreamingText("!"), ChatEvent.Finished)
        assertEquals("Hello!", play.turn(turn).plain)
        assertTrue(play.chat.isQuiet)
    }

    @Test
    fun anErrorCanBeRetried() {
        val turn = play.send("Hi")
        play.events(turn, Events.text, Events.error)
        assertFalse(play.chat.canRetry, "not before the stream is over")
        play.events(turn, ChatEvent.Finished)
        assertEquals(Failure.Reported("No connection", ErrorCode.NETWORK), play.chat.looseFailure)
        assertTrue(play.chat.canRetry)
        play.act(ChatAction.Retry)
        assertNull(play.chat.failure)
        assertEquals(TurnRequest.Regenerate, play.chat.turns.last().request)
        assertNull(play.chat.turns.last().bubble)
    }

    /** A key that is given in the settings, or another model, may be all that was missing. */
    @Test
    fun anErrorThatStaysCanBeRetriedToo() {
        for (code in listOf(ErrorCode.AUTH, ErrorCode.PROVIDER, ErrorCode.CONTEXT, ErrorCode.VALIDATION)) {
            val turn = play.send("Hi")
            play.events(turn, ChatEvent.Error("No", code, false), ChatEvent.Finished)
            assertTrue(play.chat.canRetry)
            val stored = SampleData.conversation.take(1) + SampleData.message("m-30", 30, MessageKind.Error("No"))
            play.loaded(MessagePage(stored, null))
            assertTrue(play.chat.canRetry, "as stored")
            play.act(ChatAction.DismissFailure)
            assertTrue(play.chat.canRetry, "as after the next start")
            play.act(ChatAction.Retry)
            assertEquals(TurnRequest.Regenerate, play.chat.turns.last().request)
            play.events(play.chat.turns.last().id, ChatEvent.Finished).loaded(MessagePage(SampleData.conversation, null))
        }
    }

    @Test
    fun anErrorAfterTheReplyLeavesTheReplyAlone() {
        for (stop in listOf(false, true)) {
            val play = Play()
            val turn = play.send("Hi")
            play.events(turn, Events.text, Events.complete)
            if (stop) play.act(ChatAction.Stop)
            play.events(turn, Events.error, ChatEvent.Finished)
            assertEquals(Notice.Unfinished(play.state.lastId, ErrorCode.NETWORK), play.state.notice)
            assertNull(play.chat.failure)
            assertFalse(play.chat.canRetry)
            // As the core stores it, and as it is found after the next start.
            val error = SampleData.message("m-30", 30, MessageKind.Error("No connection"))
            play.loaded(MessagePage(SampleData.conversation + error, null))
            val before = play.state
            assertEquals(before, play.act(ChatAction.Retry).state)
        }
    }

    @Test
    fun anErrorWithinAReplyIsTriedAgain() {
        val error = SampleData.message("m-30", 30, MessageKind.Error("No connection"))
        val half = SampleData.reply("m-29", "Half a", 29, isInterrupted = true)
        for (rows in listOf(listOf(half, error), SampleData.conversation.slice(1..3) + error)) {
            play.loaded(MessagePage(SampleData.conversation.take(1) + rows, null))
            assertTrue(play.chat.canRetry)
        }
    }

    @Test
    fun anEditWaitsForACompaction() {
        play.events(play.send("One"), Events.text, Events.complete, Events.compactStarted)
        play.loaded(MessagePage(SampleData.conversation, null)).act(ChatAction.StartEdit("m-8"), ChatAction.EditDraft("Two"))
        assertFalse(play.chat.canSend)
        val before = play.state
        assertEquals(before, play.act(ChatAction.Send).state)
        play.act(ChatAction.CancelEdit, ChatAction.EditDraft("Two"))
        assertTrue(play.chat.canSend)
    }

    @Test
    fun aPinIsSeenWhileAReplyIsReceived() {
        play.events(play.send("Hi"), Events.text)
        play.update(ChatUpdate.Pinned("s-1", "m-1", isPinned = true))
        assertTrue(assertIs<ChatItem.User>(play.chat.items.first()).isPinned)
        play.update(ChatUpdate.Pinned("s-1", "m-1", isPinned = false))
        assertFalse(assertIs<ChatItem.User>(play.chat.items.first()).isPinned)
    }

    @Test
    fun aPageReadBeforeEarlierMessagesCameIsLeftAside() {
        val all = SampleData.conversation
        play.loaded(MessagePage(all, null)).loaded(MessagePage(all.takeLast(3), "cursor"), limit = 3)
        assertEquals(all, play.chat.transcript.messages)
    }

    @Test
    fun aRefusedTextGoesBackToTheDraft() {
        val turn = play.send("Precious words")
        play.update(ChatUpdate.TurnEnded(turn, Problem.Storage("disk full")))
        assertEquals("Precious words", play.chat.draft.text)
        assertEquals(Failure.Refused(Problem.Storage("disk full")), play.chat.failure)
        assertEquals(emptyList(), play.chat.turns)
    }

    @Test
    fun aRefusedTextDoesNotReplaceWhatWasWrittenSince() {
        val turn = play.send("First")
        play.act(ChatAction.EditDraft("Second")).update(ChatUpdate.TurnEnded(turn, Problem.Closed))
        assertEquals("First\n\nSecond", play.chat.draft.text)
    }

    @Test
    fun usageMovesTheMeter() {
        play.events(play.send("Hi"), Events.usage)
        assertEquals(0.7f, play.chat.meter?.share)
        assertEquals(0.85f, play.chat.meter?.triggerShare)
    }

    @Test
    fun nothingComesAfterTheEnd() {
        val turn = play.send("Hi")
        play.events(turn, Events.text, ChatEvent.Finished)
        val ended = play.state
        val late = arrayOf(Events.text, Events.toolStarted, Events.error, Events.compactStarted, Events.trimmed, Events.usage)
        assertEquals(ended, play.events(turn, *late).state)
        assertEquals(ended, play.events(12_345, *late).state)
    }
}
