package com.oneclaw.bridge

import com.oneclaw.bridge.real.LoopbackService
import com.oneclaw.bridge.real.TestTool
import com.oneclaw.bridge.real.asked
import com.oneclaw.bridge.real.demo
import com.oneclaw.bridge.real.errors
import com.oneclaw.bridge.real.house
import com.oneclaw.bridge.real.replies
import com.oneclaw.bridge.real.text
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.ChatListener
import com.oneclaw.core.CoreException
import com.oneclaw.core.ErrorCode
import com.oneclaw.core.KeyVault
import com.oneclaw.core.OneClaw
import com.oneclaw.core.OpenConfig
import com.oneclaw.core.ToolAnswer
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.toList
import java.nio.charset.CharacterCodingException
import kotlin.io.path.writeText
import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import kotlin.test.assertTrue

class RustErrorsTest {
    @Test
    fun aFileThatCannotBeOpenedIsLeftAlone() = house {
        assertFailsWith<CoreException.Storage> {
            RustChatRepository.open(OpenConfig("/proc/no/such.db", "$folder/files", false), this, emptyList())
        }
        val letter = folder.resolve("oneclaw.db").also { it.writeText("Dear diary, this is no database at all.\n".repeat(50)) }
        assertFailsWith<CoreException.Storage> { open() }
        assertTrue(letter.toFile().readText().startsWith("Dear diary"))
    }

    @Test
    fun errorsHaveTypes() = demo { core ->
        assertFailsWith<CoreException.NotFound> { core.session("nobody") }
        assertFailsWith<CoreException.NotFound> { core.messages("nobody") }
        assertFailsWith<CoreException.NotFound> { core.send("nobody", "Hello").collect() }
        assertFailsWith<CoreException.NotFound> { core.removeProvider("nobody") }
        val session = core.createSession().id
        assertEquals("limit", assertFailsWith<CoreException.Invalid> { core.messages(session, limit = 0) }.field)
        assertEquals("limit", assertFailsWith<CoreException.Invalid> { core.sessions(limit = -1) }.field)
        assertEquals("title", assertFailsWith<CoreException.Invalid> { core.renameSession(session, " ") }.field)
        assertFailsWith<CoreException.Invalid> { core.send(session, "  ").collect() }
        assertFailsWith<CoreException.Invalid> { core.editAndResend(session, "nothing", "Hello").collect() }
        // Half of a pair of surrogates is no text; the bindings refuse it before the core sees it.
        val half = assertFailsWith<CharacterCodingException> { core.send(session, "\uD83D").collect() }
        assertEquals(Problem.Invalid("text", "contains half a character"), problemOf(half))
        assertEquals(emptyList(), core.asked(session))
    }

    @Test
    fun whatAServiceSaysHasATypeToo() = demo { core ->
        for ((status, kind) in mapOf(401 to Problem.Auth::class, 404 to Problem.Service::class, 429 to Problem.Service::class)) {
            val error = LoopbackService(status) { it.end() }.use {
                it.session(core)
                assertFailsWith<CoreException> { core.listModels("loopback") }
            }
            assertEquals(kind, problemOf(error)::class, "$status: $error")
        }
        val gone = LoopbackService { it.end() }
        gone.session(core)
        gone.close()
        assertFailsWith<CoreException.Network> { core.listModels("loopback") }
    }

    @Test
    fun aToolWithABrokenSchemaIsRefused() = house {
        val tool = object : AppTool by TestTool("broken", body = { ToolAnswer("", false, emptyList()) }) {
            override val spec = TestTool("broken") { error("") }.spec.copy(schemaJson = "{")
        }
        assertEquals("schema_json", assertFailsWith<CoreException.Invalid> { open(listOf(tool)) }.field)
    }

    @Test
    fun nothingIsAnsweredAfterClosing() = house {
        val core = open()
        val session = core.createSession().id
        core.close()
        core.close()
        assertFailsWith<CoreException.Closed> { core.sessions() }
        assertFailsWith<CoreException.Closed> { core.stop(session) }
        assertFailsWith<CoreException.Closed> { core.send(session, "Hello").collect() }
        assertEquals(Problem.Closed, problemOf(assertFailsWith<CoreException.Closed> { core.policy() }))
    }

