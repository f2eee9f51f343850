package com.oneclaw.chat

import com.oneclaw.core.ChatEvent
import com.oneclaw.core.MessagePage
import com.oneclaw.core.ToolStatus
import kotlin.random.Random
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertTrue

/** Properties that hold whatever comes, over random but repeatable sequences. */
class RandomEventsTest {
    private val any = listOf(
        Events.text, Events.thinking, Events.toolStarted, Events.toolArguments, Events.toolCompleted, Events.round,
        Events.complete, Events.error, Events.usage, Events.compactStarted, Events.compacted, Events.trimmed,
        Events.notCompacted, Events.picturesLeftOut, Events.windowUnknown, ChatEvent.Finished,
    )

    /** All that the core may say about one message, in an order that it may have. */
    private fun answer(random: Random): List<ChatEvent> = buildList {
        add(Events.usage)
        if (random.nextInt(4) == 0) add(Events.picturesLeftOut)
        if (random.nextInt(4) == 0) add(Events.windowUnknown)
        compaction(random)
        repeat(random.nextInt(3)) { round ->
            reply(random)
            repeat(1 + random.nextInt(2)) {
                add(ChatEvent.ToolCallStarted("$round-$it", "tool"))
                repeat(random.nextInt(3)) { part -> add(ChatEvent.ToolCallArgumentsDelta("$round-$it", "$part")) }
            }
            add(ChatEvent.ToolRoundStarting(round + 1))
            filterIsInstance<ChatEvent.ToolCallStarted>().filter { it.toolCallId.startsWith("$round-") }.shuffled(random)
                .forEach { add(ChatEvent.ToolCallCompleted(it.toolCallId, "tool", ToolStatus.SUCCESS, 1)) }
            if (random.nextInt(8) == 0) {
                addAll(listOf(Events.error, ChatEvent.Finished))
                return@buildList
            }
            compaction(random)
        }
        reply(random)
        if (random.nextInt(4) == 0) {
            add(Events.error)
        } else {
            add(Events.complete)
            compaction(random)
            // What follows the reply may fail too.
            if (random.nextInt(6) == 0) add(Events.error)
        }
        add(ChatEvent.Finished)
    }

    private fun MutableList<ChatEvent>.reply(random: Random) {
        repeat(random.nextInt(3)) { add(Events.thinking) }
        repeat(1 + random.nextInt(4)) { add(ChatEvent.StreamingText("w$size ")) }
    }

    private fun MutableList<ChatEvent>.compaction(random: Random) {
        when (random.nextInt(4)) {
            0 -> addAll(
                listOf(Events.compactStarted, listOf(Events.compacted, Events.trimmed, Events.notCompacted).random(random)),
            )
            1 -> add(Events.trimmed)
        }
    }

    @Test
    fun everyOrderTheCoreCanHave() {
        val random = Random(SEED)
        repeat(300) {
            val play = Play()
            val queues = mutableMapOf<Long, MutableList<ChatEvent>>()
            val texts = mutableMapOf<Long, StringBuilder>()
            val compacting = mutableSetOf<Long>()
            val answered = mutableSetOf<Long>()
            var told = 0
            queues[play.send("Message 0")] = answer(random).toMutableList()
            while (queues.isNotEmpty()) {
                val (turn, queue) = queues.entries.random(random)
                val event = queue.removeFirst()
                play.events(turn, event)
                when (event) {
                    is ChatEvent.StreamingText -> texts.getOrPut(turn, ::StringBuilder).append(event.text)
                    is ChatEvent.CompactStarted -> compacting += turn
                    is ChatEvent.CompactCompleted -> {
                        compacting -= turn
                        if (event.fallback) told++
                    }
                    is ChatEvent.PicturesLeftOut, is ChatEvent.WindowUnknown -> told++
                    is ChatEvent.ResponseComplete -> answered += turn
                    is ChatEvent.Error -> if (turn in answered) told++
                    is ChatEvent.Finished -> queues -= turn
                    else -> Unit
                }
                assertEquals(compacting.isNotEmpty(), play.chat.isCompacting)
                assertEquals(told, play.state.notices.size)
                for ((id, text) in texts) {
                    val received = play.turn(id).run { parts + listOfNotNull(open) }.filterIsInstance<LivePart.Reply>()
                    assertEquals(text.toString(), received.joinToString("") { it.text.text })
                }
                if (random.nextInt(20) == 0) {
                    // A stop ends what is going on; what was received stays.
                    play.act(ChatAction.Stop)
                    for ((id, left) in queues) {
                        left.clear()
                        if (id in compacting) left += Events.notCompacted
                        left += ChatEvent.Finished
                    }
                }
                if (play.chat.canRetry && random.nextBoolean()) {
                    play.act(ChatAction.Retry)
                    queues[play.chat.turns.last().id] = answer(random).toMutableList()
                }
                play.act(ChatAction.EditDraft("More"))
                if (play.chat.canSend && queues.size < 3 && random.nextInt(3) == 0) {
                    play.act(ChatAction.Send)
                    queues[play.chat.turns.last().id] = answer(random).toMutableList()
                }
            }
            assertTrue(play.chat.isQuiet)
            play.loaded(MessagePage(SampleData.conversation, null))
            assertEquals(emptyList(), play.chat.turns)
            assertEquals(SampleData.conversation, play.chat.transcript.messages)
        }
    }

    @Test
    fun ordersTheCoreNeverHasDoNoHarmEither() {
        val random = Random(SEED)
        val actions = listOf(
            ChatAction.EditDraft("Hi"), ChatAction.Send, ChatAction.Stop, ChatAction.Retry, ChatAction.OpenContext,
            ChatAction.CompactNow,
            ChatAction.Regenerate("m-9"),
            ChatAction.StartEdit("m-8"), ChatAction.CancelEdit, ChatAction.Back,
            ChatAction.NewSession, ChatAction.OpenSession("s-1"), ChatAction.OpenSession("s-2"), ChatAction.DismissFailure,
        )
        repeat(200) {
            val play = Play()
            repeat(80) {
                if (random.nextInt(3) == 0) {
                    play.act(actions.random(random))
                } else {
                    play.events(1 + random.nextLong(play.state.lastId + 1), any.random(random))
                }
            }
            play.state.chats.values.flatMap { it.turns }.forEach { play.events(it.id, ChatEvent.Finished) }
            assertFalse(play.state.chats.values.any { it.isCompacting || it.isAnswering })
            val ids = play.state.notices.map { it.id } + play.state.chats.values.flatMap { chat -> chat.turns.map { it.id } }
            assertEquals(ids.distinct(), ids)
        }
    }
}
