package com.oneclaw.bridge

import com.oneclaw.bridge.real.demo
import com.oneclaw.bridge.real.house
import com.oneclaw.core.AgentProfile
import com.oneclaw.core.CoreException
import com.oneclaw.core.Model
import com.oneclaw.core.ModelRef
import com.oneclaw.core.Preset
import com.oneclaw.core.Provider
import com.oneclaw.core.ProviderKind
import com.oneclaw.core.originOf
import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

class RustCatalogueTest {
    @Test
    fun servicesAndModels() = demo { core ->
        val mine = Provider("p-1", "Mine", ProviderKind.ANTHROPIC, "https://example.org", isActive = true, isPreset = false)
        core.saveProvider(mine)
        core.saveProvider(mine.copy(name = "Ours"))
        assertEquals("Ours", core.providers().single { it.id == "p-1" }.name)
        val model = Model("p-1", "m-1", "My model", 32_000, 4_000, isDefault = false, isPreset = false)
        core.saveModel(model)
        assertEquals(model, core.models().single { it.providerId == "p-1" })
        core.setDefaultModel(ModelRef("p-1", "m-1"))
        assertEquals("m-1", core.models().single { it.isDefault }.id)
        assertEquals("window", assertFailsWith<CoreException.Invalid> { core.saveModel(model.copy(window = -1)) }.field)
        assertEquals("max_output", assertFailsWith<CoreException.Invalid> { core.saveModel(model.copy(maxOutput = -1)) }.field)
        assertEquals(model.copy(isDefault = true), core.models().single { it.providerId == "p-1" }, "nothing was changed")
        core.removeModel(ModelRef("p-1", "m-1"))
        core.removeProvider("p-1")
        assertTrue(core.providers().none { it.id == "p-1" })
        assertTrue(core.providers().any { it.isPreset })
        assertFailsWith<CoreException> { core.removeProvider(core.providers().first { it.isPreset }.id) }
        val listed = core.listModels("provider-demo").single()
        assertEquals("demo", listed.id)
    }

    @Test
    fun whatIsKnownOfModels() = house {
        open(isDemo = false).use { core ->
            val models = core.models()
            assertTrue(models.filter { it.isSwitchedOff }.all { it.ends != null })
            assertEquals(false, models.single { it.isDefault }.isSwitchedOff)
            val big = models.single { it.id == "gpt-6-sol" }
            assertEquals(listOf<Long?>(1_050_000, 922_000, 128_000), listOf(big.window, big.inputLimit, big.maxOutput))
            assertEquals(List(4) { true }, listOf(big.seesPictures, big.readsPdf, big.callsTools, big.reasons))
            assertEquals(listOf(2.0, 10.0), listOf(big.price?.input, big.price?.output))
            assertEquals(272_000L, big.price?.tiers?.single()?.above)
        }
    }

    @Test
    fun theWindowAPersonSaysGoesFirstAndStays() = house {
        val model = ModelRef("p-1", "m-1")
        open().use { core ->
            core.saveProvider(Provider("p-1", "Mine", ProviderKind.OPEN_AI, "http://127.0.0.1:9/v1", isActive = true, isPreset = false))
            core.saveModel(Model("p-1", "m-1", "My model", null, null, isDefault = false, isPreset = false))
            assertEquals(null, core.models().single { it.providerId == "p-1" }.window)
            core.setWindow(model, 32_000)
            assertEquals("window", assertFailsWith<CoreException.Invalid> { core.setWindow(model, 0) }.field)
            assertFailsWith<CoreException.NotFound> { core.setWindow(ModelRef("nobody", "m-1"), 32_000) }
        }
        open().use { core ->
            assertEquals(32_000, core.models().single { it.providerId == "p-1" }.window)
            core.setWindow(model, null)
            assertEquals(null, core.models().single { it.providerId == "p-1" }.window)
        }
    }

    @Test
    fun agentsAndModelsOfASession() = demo { core ->
        val agent = AgentProfile("a-1", "Pirate", "Speaks oddly", "Say Arr.", listOf("read_file"), null, isBuiltIn = false)
        core.saveAgent(agent)
        assertContains(core.agents(), agent)
        val session = core.createSession(agentId = "a-1", model = ModelRef("provider-demo", "demo"))
        assertEquals("a-1", session.agentId)
        assertEquals("Say Arr.", core.previewRequest(session.id).request.system.take(8))
        core.setSessionAgent(session.id, core.agents().first { it.isBuiltIn }.id)
        core.setSessionModel(session.id, ModelRef("provider-demo", "other"))
        assertEquals("other", core.session(session.id).model?.modelId)
        core.removeAgent("a-1")
        assertFailsWith<CoreException.NotFound> { core.setSessionAgent(session.id, "a-1") }
    }

    @Test
    fun policyAndSettingsAreKept() = house {
        open().use { core ->
            val policy = core.policy()
            assertEquals(Preset.ONE_CLAW, policy.preset)
            core.savePolicy(policy.copy(preset = Preset.SVEN, overrides = mapOf("threshold" to "0.7"), auto = false))
            assertFailsWith<CoreException.Invalid> { core.savePolicy(policy.copy(overrides = mapOf("no_such" to "1"))) }
            core.setSetting("theme", "DARK")
        }
        open().use { core ->
            assertEquals("DARK", core.setting("theme"))
            core.setSetting("theme", null)
            assertEquals(null, core.setting("theme"))
            val kept = core.policy()
            assertEquals(Preset.SVEN, kept.preset)
            assertEquals(mapOf("threshold" to "0.7"), kept.overrides)
            assertEquals(false, kept.auto)
        }
    }

    @Test
    fun theDemoAnswersWhereNoOtherCan() = house {
        val usual = open(isDemo = false).use { core -> core.models().single { it.isDefault } }
        open().use { core ->
            assertEquals("demo", core.models().single { it.isDefault }.id)
            core.setDefaultModel(ModelRef(usual.providerId, usual.id))
        }
        open().use { core -> assertEquals(usual.id, core.models().single { it.isDefault }.id, "the choice is the user's") }
    }

    @Test
    fun theVendorsAnswerWhereANewFileSays() = house {
        open(isDemo = false).use { core ->
            assertEquals<Map<String, String?>>(VENDOR_ORIGINS, core.providers().associate { it.id to originOf(it.baseUrl) })
        }
    }

    @Test
    fun theDemoLeavesAModelWithAKeyAlone() = house {
        val usual = open(isDemo = false).use { core -> core.models().single { it.isDefault } }
        setKey(usual.providerId, VENDOR_ORIGINS.getValue(usual.providerId), "sk-1")
        open().use { core -> assertEquals(usual.id, core.models().single { it.isDefault }.id) }
    }

    @Test
    fun theDemoLeavesAFileInUseAlone() = house {
        val usual = open(isDemo = false).use { core ->
            core.createSession()
            core.models().single { it.isDefault }
        }
        open().use { core -> assertEquals(usual.id, core.models().single { it.isDefault }.id, "a key is asked for") }
    }
}
