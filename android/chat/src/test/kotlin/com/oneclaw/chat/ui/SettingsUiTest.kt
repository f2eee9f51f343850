package com.oneclaw.chat.ui

import androidx.compose.ui.semantics.SemanticsActions
import androidx.compose.ui.semantics.SemanticsProperties
import androidx.compose.ui.test.SemanticsMatcher
import androidx.compose.ui.test.assertIsDisplayed
import androidx.compose.ui.test.assertIsNotEnabled
import androidx.compose.ui.test.assertIsSelected
import androidx.compose.ui.test.hasAnyAncestor
import androidx.compose.ui.test.hasContentDescription
import androidx.compose.ui.test.hasText
import androidx.compose.ui.test.isDialog
import androidx.compose.ui.test.onAllNodesWithText
import androidx.compose.ui.test.onFirst
import androidx.compose.ui.test.onLast
import androidx.compose.ui.test.onNodeWithText
import androidx.compose.ui.test.performClick
import androidx.compose.ui.test.performScrollTo
import androidx.compose.ui.test.performSemanticsAction
import androidx.compose.ui.test.performTextInput
import androidx.compose.ui.test.performTextReplacement
import androidx.compose.ui.text.AnnotatedString
import androidx.compose.ui.text.TextLayoutResult
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Screen
import com.oneclaw.chat.Theme
import com.oneclaw.chat.fill
import com.oneclaw.core.CoreException
import com.oneclaw.core.ListedModel
import com.oneclaw.core.Preset
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertNull
import kotlin.test.assertTrue

class SettingsUiTest {
    private fun settings(autoAdvance: Boolean = true, test: Desk.() -> Unit) = desk(autoAdvance = autoAdvance) {
        act(ChatAction.ShowScreen(Screen.SETTINGS))
        test()
    }

    private fun Desk.scrollAndTap(text: String) {
        ui.onAllNodesWithText(text).onFirst().performScrollTo().performClick()
        settle()
    }

    private fun Desk.fill(label: String, text: String) {
        field(label).performScrollTo().performTextReplacement(text)
        settle()
    }

    @Test
    fun saysWhatIsWrongWithAService() = settings {
        scrollAndTap(strings.settings.addProvider)
        tap(strings.common.save)
        assertEquals(2, count(strings.settings.required))
        fill(strings.settings.name, "Mine")
        fill(strings.settings.baseUrl, "ftp://example.org")
        ui.onNodeWithText(strings.settings.notHttp).assertExists()
        fill(strings.settings.baseUrl, "https://example.org/v1/")
        tap(strings.common.save)
        assertNull(state.settings.provider)
        assertEquals("https://example.org/v1", fake.providers.last().baseUrl)
    }

    @Test
    fun keysAreNotShown() = settings {
        tap("OpenAI")
        fill(strings.settings.key, "sk-secret")
        assertEquals("•".repeat("sk-secret".length), shown(strings.settings.key))
        press(strings.settings.showKey)
        assertEquals("sk-secret", shown(strings.settings.key))
        press(strings.settings.hideKey)
        tap(strings.common.save)
        assertEquals("sk-secret", fake.keys["provider-openai"])
        assertEquals(0, count("sk-secret"))
    }

    /** What is drawn, not what is known. */
    private fun Desk.shown(label: String): String {
        val layouts = mutableListOf<TextLayoutResult>()
        field(label).performSemanticsAction(SemanticsActions.GetTextLayoutResult) { it(layouts) }
        return layouts.first().layoutInput.text.text
    }

    @Test
    fun addsAModelWithItsWindow() = settings {
        scrollAndTap(strings.settings.addModel)
        fill(strings.settings.modelId, "gpt-6")
        fill(strings.settings.window, "many")
        tap(strings.common.save)
        ui.onNodeWithText(strings.settings.notANumber).assertExists()
        fill(strings.settings.window, "400,000")
        tap(strings.common.save)
        assertEquals(400_000, fake.models.single { it.id == "gpt-6" }.window)
        assertEquals(1, count("400K tokens"))
    }

    @Test
    fun takesAModelThatTheServiceOffers() = settings {
        fake.offered = listOf(ListedModel("o-9", "O 9", 64_000, null))
        scrollAndTap(strings.settings.listModels)
        tap("O 9")
        tap(strings.common.save)
        assertTrue(fake.models.any { it.id == "o-9" && it.providerId == "provider-openai" })
    }

    @Test
    fun findsAnOfferedModelAndTakesNoneThatIsSwitchedOff() = settings {
        val many = List(150) { ListedModel("m-$it", null, 64_000, null, callsTools = true) }
        fake.offered = many + ListedModel("old", null, null, null, ends = "2026-01-31", isSwitchedOff = true)
        scrollAndTap(strings.settings.listModels)
        assertEquals(1, count(strings.settings.moreModelsText.fill(51)))
        fill(strings.settings.filter, "OLD")
        ui.onNodeWithText("Switched off on 2026-01-31", substring = true).assertIsDisplayed().assertIsNotEnabled()
        fill(strings.settings.filter, "-149")
        tap("m-149")
        assertEquals("m-149", state.settings.model?.id)
    }

