package com.oneclaw.bridge

import com.oneclaw.core.CoreException
import com.oneclaw.core.Decision
import com.oneclaw.core.OutputShape
import com.oneclaw.core.Preset
import com.oneclaw.core.estimateSimple
import com.oneclaw.core.estimateText
import com.oneclaw.core.originOf
import com.oneclaw.core.planTranscript
import com.oneclaw.core.startRust
import com.oneclaw.core.truncateHead
import com.oneclaw.core.truncateShaped
import org.junit.jupiter.api.BeforeAll
import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith

/** The core's functions say in Kotlin what the command line says. */
class PureFunctionsTest {
    private val texts = listOf(
        "",
        "short",
        "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. ".repeat(40),
        "夏の終わりに、静かな川のほとりで。\n".repeat(120),
        "👩‍👩‍👧‍👦🎉".repeat(200),
        List(400) { "line $it of a log" }.joinToString("\n"),
    )

    private fun cli(text: String, vararg arguments: String): String {
        val program = System.getProperty("oneclaw.cli")
        val process = ProcessBuilder(program, *arguments).redirectError(ProcessBuilder.Redirect.INHERIT).start()
        process.outputStream.use { it.write(text.toByteArray()) }
        val said = process.inputStream.readAllBytes().decodeToString()
        assertEquals(0, process.waitFor(), "$program ${arguments.joinToString(" ")}")
        return said
    }

    @Test
    fun truncation() {
        for (text in texts) {
            for (limit in listOf(1, 99, 500)) {
                assertEquals(cli(text, "truncate", "--limit", "$limit"), truncateHead(text, limit))
            }
            assertEquals(cli(text, "truncate", "--shape", "head-tail", "--tokens", "150"), truncateShaped(text, OutputShape.HEAD_TAIL, 150))
            assertEquals(cli(text, "truncate", "--shape", "generic", "--tokens", "150"), truncateShaped(text, OutputShape.GENERIC, 150))
        }
        assertContains(truncateHead("x".repeat(20), 5), "showing first 5 of 20 characters")
    }

    @Test
    fun estimation() {
        for (text in texts) {
            val units = text.length
            assertEquals(if (units == 0) 0 else maxOf(1, units / 4).toLong(), estimateSimple(text))
            val size = estimateText(text, "gpt-4o")
            assertEquals(estimateSimple(text), size.simple)
            assertEquals(true, size.expected <= size.upper)
        }
    }

    @Test
    fun planning() {
        val rows = (1..8).map { number ->
            val type = if (number % 2 == 1) "USER" else "AI_RESPONSE"
            """{"id":"r-$number","type":"$type","content":"${"gravel road ".repeat(200)}","created_at":$number}"""
        }
        val transcript = rows.joinToString("\n")
        for (window in listOf(128_000L, 8_000L)) {
            val said = cli(transcript, "plan", "--json", "--window", "$window")
            val plan = planTranscript(transcript, null, null, window, Preset.ONE_CLAW)
            assertContains(said, """"decision":"${plan.decision.name.lowercase()}"""")
            assertContains(said, """"expected":${plan.expected}""")
            assertContains(said, """"upper":${plan.upper}""")
            assertEquals(if (window > 8_000) Decision.SEND else Decision.COMPACT, plan.decision)
            plan.tail.forEach { assertContains(said, "\"$it\"") }
        }
        assertFailsWith<CoreException.Invalid> { planTranscript("no json", null, null, 8_000, Preset.ONE_CLAW) }
    }

    @Test
    fun origins() {
        assertEquals("https://api.openai.com", originOf(" HTTPS://API.openai.com.:443/v1 "))
        assertEquals("http://127.0.0.1:8080", originOf("http://127.0.0.1:8080/v1"))
        for (other in listOf("", "localhost:8080", "https://me:pw@api.openai.com", "ftp://a.example")) assertEquals(null, originOf(other))
    }

    private companion object {
        @BeforeAll
        @JvmStatic
        fun start() = startRust()
    }
}
