package com.oneclaw.chat

import com.oneclaw.core.Attachment
import com.oneclaw.core.AttachmentContent
import com.oneclaw.core.CompactReason
import com.oneclaw.core.ContextStatus
import com.oneclaw.core.EpochInfo
import com.oneclaw.core.ListedModel
import com.oneclaw.core.Message
import com.oneclaw.core.MessageKind
import com.oneclaw.core.Model
import com.oneclaw.core.ModelPrice
import com.oneclaw.core.Parts
import com.oneclaw.core.Provider
import com.oneclaw.core.ProviderKind
import com.oneclaw.core.Session
import com.oneclaw.core.Strategy
import com.oneclaw.core.ToolStatus
import com.oneclaw.core.Usage
import java.util.Base64

/** The values that [Samples] are made of. Nothing depends on the clock. */
object SampleData {
    private const val NOW = 1_790_000_000_000
    private const val MINUTE = 60_000L

    val providers = listOf(
        Provider("provider-openai", "OpenAI", ProviderKind.OPEN_AI, "https://api.openai.com/v1", true, true),
        Provider("provider-anthropic", "Anthropic", ProviderKind.ANTHROPIC, "https://api.anthropic.com/v1", true, true),
        Provider("provider-home", "Home server", ProviderKind.OPEN_AI, "http://192.168.1.20:8080/v1", true, false),
        Provider("provider-demo", "Demo", ProviderKind.OPEN_AI, "http://127.0.0.1:41207/v1", true, false),
    )

    val models = listOf(
        Model(
            "provider-openai", "gpt-4o", "GPT-4o", 128_000, 16_384, isDefault = true, isPreset = true,
            seesPictures = true, readsPdf = true, callsTools = true, reasons = false, price = price(2.5, 10.0),
        ),
        Model("provider-openai", "gpt-4o-mini", "GPT-4o mini", 128_000, 16_384, isDefault = false, isPreset = true),
        Model(
            "provider-anthropic",
            "claude-sonnet-4-5",
            "Claude Sonnet 4.5",
            200_000,
            64_000,
            isDefault = false,
            isPreset = true,
            seesPictures = true,
            readsPdf = true,
            callsTools = true,
            reasons = true,
            price = price(3.0, 15.0),
            ends = "2026-11-30",
        ),
        Model("provider-home", "qwen3-8b", "Qwen3 8B", 8_192, null, isDefault = false, isPreset = false),
        Model("provider-demo", "demo", "Demo", 16_000, 4_096, isDefault = false, isPreset = false),
        Model(
            "provider-openai", "gpt-6-sol", "GPT-6 Sol", 1_050_000, 128_000, isDefault = false, isPreset = true,
            inputLimit = 922_000, seesPictures = true, readsPdf = true, callsTools = true, reasons = true, price = price(2.0, 10.0),
        ),
        Model(
            "provider-openai", "gpt-3.5-turbo", "GPT-3.5 Turbo", 16_385, 4_096, isDefault = false, isPreset = true,
            callsTools = true, price = price(0.5, 1.5), ends = "2026-10-23", isSwitchedOff = true,
        ),
        Model("provider-home", "mystery", "mystery", null, null, isDefault = false, isPreset = false),
    )

    private fun price(input: Double, output: Double) = ModelPrice(input, output, cacheRead = null, cacheWrite = null, tiers = emptyList())

    /** What a service says it has. */
    val offered = listOf(
        ListedModel("qwen3-8b", null, 8_192, null, callsTools = true, reasons = true),
        ListedModel("phi-4", "Phi 4", null, null),
        ListedModel(
            "old-1", "Old 1", 4_096, null, price = price(0.0, 0.0), ends = "2026-06-30", isSwitchedOff = true,
        ),
    )

    val offModel = models.first { it.isSwitchedOff }
    val unknownModel = models.last()
    val bigModel = models[2]
    val smallModel = models[3]
    val catalogue = Catalogue(providers, models, keys = setOf("provider-openai"))

    val session = session("s-1", "A weekend in Kyoto", "The Philosopher’s Path is quiet before nine.", 0)

    val sessions = listOf(
        session,
        session("s-2", "SQLite write-ahead log", "A checkpoint copies the pages back.", 12),
        session("s-3", "Birthday poem for Ada", "Roses are red, engines are brass…", 95),
        session("s-4", "", null, 300),
        session("s-5", "面试准备：分布式系统", "先从一致性模型说起。", 1_500),
        session(
            "s-6",
            "A title that is much too long for one line of a phone and therefore has to end somewhere",
            "And a preview that is no shorter, so that both can be seen to be cut off in a decent manner.",
            4_000,
        ),
    )

    /** A picture that is new. */
    val picture = Attachment("image/png", "gate.png", 32, 32, AttachmentContent.New(GATE))

    /** The same where it is attached to a stored message, alone. */
    fun storedPicture(messageId: String) =
        picture.copy(content = AttachmentContent.Stored(messageId, nth = 0, size = picture.bytes))

    /** A file that is no picture. */
    val torn = Attachment("image/png", "torn.png", null, null, AttachmentContent.New(""))

    /** Reads what is attached to the messages here: it is always the same picture. */
    val readAttachment: suspend (String, Int) -> ByteArray = { _, _ -> Base64.getDecoder().decode(GATE) }

    val usage = Usage(input = 1_204, cacheRead = 8_192, cacheWrite = 0, output = 312, reasoning = 96)

