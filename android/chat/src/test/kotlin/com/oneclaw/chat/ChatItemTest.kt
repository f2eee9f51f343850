package com.oneclaw.chat

import com.oneclaw.core.MessageKind
import com.oneclaw.core.ToolStatus
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertIs

class ChatItemTest {
    private val data = SampleData

    @Test
    fun aCallAndItsResultAreOneRow() {
        val tools = itemsOf(data.conversation).filterIsInstance<ChatItem.Tool>()
        assertEquals(listOf("http_request", "read_file"), tools.map { it.name })
        assertEquals(listOf(ToolStatus.SUCCESS, ToolStatus.ERROR), tools.map { it.status })
        assertEquals(listOf(840L, 3L), tools.map { it.durationMs })
        assertEquals("no such file: notes/japan.md", tools.last().output)
    }

    @Test
    fun resultsOfParallelCallsFindTheirCalls() {
        val rows = listOf(
            data.call("1", "a", "first", "{}", 0),
            data.call("2", "b", "second", "{}", 0),
            data.result("3", "b", "second", "B", ToolStatus.SUCCESS, 1, 0),
            data.result("4", "a", "first", "A", ToolStatus.SUCCESS, 1, 0),
        )
        assertEquals(listOf("A", "B"), itemsOf(rows).map { (it as ChatItem.Tool).output })
    }

    @Test
    fun aNameUsedTwiceIsTwoCalls() {
        val rows = listOf(
            data.call("1", "c", "tool", "{}", 0),
            data.result("2", "c", "tool", "one", ToolStatus.SUCCESS, 1, 0),
            data.call("3", "c", "tool", "{}", 0),
            data.result("4", "c", "tool", "two", ToolStatus.SUCCESS, 1, 0),
        )
        assertEquals(listOf("one", "two"), itemsOf(rows).map { (it as ChatItem.Tool).output })
    }

    @Test
    fun aResultWithoutItsCallIsShown() {
        val item = itemsOf(listOf(data.result("2", "c", "tool", "one", ToolStatus.SUCCESS, 1, 0))).single()
        assertEquals("one", assertIs<ChatItem.Tool>(item).output)
    }

    @Test
    fun aCallThatWasNeverAnsweredKeepsItsStatus() {
        val call = data.message("1", 0, MessageKind.ToolCall("c", "tool", "{}", ToolStatus.PENDING))
        assertEquals(ToolStatus.PENDING, assertIs<ChatItem.Tool>(itemsOf(listOf(call)).single()).status)
    }

    @Test
    fun theLineStandsBelowTheLastCoveredRow() {
        val rows = data.conversation.mapIndexed { index, message -> message.copy(isCovered = index < 2) }
        assertEquals(2, itemsOf(rows).indexOf(ChatItem.Boundary))
        assertEquals(-1, itemsOf(data.conversation).indexOf(ChatItem.Boundary))
    }

    @Test
    fun aLineIsDrawnEvenIfTheLastCoveredRowIsNotShown() {
        val rows = listOf(data.user("1", "Hi", 0), data.reply("2", "", 1)).map { it.copy(isCovered = true) }
        assertEquals(listOf("1", "boundary"), itemsOf(rows).map { it.key })
    }

    @Test
    fun repliesWithoutTextAreLeftOut() {
        assertEquals(emptyList(), itemsOf(listOf(data.reply("1", "", 0), data.reply("2", " \n", 0))))
        assertEquals(1, itemsOf(listOf(data.reply("1", "", 0, thinking = "Hm."))).size)
        assertEquals(1, itemsOf(listOf(data.reply("1", "", 0, isInterrupted = true))).size)
    }

    @Test
    fun aCallIsNamedBeforeItIsStoredAsItIsAfterwards() {
        val rows = listOf(
            data.call("1", "c", "tool", "{}", 0),
            data.result("2", "c", "tool", "one", ToolStatus.SUCCESS, 1, 0),
        )
        val next = CallKeys(itemsOf(rows)).next("c")
        assertEquals(next, itemsOf(rows + data.call("3", "c", "tool", "{}", 0)).last().key)
        assertEquals(itemsOf(rows.take(1)).single().key, itemsOf(rows.drop(1)).single().key)
    }

    @Test
    fun keysAreUnique() {
        for ((name, state) in Samples.all) {
            val keys = state.chat.items.map { it.key }
            assertEquals(keys.distinct(), keys, name)
        }
    }
}
