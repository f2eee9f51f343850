package com.oneclaw.chat

import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue

class SamplesTest {
    @Test
    fun noSampleIsForgotten() {
        val declared = Samples.javaClass.methods.filter { it.returnType == AppUiState::class.java && it.name.startsWith("get") }
        assertEquals(declared.map { it.invoke(Samples) }.toSet(), Samples.all.values.toSet())
        assertEquals(declared.size, Samples.all.size)
    }

    @Test
    fun everyKindOfStateIsThere() {
        val states = Samples.all.values
        assertEquals(Screen.entries.toSet(), states.map { it.screen }.toSet())
        assertTrue(states.any { it.chat.isCompacting } && states.any { it.chat.canRetry } && states.any { it.chat.isStopping })
        assertEquals(TurnPhase.entries.toSet() - TurnPhase.ENDED, states.flatMap { it.chat.turns }.map { it.phase }.toSet())
    }

    @Test
    fun onlyTheNewestMessageIsEdited() {
        val edited = Samples.all.values.filter { it.chat.draft.editing != null }
        assertTrue(edited.isNotEmpty())
        for (state in edited) {
            val item = state.chat.items.single { it.key == state.chat.draft.editing }
            assertTrue((item as ChatItem.User).isNewest)
        }
    }

    @Test
    fun badFormsAreBad() {
        assertEquals(false, Samples.settingsProviderBad.settings.provider?.isValid)
        assertEquals(false, Samples.settingsModelBad.settings.model?.isValid)
        assertEquals(false, Samples.settingsBadThreshold.settings.policy.isValid)
    }
}