    val markdown = """
        Here is a plan for **two days**.

        1. *Saturday*: Fushimi Inari at dawn, Nishiki Market for lunch
        2. *Sunday*: the Philosopher’s Path, then Nanzen-ji

        | place | opens | fee |
        |---|---|---|
        | Fushimi Inari | always | free |
        | Nanzen-ji | 8:40 | ¥600 |

        ```kotlin
        val days = listOf("Saturday", "Sunday")
        days.forEach { println("Pack for ${'$'}it") }
        ```

        > Trains are full after ten. See [the timetable](https://example.org/trains) and bring `cash`.
    """.trimIndent()

    val conversation = listOf(
        user("m-1", "Plan a weekend in Kyoto for me. I like quiet places.", 0),
        reply("m-2", "With pleasure. Let me look at the weather first.", 1, thinking = "Outdoor places depend on the weather."),
        call("m-3", "c-1", "http_request", """{"url":"https://weather.example.org/kyoto"}""", 2),
        result("m-4", "c-1", "http_request", "Saturday: sunny, 18 °C\nSunday: cloudy, 15 °C", ToolStatus.SUCCESS, 840, 3),
        call("m-5", "c-2", "read_file", """{"path":"notes/japan.md"}""", 4),
        result("m-6", "c-2", "read_file", "no such file: notes/japan.md", ToolStatus.ERROR, 3, 5),
        reply("m-7", markdown, 6, usage = usage),
        user("m-8", "Is this the shrine you mean?", 7, listOf(storedPicture("m-8"))),
        reply("m-9", "Yes, that is Fushimi Inari, seen from the station.", 8),
    )

    val longResult = "line of output\n".repeat(40) + "\n\n[... content truncated, showing first 600 of 48211 characters ...]"

    val pinned = conversation.first().copy(isPinned = true)

    val status = ContextStatus(
        expected = 61_200,
        upper = 66_900,
        window = 128_000,
        hardLimit = 111_616,
        trigger = 108_800,
        parts = Parts(system = 1_900, tools = 2_700, summary = 1_600, messages = 55_000),
        summary = "The user plans a weekend in Kyoto and likes quiet places. Saturday: Fushimi Inari at dawn, then Nishiki " +
            "Market. Sunday: the Philosopher’s Path and Nanzen-ji (opens 8:40, ¥600). The weather is sunny, then cloudy.",
        epochs = listOf(
            epoch(1, 90, Strategy.PROSE, CompactReason.THRESHOLD, "gpt-4o", 109_400, 31_000),
            epoch(2, 20, Strategy.DIGEST, CompactReason.MODEL_SWITCH, null, 96_100, 30_200),
        ),
        pins = listOf(pinned),
    )

    private fun epoch(
        number: Int,
        minutesAgo: Long,
        strategy: Strategy,
        reason: CompactReason,
        model: String?,
        before: Long,
        after: Long,
    ) = EpochInfo(
        number = number,
        createdAt = NOW - minutesAgo * MINUTE,
        strategy = strategy,
        reason = reason,
        model = model,
        messages = 48,
        tokensBefore = before,
        tokensAfter = after,
        summary = "The user plans a weekend in Kyoto and likes quiet places.",
        isFallback = model == null,
    )

    fun session(id: String, title: String, preview: String?, minutesAgo: Long) = Session(
        id = id,
        title = title,
        agentId = "agent-general-assistant",
        model = models.first().ref,
        messageCount = 9,
        preview = preview,
        updatedAt = NOW - minutesAgo * MINUTE,
        createdAt = NOW - (minutesAgo + 60) * MINUTE,
        isDeleted = false,
    )

    fun user(id: String, text: String, at: Long, attachments: List<Attachment> = emptyList()) =
        message(id, at, MessageKind.User(text, attachments))

    fun reply(
        id: String,
        text: String,
        at: Long,
        thinking: String? = null,
        usage: Usage? = null,
        isInterrupted: Boolean = false,
    ) = message(id, at, MessageKind.Reply(text, thinking, "gpt-4o", usage, isInterrupted))

    fun call(id: String, callId: String, name: String, arguments: String, at: Long) =
        message(id, at, MessageKind.ToolCall(callId, name, arguments, ToolStatus.SUCCESS))

    fun result(id: String, callId: String, name: String, output: String, status: ToolStatus, durationMs: Long, at: Long) =
        message(id, at, MessageKind.ToolResult(callId, name, output, status, durationMs, emptyList()))

    fun message(id: String, at: Long, kind: MessageKind) =
        Message(id, kind, NOW - 30 * MINUTE + at, isPinned = false, isCovered = false)
}

/** A gate before an evening sky. */
private const val GATE =
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAABMUlEQVR42u3Q20oCYRTF8fU4XXfddQ/RkxQRERFWVoiIFSIiIkREBBERQde+Rgc6" +
        "0AFLrOiADQwshvnWpg0zcxPB/0b8rW/DYHQ2XWj4Pp0pNHydzBYaPo/nonrjY3HxzyylnsLH0TzjfxlLvon3wwWW14Hkm3g7WGR5HUi+idf9JRm1" +
        "BUb9XhRZ/DNkGO6VZFxaQB4IGQa7yzIuLSAPhAwvO6upsnz98DU8d9dSZTkQvoZ+Z0PGjQWiUp9IGjy1KzIuLeBkeGxVZVxawMnw0KzJuLSAk+G+" +
        "UZdxaQEnw93WpoxLCzgZbuvbMi4t4GS4qTVkXFrAyXBdbcq4tICT4arSknFpASfD5XpbxqUFnAwX5Y6MSws4Gc5XujIuLeBkmJialHFpASf7wwfy" +
        "6v/Ar/0AE+yeTeYjAn4AAAAASUVORK5CYII="
