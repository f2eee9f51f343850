package com.oneclaw.chat

import com.oneclaw.bridge.Problem
import com.oneclaw.bridge.real.demo
import com.oneclaw.core.CompactReason
import com.oneclaw.core.ErrorCode
import com.oneclaw.core.ModelPrice
import com.oneclaw.core.Strategy
import java.util.Locale
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue

class StringsTest {
    @Test
    fun theTwoTextsOfTheFeatureAreAsWritten() {
        assertEquals("Optimizing conversation context...", ENGLISH.chat.compacting)
        assertEquals("Conversation history has been automatically trimmed", ENGLISH.of(Notice.Trimmed(1)))
    }

    @Test
    fun theLanguageFollowsTheLocale() {
        assertEquals(CHINESE, Strings.of(Locale.SIMPLIFIED_CHINESE))
        assertEquals(CHINESE, Strings.of(Locale.TRADITIONAL_CHINESE))
        assertEquals(ENGLISH, Strings.of(Locale.UK))
        assertEquals(ENGLISH, Strings.of(Locale.GERMANY))
    }

    @Test
    fun bothLanguagesHaveTheSameGaps() {
        val chinese = wordsOf(CHINESE)
        for ((name, english) in wordsOf(ENGLISH)) {
            val other = chinese.getValue(name)
            assertTrue(english.isNotBlank() && other.isNotBlank(), name)
            if (name.endsWith("Text")) assertEquals(gaps(english), gaps(other), name)
        }
    }

    @Test
    fun everyTextWithGapsCanBeFilled() {
        for (strings in listOf(ENGLISH, CHINESE)) {
            for ((name, text) in wordsOf(strings).filterKeys { it.endsWith("Text") }) {
                assertTrue('%' !in text.fill("a", "b", "c"), name)
            }
        }
    }

    @Test
    fun problemsShowNoInternals() {
        assertEquals("Something went wrong", ENGLISH.of(Problem.Internal("NullPointerException")))
        assertEquals("密钥缺失或无效", CHINESE.of(ErrorCode.AUTH))
        for (field in listOf("pin", "model", "text")) {
            assertTrue(CHINESE.of(Problem.Invalid(field, "not in English")).none { it in 'a'..'z' }, field)
        }
    }

    @Test
    fun everyCompactionHasItsWords() {
        for (strings in listOf(ENGLISH, CHINESE)) {
            val words = Strategy.entries.map(strings::of) + CompactReason.entries.map(strings::of)
            assertEquals(words.distinct(), words)
        }
    }

    @Test
    fun theTitleOfTheFileIsNotThatOfTheScreen() {
        assertEquals(listOf("New conversation", "Untitled", "Kyoto"), listOf("New Conversation", " ", "Kyoto").map(ENGLISH::titleOf))
        assertEquals("新对话", CHINESE.titleOf(DEFAULT_TITLE))
        assertEquals("已删除“新对话”", CHINESE.of(Notice.SessionDeleted(1, "s-1", DEFAULT_TITLE)))
    }

    @Test
    fun theTitleOfTheFileIsTheOneOfTheCore() = demo { core -> assertEquals(DEFAULT_TITLE, core.createSession().title) }

    @Test
    fun numbersAreShort() {
        val tokens = mapOf(
            0L to "0", 950L to "950", 8_192L to "8.1K", 128_000L to "128K", 999_999L to "999K", 1_000_000L to "1M", 1_048_576L to "1.04M",
            1_050_000L to "1.05M", 1_500_000L to "1.5M", 10_900_000L to "10M",
        )
        assertEquals(tokens, tokens.mapValues { formatTokens(it.key) })
        val durations = mapOf(0L to "0 ms", 999L to "999 ms", 1_400L to "1.4 s", 125_000L to "2 min 5 s")
        assertEquals(durations, durations.mapValues { ENGLISH.durationOf(it.key) })
        assertEquals(listOf("999 毫秒", "1.4 秒", "2 分 5 秒"), listOf(999L, 1_400L, 125_000L).map(CHINESE::durationOf))
    }

    @Test
    fun whatIsKnownOfAModelIsShort() {
        val price = ModelPrice(2.0, 0.075, null, null, emptyList())
        val facts = ModelFacts(1_050_000, 922_000, price, Ability.entries, "2026-10-23", isSwitchedOff = true)
        assertEquals(listOf("1.05M tokens", "input 922K", "\$2 / \$0.075 per M"), ENGLISH.sizeAndPriceOf(facts))
        assertEquals("Tools · Pictures · PDF · Thinking", ENGLISH.abilitiesOf(facts))
        assertEquals("Switched off on 2026-10-23", ENGLISH.endOf(facts))
        assertEquals("可用至 2026-10-23", CHINESE.endOf(facts.copy(isSwitchedOff = false)))
        val bare = ModelFacts(null, null, null, emptyList(), null, isSwitchedOff = false)
        assertEquals(listOf("Window unknown"), ENGLISH.sizeAndPriceOf(bare))
        assertEquals(listOf(null, null), listOf(ENGLISH.abilitiesOf(bare), ENGLISH.endOf(bare)))
        assertEquals(listOf("2.50", "0.0001", "0"), listOf(2.5, 0.0001, 0.00001).map(::dollars))
        val free = bare.copy(window = 8_192, inputLimit = 8_192, price = price.copy(input = 0.0, output = 0.0))
        assertEquals(listOf("8.1K tokens", "Free"), ENGLISH.sizeAndPriceOf(free))
        assertEquals("\$? / \$0.075 per M", ENGLISH.sizeAndPriceOf(bare.copy(price = price.copy(input = null))).last())
    }

    @Test
    fun whatAModelWasNotToldIsSaid() {
        assertEquals("About 61K tokens were sent to a model whose window is unknown", ENGLISH.of(Notice.WindowUnknown(1, "s-1", 61_200)))
        assertTrue("2" in ENGLISH.of(Notice.PicturesLeftOut(1, 2)))
    }

    private fun gaps(text: String) = Regex("%(\\d\\$)?s").findAll(text).map { it.value }.sorted().toList()
}
