package com.oneclaw.bridge

import com.oneclaw.bridge.real.TestTool
import com.oneclaw.bridge.real.all
import com.oneclaw.bridge.real.demo
import com.oneclaw.bridge.real.errors
import com.oneclaw.bridge.real.text
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.Message
import com.oneclaw.core.MessageKind
import com.oneclaw.core.ToolAnswer
import com.oneclaw.core.ToolStatus
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals

class RustToolsTest {
    private fun results(list: List<Message>) = list.mapNotNull { it.kind as? MessageKind.ToolResult }

    @Test
    fun aToolInKotlinAnswers() {
        val heard = mutableListOf<String>()
        val tool = TestTool("measure_depth") {
            heard += it
            ToolAnswer("It is 42 m deep.", false, emptyList())
        }
        demo(listOf(tool)) { core ->
            val session = core.createSession().id
            val events = core.send(session, "Please measure_depth of the lake.").toList()
            assertEquals(emptyList(), events.errors())
            assertEquals(ToolStatus.SUCCESS, events.filterIsInstance<ChatEvent.ToolCallCompleted>().single().status)
            assertContains(events.text(), "measure_depth returned: It is 42 m deep.")
            assertEquals("It is 42 m deep.", results(core.all(session)).single().output)
            assertEquals(1, heard.size)
        }
    }

    @Test
    fun whatAToolThrowsTheModelIsTold() {
        val tools = listOf(
            TestTool("fail_mildly") { error("the pump is dry") },
            TestTool("fail_hard") { throw AssertionError("not even wrong") },
            TestTool("not_written") { TODO("later") },
            TestTool("say_no") { ToolAnswer("no", true, emptyList()) },
        )
        demo(tools) { core ->
            val session = core.createSession().id
            val events = core.send(session, "fail_mildly, fail_hard, not_written, say_no").toList()
            assertEquals(emptyList(), events.errors())
            val results = results(core.all(session)).associateBy { it.name }
            assertEquals(tools.map { it.spec.name }.toSet(), results.keys)
            assertEquals(setOf(ToolStatus.ERROR), results.values.map { it.status }.toSet())
            assertContains(results.getValue("fail_mildly").output, "IllegalStateException: the pump is dry")
            assertContains(results.getValue("fail_hard").output, "AssertionError: not even wrong")
            assertContains(results.getValue("not_written").output, "later")
            assertEquals("no", results.getValue("say_no").output)
        }
    }

    @Test
    fun aSlowToolIsCancelledByAStopByLeavingAndByItsTime() {
        val begun = List(3) { CompletableDeferred<Unit>() }
        val cancelled = List(3) { CompletableDeferred<Unit>() }
        val body: suspend (String) -> ToolAnswer = {
            val mine = begun.indexOfFirst { it.complete(Unit) }
            try {
                awaitCancellation()
            } finally {
                cancelled[mine].complete(Unit)
            }
        }
        demo(listOf(TestTool("wait_long", body = body), TestTool("wait_briefly", timeoutMs = 50, body = body))) { core ->
            coroutineScope {
                val session = core.createSession().id
                val stopped = async { core.send(session, "wait_long").toList() }
                begun[0].await()
                core.stop(session)
                assertEquals(ChatEvent.Finished, stopped.await().last())
                cancelled[0].await()
                assertContains(results(core.all(session)).single().output, "stopped")

                val left = launch { core.send(core.createSession().id, "wait_long").collect() }
                begun[1].await()
                left.cancel()
                cancelled[1].await()

                val events = core.send(core.createSession().id, "wait_briefly").toList()
                cancelled[2].await()
                assertEquals(ToolStatus.TIMEOUT, events.filterIsInstance<ChatEvent.ToolCallCompleted>().single().status)
            }
        }
    }
}