    @Test
    fun closingEndsWhatIsGoingOn() = house {
        val core = open()
        val session = core.createSession().id
        coroutineScope {
            val begun = CompletableDeferred<Unit>()
            val events = async {
                val heard = mutableListOf<ChatEvent>()
                core.send(session, "Write 900 words.").collect {
                    heard += it
                    if (it is ChatEvent.StreamingText) begun.complete(Unit)
                }
                heard
            }
            begun.await()
            core.close()
            assertEquals(ChatEvent.Finished, events.await().last())
        }
        open().use { assertTrue(it.replies(session).single().isInterrupted) }
    }

    @Test
    fun severalMayCloseAtOnceAndAllWaitForTheEnd() = house {
        repeat(3) { round ->
            val core = open()
            val session = core.createSession().id
            coroutineScope {
                val events = async { core.send(session, "Write 900 words.").toList() }
                while (core.asked(session).isEmpty()) delay(1)
                val closing = List(4) { async(Dispatchers.IO) { core.close() } }
                closing.awaitAll()
                assertEquals(ChatEvent.Finished, events.await().last(), "round $round")
            }
            assertFailsWith<CoreException.Closed> { core.sessions() }
        }
    }

    @Test
    fun whatAVaultThrowsIsAnErrorWithoutItsText() {
        for (fault in listOf(IllegalStateException("key sk-123"), NotImplementedError("key sk-123"))) {
            house {
                val broken = object : KeyStore by this@house {
                    override fun key(providerId: String, origin: String): String = throw fault
                }
                LoopbackService { it.end() }.use { service ->
                    open(keys = broken).use { core ->
                        val session = service.session(core)
                        val error = core.send(session, "Hello").toList().errors().single()
                        assertEquals(ErrorCode.PERMISSION, error.code)
                        assertContains(error.text, fault::class.java.simpleName)
                        assertFalse("sk-123" in error.text)
                        assertEquals(listOf("Hello"), core.asked(session))
                    }
                }
            }
        }
    }

    @Test
    fun theKeyOfTheVaultIsSent() = house {
        LoopbackService {
            it.text("Hi")
            it.end()
        }.use { service ->
            open().use { core ->
                val session = service.session(core)
                val provider = core.providers().single { it.id == "loopback" }
                core.setKey(provider, "sk-42")
                assertTrue(core.hasKey(provider))
                assertEquals("Hi", core.send(session, "Hello").toList().text())
                core.removeKey("loopback")
                assertFalse(core.hasKey(provider))
                assertEquals("Bearer sk-42", service.keys.single())
            }
        }
    }

    @Test
    fun aKeyDoesNotFollowAServiceToAnotherAddress() = house {
        val answer = { stream: LoopbackService.Stream ->
            stream.text("Hi")
            stream.end()
        }
        LoopbackService(answer = answer).use { first ->
            LoopbackService(answer = answer).use { second ->
                open().use { core ->
                    first.session(core)
                    core.setKey(core.providers().single { it.id == "loopback" }, "sk-42")
                    val session = second.session(core)
                    assertFalse(core.hasKey(core.providers().single { it.id == "loopback" }))
                    assertEquals("Hi", core.send(session, "Hello").toList().text())
                    assertEquals(listOf<String?>(null), second.keys.toList())
                }
            }
        }
    }

    /** Below the repository, whose own listener throws nothing. */
    @Test
    fun aListenerThatThrowsLosesOnlyItsOwnEvents() = house {
        val core = OneClaw.open(config(), NoKeys, null)
        val session = core.createSession(null, null).id
        for (fault in listOf(IllegalStateException("boo"), AssertionError("boo"))) {
            val finished = CompletableDeferred<Unit>()
            val listener = object : ChatListener {
                override fun onEvent(event: ChatEvent) {
                    if (event is ChatEvent.Finished) finished.complete(Unit)
                    throw fault
                }
            }
            val run = core.send(session, "Hello", emptyList(), listener)
            finished.await()
            run.destroy()
        }
        assertEquals(4, core.messages(session, null, 10).messages.size)
        core.shutDown()
        core.destroy()
    }

    private object NoKeys : KeyVault {
        override fun key(providerId: String, origin: String): String? = null
    }
}
