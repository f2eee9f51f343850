package com.oneclaw.chat

import com.oneclaw.core.PolicySettings
import com.oneclaw.core.Preset
import com.oneclaw.core.ProviderKind
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertNotNull
import kotlin.test.assertNull
import kotlin.test.assertTrue

class SettingsTest {
    @Test
    fun baseUrls() {
        val good =
            listOf(
                "https://api.openai.com/v1",
                "http://localhost:11434",
                " http://10.0.0.2:8080/v1/ ",
                "http://my_box/v1",
                "http://[::1]:80/",
            )
        good.forEach { assertNull(checkBaseUrl(it), it) }
        val bad = mapOf(
            "" to FieldError.REQUIRED,
            "  " to FieldError.REQUIRED,
            "api.openai.com" to FieldError.NOT_A_URL,
            "https://" to FieldError.NOT_A_URL,
            "http://:80/" to FieldError.NOT_A_URL,
            "https://a b/v1" to FieldError.NOT_A_URL,
            "ftp://example.org" to FieldError.NOT_HTTP,
            "file:///etc/passwd" to FieldError.NOT_HTTP,
            "https://example.org/v1?key=1" to FieldError.HAS_QUERY,
            "https://example.org/v1#top" to FieldError.HAS_QUERY,
        )
        assertEquals(bad, bad.mapValues { checkBaseUrl(it.key) })
    }

    @Test
    fun keys() {
        assertNull(checkKey(""))
        assertNull(checkKey(" sk-abc \n"))
        assertEquals(FieldError.REQUIRED, checkKey("  "))
        assertEquals(FieldError.HAS_SPACES, checkKey("sk-a bc"))
        assertEquals(FieldError.HAS_SPACES, checkKey("sk-a\nbc"))
    }

    @Test
    fun sizes() {
        listOf("", " ", "8192", "128,000", "1 000 000", "200_000").forEach { assertNull(checkTokens(it), it) }
        assertEquals(FieldError.NOT_A_NUMBER, checkTokens("many"))
        assertEquals(FieldError.NOT_A_NUMBER, checkTokens("8.5"))
        assertEquals(FieldError.TOO_SMALL, checkTokens("0"))
        assertEquals(FieldError.TOO_SMALL, checkTokens("-1"))
        assertEquals(FieldError.TOO_BIG, checkTokens("1000000000"))
        assertEquals(FieldError.TOO_BIG, ModelForm("p", id = "m", window = "8192", maxOutput = "8193").maxOutputError)
    }

    @Test
    fun thresholds() {
        listOf("", "10", "85", "95", "72.5").forEach { assertNull(checkThreshold(it), it) }
        assertEquals(FieldError.TOO_SMALL, checkThreshold("9"))
        assertEquals(FieldError.TOO_BIG, checkThreshold("96"))
        assertEquals(FieldError.NOT_A_NUMBER, checkThreshold("85 %"))
    }

    @Test
    fun rulesComeBackAsTheyWereStored() {
        val stored = PolicySettings(
            Preset.SVEN,
            mapOf("threshold" to "0.725", "tail_messages" to "8"),
            auto = false,
            prune = true,
            summaryModel = SampleData.bigModel.ref,
        )
        val form = PolicyForm.of(stored)
        assertEquals("72.5", form.threshold)
        assertEquals(stored, form.toSettings())
        assertEquals(mapOf("tail_messages" to "8"), form.copy(threshold = "").toSettings().overrides)
    }

    @Test
    fun aPresetWithoutAThresholdDoesNotMindOne() {
        val form = PolicyForm(Preset.NOUS, threshold = "nonsense")
        assertTrue(form.isValid)
        assertEquals(emptyMap(), form.toSettings().overrides)
    }

    @Test
    fun aBadFormStaysOpenAndShowsWhatIsWrong() {
        val play = Play(Samples.settings)
        play.act(ChatAction.AddProvider, ChatAction.SaveProvider)
        val form = assertNotNull(play.state.settings.provider)
        assertTrue(form.showsErrors)
        assertFalse(form.isSaving)
        play.act(ChatAction.ChangeProvider(form.copy(name = "Box", baseUrl = "http://box/v1/")), ChatAction.SaveProvider)
        assertTrue(assertNotNull(play.state.settings.provider).isSaving)
        play.update(ChatUpdate.ProviderSaved(isSaved = false))
        assertFalse(assertNotNull(play.state.settings.provider).isSaving)
        play.update(ChatUpdate.ProviderSaved(isSaved = true))
        assertNull(play.state.settings.provider)
    }

    @Test
    fun formsBecomeValues() {
        val provider = ProviderForm(name = " Box ", kind = ProviderKind.OPEN_AI, baseUrl = " http://box/v1/ ").toProvider("p-1")
        assertEquals("p-1", provider.id)
        assertEquals("Box", provider.name)
        assertEquals("http://box/v1", provider.baseUrl)
        val model = ModelForm("p-1", id = " phi-4 ", window = "16,384").toModel()
        assertEquals("phi-4", model.displayName)
        assertEquals(16_384, model.window)
        assertNull(model.maxOutput)
        assertEquals(SampleData.smallModel, ModelForm.of(SampleData.smallModel).toModel())
    }

    @Test
    fun aKeyStaysAtItsAddressOnly() {
        val form = ProviderForm(id = "p-1", name = "Box", baseUrl = "http://box/v1", hasKey = true, savedUrl = "http://box/v1")
        assertTrue(form.keepsKey)
        assertTrue(form.copy(baseUrl = " http://box/v1/ ").keepsKey)
        assertFalse(form.copy(baseUrl = "http://other/v1").keepsKey)
        assertFalse(form.copy(hasKey = false).keepsKey)
    }

    @Test
    fun offeredModelsAreFiltered() {
        val play = Play(Samples.settingsOffer)
        val shown = { play.state.settings.offer?.fitting?.map { it.id } }
        assertEquals(listOf("qwen3-8b", "phi-4", "old-1"), shown())
        play.act(ChatAction.FilterOffer(" PHI "))
        assertEquals(listOf("phi-4"), shown())
        play.act(ChatAction.FilterOffer("nothing"))
        assertEquals(emptyList(), shown())
    }

    @Test
    fun anOfferedModelFillsTheForm() {
        val play = Play(Samples.settingsOffer)
        play.act(ChatAction.TakeOffer(assertNotNull(play.state.settings.offer?.models).first()))
        assertEquals("8192", play.state.settings.model?.window)
        assertNull(play.state.settings.offer)
    }
}
