package com.oneclaw.bridge

import com.oneclaw.bridge.real.all
import com.oneclaw.bridge.real.asked
import com.oneclaw.bridge.real.demo
import com.oneclaw.bridge.real.errors
import com.oneclaw.bridge.real.house
import com.oneclaw.bridge.real.replies
import com.oneclaw.bridge.real.text
import com.oneclaw.core.Attachment
import com.oneclaw.core.AttachmentContent
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.CoreException
import com.oneclaw.core.MessageKind
import com.oneclaw.core.Shelf
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.toList
import java.util.Base64
import kotlin.test.Test
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertIs
import kotlin.test.assertNotNull
import kotlin.test.assertTrue

class RustChatTest {
    @Test
    fun aMessageIsAnsweredAndStored() = house {
        val id = open().use { core ->
            val session = core.createSession()
            val events = core.send(session.id, "Remember: the port = 8080.").toList()
            assertEquals(ChatEvent.Finished, events.last())
            assertEquals(emptyList(), events.errors())
            assertEquals("Noted: the port = 8080.", events.text())
            assertNotNull(events.filterIsInstance<ChatEvent.ResponseComplete>().single().usage)
            assertEquals("the port = 8080.", core.send(session.id, "What is the port?").toList().text())
            session.id
        }
        open().use { core ->
            val kinds = core.all(id).map { it.kind }
            assertEquals(listOf("User", "Reply", "User", "Reply"), kinds.map { it::class.simpleName })
            assertEquals("the port = 8080.", assertIs<MessageKind.Reply>(kinds.last()).text)
            assertEquals(4, core.session(id).messageCount)
        }
    }

    @Test
    fun whoStopsListeningKeepsAPartOfTheReply() = demo { core ->
        val session = core.createSession().id
        val piece = core.send(session, "Write 900 words.").first { it is ChatEvent.StreamingText }
        while (core.replies(session).isEmpty()) delay(5)
        val reply = core.replies(session).single()
        assertTrue(reply.isInterrupted)
        assertTrue(reply.text.startsWith(assertIs<ChatEvent.StreamingText>(piece).text))
        assertTrue(reply.text.split(' ').size < 400, "it was cut off: ${reply.text.length} characters")
        assertEquals(emptyList(), core.send(session, "Hello").toList().errors())
    }

    @Test
    fun aStopLetsTheLastEventsArrive() = demo { core ->
        val session = core.createSession().id
        val events = core.send(session, "Write 900 words.").onEach { if (it is ChatEvent.StreamingText) core.stop(session) }.toList()
        assertEquals(ChatEvent.Finished, events.last())
        val reply = core.replies(session).single()
        assertTrue(reply.isInterrupted)
        assertEquals(events.text(), reply.text)
    }

    @Test
    fun anotherReplyAndAnotherQuestion() = demo { core ->
        val session = core.createSession().id
        core.send(session, "Remember: the port = 8080.").toList()
        core.send(session, "What is the prot?").toList()
        core.regenerate(session).toList()
        val question = core.all(session).last { it.kind is MessageKind.User }
        val events = core.editAndResend(session, question.id, "What is the port?").toList()
        assertEquals("the port = 8080.", events.text())
        assertEquals(listOf("Remember: the port = 8080.", "What is the port?"), core.asked(session))
        assertEquals(4, core.all(session).size)
    }

    @Test
    fun aPageDescribesPicturesAndEachIsReadByItself() = demo { core ->
        val session = core.createSession().id
        core.send(session, "Look.", listOf(picture("a.png"), picture("b.png"))).toList()
        core.regenerate(session).toList()
        val (question, pictures) = core.newestQuestion(session)
        val content = { nth: Int -> AttachmentContent.Stored(question, nth, size = DOT.length / 4L * 3) }
        assertEquals(listOf(picture("a.png", content(0)), picture("b.png", content(1))), pictures)
        assertContentEquals(Base64.getDecoder().decode(DOT), core.attachment(question, 1))
        for ((message, nth) in listOf(question to 2, "nobody" to 0)) {
            assertFailsWith<CoreException.NotFound> { core.attachment(message, nth) }
        }
        assertFailsWith<CoreException.Invalid> { core.attachment(question, -1) }
        core.pin(session, question)
        val pinned = core.contextStatus(session).pins.single()
        assertEquals(pictures, assertIs<MessageKind.User>(pinned.kind).attachments)
    }

    @Test
    fun anEditKeepsThePicturesThatAreHandedBack() = demo { core ->
        val session = core.createSession().id
        core.send(session, "Look.", listOf(picture("a.png"), picture("b.png"))).toList()
        val (question, pictures) = core.newestQuestion(session)
        val events = core.editAndResend(session, question, "Look here.", listOf(pictures[1], picture("c.png"))).toList()
        assertEquals(emptyList(), events.errors())
        val (edited, kept) = core.newestQuestion(session)
        assertEquals(listOf("b.png", "c.png"), kept.map { it.name })
        assertContentEquals(Base64.getDecoder().decode(DOT), core.attachment(edited, 0))
        // The message they were handed back from is gone, and so are they.
        assertFailsWith<CoreException.NotFound> { core.send(session, "Again.", listOf(pictures[0])).toList() }
        assertEquals(listOf("Look here."), core.asked(session))
    }

    private fun picture(name: String, content: AttachmentContent = AttachmentContent.New(DOT)) =
        Attachment("image/png", name, 1, 1, content)

    private suspend fun ChatRepository.newestQuestion(sessionId: String): Pair<String, List<Attachment>> {
        val message = all(sessionId).last { it.kind is MessageKind.User }
        return message.id to (message.kind as MessageKind.User).attachments
    }

    @Test
    fun pagesFollowOneAnother() = demo { core ->
        val session = core.createSession().id
        repeat(4) { core.send(session, "Note $it.").toList() }
        val pages = mutableListOf(core.messages(session, limit = 3))
        while (true) pages += core.messages(session, pages.last().before ?: break, limit = 3)
        assertEquals(listOf(3, 3, 2), pages.map { it.messages.size })
        assertEquals(core.all(session), pages.reversed().flatMap { it.messages })
    }

    @Test
    fun sessionsAreFoundRenamedDeletedAndRestored() = demo { core ->
        val all = List(5) { core.createSession().also { session -> core.renameSession(session.id, "Trip $it") }.id }
        assertEquals(listOf("Trip 3"), core.sessions(search = "trip 3").sessions.map { it.title })
        val first = core.sessions(limit = 2)
        val second = core.sessions(cursor = first.next, limit = 3)
        assertEquals(all.toSet(), (first.sessions + second.sessions).map { it.id }.toSet())
        assertEquals(null, second.next)
        core.deleteSession(all[0])
        assertEquals(listOf(all[0]), core.sessions(shelf = Shelf.DELETED).sessions.map { it.id })
        core.restoreSession(all[0])
        assertEquals(5, core.sessions().sessions.size)
        core.purgeSession(all[0])
        assertEquals(4, core.sessions().sessions.size)
    }

    private companion object {
        const val DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    }
}