    @Test
    fun whatIsSwitchedOffCannotBecomeTheDefault() = settings {
        scrollAndTap("GPT-3.5 Turbo")
        ui.onNodeWithText(strings.settings.makeDefault).assertDoesNotExist()
    }

    @Test
    fun removesOnlyAfterAQuestion() = settings {
        scrollAndTap("Home server")
        scrollAndTap(strings.settings.removeProvider)
        ui.onNodeWithText(strings.settings.removeProviderHint).assertIsDisplayed()
        ui.onAllNodesWithText(strings.common.cancel).onLast().performClick()
        settle()
        assertTrue(fake.providers.any { it.id == "provider-home" })
        scrollAndTap(strings.settings.removeProvider)
        tap(strings.common.remove)
        assertTrue(fake.providers.none { it.id == "provider-home" })
        tap("OpenAI")
        scrollAndTap(strings.settings.removeKey)
        tap(strings.common.remove)
        assertEquals(emptyMap(), fake.keys)
        assertEquals(0, count(strings.settings.removeKey))
    }

    @Test
    fun aKeyFromElsewhereCannotBeRemovedHere() = desk(prepare = { foreignKeys += "provider-openai" }) {
        act(ChatAction.ShowScreen(Screen.SETTINGS))
        tap("OpenAI")
        assertEquals(0, count(strings.settings.removeKey))
        assertEquals(1, count(strings.settings.keyElsewhere))
    }

    @Test
    fun aServiceThatWasAddedMayDoWithoutAKey() = settings {
        assertEquals(2, count(strings.settings.keyless), "at home, and the demo")
        assertEquals(1, count(strings.settings.keyMissing))
    }

    @Test
    fun setsTheRules() = settings {
        scrollAndTap(strings.settings.presetSven)
        ui.onNodeWithText(strings.settings.presetSven).assertIsSelected()
        field(strings.settings.threshold).performScrollTo().performTextInput("140")
        settle()
        ui.onNodeWithText(strings.settings.tooBig).assertExists()
        assertEquals(emptyMap(), fake.policy.overrides)
        val slider = SemanticsMatcher.keyIsDefined(SemanticsProperties.ProgressBarRangeInfo) and
            hasContentDescription(strings.settings.threshold)
        ui.onNode(slider).performScrollTo().performSemanticsAction(SemanticsActions.SetProgress) { it(70f) }
        settle()
        scrollAndTap(strings.settings.prune)
        assertEquals(Preset.SVEN, fake.policy.preset)
        assertEquals("0.70", fake.policy.overrides["threshold"])
        assertEquals(false, fake.policy.prune)
        scrollAndTap(strings.settings.presetNous)
        assertEquals(0, count(strings.settings.threshold))
    }

    @Test
    fun whatChangesAtTheSameTimeIsAllKept() = settings {
        scrollAndTap(strings.settings.addProvider)
        val fields = listOf(strings.settings.name to "Mine", strings.settings.baseUrl to "https://example.org/v1")
            .map { (label, text) -> field(label).fetchSemanticsNode().config[SemanticsActions.SetText].action to text }
        ui.runOnUiThread { fields.forEach { (set, text) -> set?.invoke(AnnotatedString(text)) } }
        settle()
        assertEquals("Mine" to "https://example.org/v1", state.settings.provider?.let { it.name to it.baseUrl })
    }

    @Test
    fun aServiceThatCannotBeSavedSaysSoInItsDialog() = settings(autoAdvance = false) {
        act(ChatAction.EditProvider(fake.providers.first()))
        later(500)
        fake.fail("saveProvider", CoreException.Storage("disk full"))
        tap(strings.common.save)
        later(500)
        ui.onNode(hasText(strings.problems.storage) and hasAnyAncestor(isDialog())).assertIsDisplayed()
        assertEquals(1, count(strings.problems.storage))
        act(ChatAction.CloseProvider)
        later(500)
        ui.onNodeWithText(strings.problems.storage).assertIsDisplayed()
    }

    @Test
    fun changesTheTheme() = settings {
        scrollAndTap(strings.settings.themeDark)
        assertEquals(Theme.DARK, state.settings.theme)
        assertEquals("DARK", fake.settings.values.single())
    }

    @Test
    fun backLeadsToWhereOneWas() = desk {
        press(strings.sessions.title)
        press(strings.settings.title)
        ui.onNode(hasText(strings.settings.title)).assertIsDisplayed()
        press(strings.common.back)
        ui.onNodeWithText(strings.sessions.title).assertIsDisplayed()
    }
}
