package com.oneclaw.chat

import com.oneclaw.bridge.fake.FakeTurn
import com.oneclaw.core.CoreException
import com.oneclaw.core.MessageKind
import kotlin.random.Random
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue

/** Somebody uses the app at random, over a core that sometimes fails. In the end all is as stored, and no text is lost. */
class RandomUseTest {
    @Test
    fun whatIsShownIsWhatIsStoredAndNothingIsLost() {
        repeat(60) { round -> use(Random(SEED + round)) }
    }

    private fun use(random: Random) = stage({ repeat(2) { file.create(null, null) } }) {
        val sessions = fake.file.sessions.map { it.id }
        val written = mutableListOf<String>()
        repeat(60) { step ->
            when (random.nextInt(10)) {
                0, 1 -> {
                    written += "text $step;"
                    holder.onAction(ChatAction.EditDraft(chat.draft.text + "text $step;"))
                    holder.onAction(ChatAction.Send)
                }
                2 -> holder.onAction(ChatAction.OpenSession(sessions.random(random)))
                3 -> holder.onAction(if (random.nextBoolean()) ChatAction.NewSession else ChatAction.Stop)
                4 -> holder.onAction(if (random.nextBoolean()) ChatAction.Retry else ChatAction.LoadEarlier)
                5 -> fake.fail(listOf("send", "messages", "session", "createSession").random(random), CoreException.Busy("now"))
                6 -> settle()
                else -> fake.turns.filterNot { it.isOver }.randomOrNull(random)?.let { step(it, random) }
            }
        }
        settle()
        listOf("send", "messages", "session", "createSession", "sessions").forEach(fake::forgive)
        fake.turns.filterNot { it.isOver }.forEach { it.complete() }
        settle()
        for (id in fake.file.sessions.map { it.id }) {
            act(ChatAction.OpenSession(id))
            assertEquals(emptyList(), chat.turns)
            assertEquals(fake.file.rows(id).takeLast(50), chat.transcript.messages.takeLast(50))
        }
        val stored = fake.file.sessions.flatMap { fake.file.rows(it.id) }.mapNotNull { (it.kind as? MessageKind.User)?.text }
        val drafts = state.chats.values.map { it.draft.text }
        for (text in written) assertTrue((stored + drafts).any { text in it }, "$text is lost")
    }

    private fun step(turn: FakeTurn, random: Random) {
        when (random.nextInt(6)) {
            0 -> turn.text("word ")
            1 -> turn.startTool("c", "tool").endTool("c", "done")
            2 -> turn.startCompaction().endCompaction(fallback = random.nextBoolean())
            3 -> turn.error("No connection").finish()
            4 -> turn.answer().startCompaction().endCompaction().finish()
            else -> turn.complete()
        }
    }
}
