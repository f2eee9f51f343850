package com.oneclaw.bridge

import com.oneclaw.bridge.fake.FakeChatRepository
import com.oneclaw.core.Attachment
import com.oneclaw.core.AttachmentContent
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.CoreException
import com.oneclaw.core.MessageKind
import com.oneclaw.core.Shelf
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

class FakeChatRepositoryTest {
    private val fake = FakeChatRepository()

    @Test
    fun aTurnIsStoredAsTheCoreWould() = runTest {
        fake.script = { turn ->
            turn.think("Hm.").text("Let me look.").startTool("c", "read_file").endTool("c", "42").round(1).text("42.").complete()
        }
        val session = fake.createSession()
        val events = fake.send(session.id, "How many?").toList()
        assertEquals(ChatEvent.Finished, events.last())
        val kinds = fake.messages(session.id).messages.map { it.kind::class.simpleName }
        assertEquals(listOf("User", "Reply", "ToolCall", "ToolResult", "Reply"), kinds)
        assertEquals("42.", fake.session(session.id).preview)
    }

    @Test
    fun stopEndsATurnAndKeepsWhatWasReceived() = runTest {
        val session = fake.createSession()
        val events = async { fake.send(session.id, "Tell me a story").toList() }
        runCurrent()
        fake.turns.single().text("Once upon")
        fake.stop(session.id)
        assertEquals(listOf(ChatEvent.StreamingText("Once upon"), ChatEvent.Finished), events.await())
        val reply = fake.messages(session.id).messages.last().kind as MessageKind.Reply
        assertTrue(reply.isInterrupted)
    }

    @Test
    fun pagesFollowOneAnother() = runTest {
        val session = fake.createSession()
        repeat(7) { fake.file.addUser(session.id, "$it", emptyList()) }
        val newest = fake.messages(session.id, limit = 3)
        val older = fake.messages(session.id, newest.before, limit = 3)
        val oldest = fake.messages(session.id, older.before, limit = 3)
        val texts = (oldest.messages + older.messages + newest.messages).map { (it.kind as MessageKind.User).text }
        assertEquals(List(7) { "$it" }, texts)
        assertEquals(null, oldest.before)
    }

    @Test
    fun picturesAreDescribedAndReadAsTheCoreWould() = runTest {
        fake.script = { it.complete() }
        val session = fake.createSession().id
        fake.send(session, "Look", listOf(Attachment("image/png", "a.png", 1, 1, AttachmentContent.New("aGk=")))).toList()
        val asked = { fake.file.rows(session).first().let { it.id to (it.kind as MessageKind.User).attachments.single() } }
        val (question, stored) = asked()
        assertEquals(AttachmentContent.Stored(question, 0, 3), stored.content)
        assertEquals("hi", String(fake.attachment(question, 0)))
        fake.editAndResend(session, question, "Look here", listOf(stored)).toList()
        assertEquals("hi", String(fake.attachment(asked().first, 0)))
        assertFailsWith<CoreException.NotFound> { fake.attachment(question, 0) }
    }

    @Test
    fun failuresAndGates() = runTest {
        fake.fail("sessions", CoreException.Storage("disk full"))
        assertFailsWith<CoreException.Storage> { fake.sessions() }
        assertEquals(emptyList(), fake.sessions(shelf = Shelf.DELETED).sessions)
        val gate = fake.hold("providers")
        val providers = async { fake.providers() }
        runCurrent()
        assertTrue(providers.isActive)
        gate.complete(Unit)
        assertEquals(emptyList(), providers.await())
        fake.close()
        assertFailsWith<CoreException.Closed> { fake.providers() }
    }
}
