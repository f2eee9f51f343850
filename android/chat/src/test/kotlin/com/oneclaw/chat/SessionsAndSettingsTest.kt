package com.oneclaw.chat

import com.oneclaw.bridge.Problem
import com.oneclaw.core.CoreException
import com.oneclaw.core.ListedModel
import com.oneclaw.core.Preset
import com.oneclaw.core.Shelf
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertIs
import kotlin.test.assertNotNull
import kotlin.test.assertNull
import kotlin.test.assertTrue

/** The list of conversations, the models and the settings, from the action to what is stored, against the fake. */
class SessionsAndSettingsTest {
    private fun stageWithSessions(test: Stage.() -> Unit) =
        stage({ SampleData.sessions.forEach { file.add(it, SampleData.conversation) } }, test)

    private val Stage.listed get() = state.sessions.sessions.map { it.id }

    @Test
    fun theListIsReadAtTheStart() = stageWithSessions {
        assertEquals(SampleData.sessions.map { it.id }, listed)
    }

    @Test
    fun typingASearchAsksOnce() = stageWithSessions {
        fake.calls.clear()
        act(ChatAction.Search("k"), ChatAction.Search("ky"), ChatAction.Search("kyo"))
        assertEquals(listOf("sessions kyo"), fake.calls)
        assertEquals(listOf("s-1"), listed)
        act(ChatAction.Search(""))
        assertEquals(6, listed.size)
    }

    @Test
    fun aLongListComesInPages() = stage({ repeat(70) { file.create(null, null) } }) {
        assertEquals(30, listed.size)
        act(ChatAction.LoadMoreSessions)
        act(ChatAction.LoadMoreSessions)
        assertEquals(70, listed.size)
        assertFalse(state.sessions.hasMore)
        act(ChatAction.LoadMoreSessions)
        assertEquals(70, listed.distinct().size)
    }

    @Test
    fun renaming() = stageWithSessions {
        act(
            ChatAction.OpenSession("s-1"),
            ChatAction.StartRename(SampleData.session),
            ChatAction.RenameTo(" Kyoto "),
            ChatAction.SaveRename,
        )
        assertEquals("Kyoto", fake.file.session("s-1").title)
        assertEquals("Kyoto", state.sessions.sessions.first().title)
        assertEquals("Kyoto", chat.session?.title)
    }

    @Test
    fun deletingCanBeUndone() = stageWithSessions {
        act(ChatAction.DeleteSession(SampleData.session))
        assertFalse("s-1" in listed)
        val notice = assertIs<Notice.SessionDeleted>(state.notice)
        act(ChatAction.RestoreSession(notice.sessionId), ChatAction.NoticeShown(notice.id))
        assertEquals("s-1", listed.first())
        assertNull(state.notice)
    }

    @Test
    fun deletingStopsWhatIsGoingOn() = stageWithSessions {
        act(ChatAction.OpenSession("s-1"))
        send("Hi")
        turn().text("Half")
        act(ChatAction.DeleteSession(SampleData.session))
        assertTrue(turn().isOver)
        assertEquals(NEW_CHAT, state.openId)
        assertTrue(chat.isEmpty)
    }

    /** The core stops what is at work; what is in line would be answered next. */
    @Test
    fun deletingEndsWhatIsInLineToo() = stageWithSessions {
        act(ChatAction.OpenSession("s-1"))
        send("One")
        turn().startCompaction()
        settle()
        send("Two")
        act(ChatAction.EditDraft("Three"), ChatAction.DeleteSession(SampleData.session))
        assertEquals(listOf(true, true), fake.turns.map { it.isOver })
        assertEquals(emptySet(), state.busySessions)
        assertIs<Notice.SessionDeleted>(state.notices.single())
        act(ChatAction.RestoreSession("s-1"), ChatAction.OpenSession("s-1"))
        assertEquals(emptyList(), chat.turns)
        assertEquals(listOf("One", "Two"), chat.items.filterIsInstance<ChatItem.User>().map { it.text }.takeLast(2))
        assertEquals("Three", chat.draft.text)
    }

    @Test
    fun aConversationThatCannotBeDeletedIsShownAsItIsStored() = stageWithSessions {
        act(ChatAction.OpenSession("s-1"))
        send("One")
        fake.fail("deleteSession", CoreException.Storage("disk full"))
        act(ChatAction.DeleteSession(SampleData.session))
        assertTrue(turn().isOver && chat.isQuiet)
        assertEquals("One", assertIs<ChatItem.User>(chat.items.last()).text)
        assertIs<Notice.Failed>(state.notices.single())
    }

    @Test
    fun purgingWhileATitleIsAwaitedIsNoProblem() = stageWithSessions {
        act(ChatAction.OpenSession("s-1"))
        send("One")
        fake.file.change("s-1") { it.copy(title = DEFAULT_TITLE) }
        turn().text("First.").complete()
        later(700)
        holder.onAction(ChatAction.StartPurge(SampleData.session))
        holder.onAction(ChatAction.ConfirmPurge)
        settle()
        assertEquals(emptyList(), state.notices)
    }

    @Test
    fun aFailedTurnAwaitsNoTitle() = stageWithSessions {
        act(ChatAction.OpenSession("s-1"))
        fake.file.change("s-1") { it.copy(title = DEFAULT_TITLE) }
        send("One")
        fake.calls.clear()
        turn().error("No connection").finish()
        settle()
        assertEquals(1, fake.calls.count { it == "session s-1" })
    }

    @Test
    fun theTrash() = stageWithSessions {
        act(ChatAction.DeleteSession(SampleData.sessions[0]), ChatAction.DeleteSession(SampleData.sessions[1]))
        act(ChatAction.ShowShelf(Shelf.DELETED))
        assertEquals(listOf("s-1", "s-2"), listed)
        act(ChatAction.RestoreSession("s-1"))
        assertEquals(listOf("s-2"), listed)
        act(ChatAction.StartPurge(SampleData.sessions[1]), ChatAction.CancelPurge)
        assertEquals(listOf("s-2"), listed)
        act(ChatAction.StartPurge(SampleData.sessions[1]), ChatAction.ConfirmPurge)
        assertEquals(emptyList(), listed)
        assertEquals(5, fake.file.sessions.size)
    }

    @Test
    fun aListThatCannotBeReadSaysSo() = stageWithSessions {
        fake.fail("sessions", CoreException.Storage("disk full"))
        act(ChatAction.Search("kyo"))
        assertEquals(Problem.Storage("disk full"), assertIs<Notice.Failed>(state.notice).problem)
        assertFalse(state.sessions.isLoading)
    }

    @Test
    fun anotherModelIsStored() = stageWithSessions {
        act(ChatAction.OpenSession("s-1"), ChatAction.OpenPicker, ChatAction.PickModel(SampleData.bigModel))
        assertEquals(SampleData.bigModel.ref, fake.file.session("s-1").model)
    }

    @Test
    fun aModelThatCannotBeStoredIsNotTaken() = stageWithSessions {
        act(ChatAction.OpenSession("s-1"))
        fake.fail("setSessionModel", CoreException.Busy("answering"))
        act(ChatAction.PickModel(SampleData.bigModel))
        assertEquals(SampleData.session.model, chat.model)
        assertIs<Notice.Failed>(state.notice)
    }

    @Test
    fun theModelOfANewConversationGoesWithIt() = stage {
        assertEquals(SampleData.models.first().ref, chat.model)
        act(ChatAction.PickModel(SampleData.smallModel))
        send("Hi")
        assertEquals(SampleData.smallModel.ref, fake.file.sessions.single().model)
    }

    @Test
    fun aServiceAndItsKey() = stage {
        act(ChatAction.AddProvider)
        act(
            ChatAction.ChangeProvider(ProviderForm(name = "Box", baseUrl = "http://box/v1", key = " sk-1 ")),
            ChatAction.SaveProvider,
        )
        assertNull(state.settings.provider)
        assertEquals("sk-1", fake.keys["new-id"])
        assertTrue("new-id" in state.catalogue.keys)
        act(ChatAction.EditProvider(assertNotNull(state.catalogue.provider("new-id"))))
        assertEquals(true, state.settings.provider?.hasKey)
        assertEquals("", state.settings.provider?.key)
        act(ChatAction.StartRemoval(Removal.OfKey("new-id", "Box")), ChatAction.CancelRemoval)
        assertTrue("new-id" in state.catalogue.keys)
        act(ChatAction.StartRemoval(Removal.OfKey("new-id", "Box")), ChatAction.ConfirmRemoval)
        assertFalse("new-id" in state.catalogue.keys)
        assertEquals(false, state.settings.provider?.hasKey)
        act(ChatAction.StartRemoval(Removal.OfProvider("new-id", "Box")), ChatAction.Back, ChatAction.ConfirmRemoval)
        assertNotNull(state.catalogue.provider("new-id"), "Back means no")
        act(ChatAction.StartRemoval(Removal.OfProvider("new-id", "Box")), ChatAction.ConfirmRemoval)
        assertNull(state.catalogue.provider("new-id"))
        assertNull(state.settings.provider)
    }

    @Test
    fun aKeyOfTheEnvironmentIsNotRemovedHere() = stage({
        keys["provider-openai"] = "sk-env"
        foreignKeys += "provider-openai"
    }) {
        act(ChatAction.EditProvider(SampleData.providers.first()))
        assertEquals(true to true, state.settings.provider?.run { hasKey to isKeyForeign })
        fake.foreignKeys.clear()
        act(ChatAction.ShowScreen(Screen.SETTINGS))
        assertEquals(true to false, state.settings.provider?.run { hasKey to isKeyForeign }, "as the catalogue says")
    }

    @Test
    fun aRefusedServiceStaysInItsForm() = stage {
        fake.fail("saveProvider", CoreException.Invalid("base_url", "has no host"))
        act(ChatAction.AddProvider)
        act(ChatAction.ChangeProvider(ProviderForm(name = "Box", baseUrl = "http://box/v1")), ChatAction.SaveProvider)
        assertEquals(false, state.settings.provider?.isSaving)
        assertEquals(Problem.Invalid("base_url", "has no host"), assertIs<Notice.Failed>(state.notice).problem)
    }

    @Test
    fun modelsOfAService() = stage {
        fake.offered = listOf(ListedModel("phi-4", "Phi 4", 16_384, null))
        act(ChatAction.OpenOffer("provider-home"))
        act(ChatAction.TakeOffer(assertNotNull(state.settings.offer?.models).single()), ChatAction.SaveModel)
        val model = assertNotNull(state.catalogue.models.find { it.id == "phi-4" })
        assertEquals(16_384, model.window)
        act(ChatAction.SetDefaultModel(model.ref))
        assertEquals(model.id, state.catalogue.defaultModel?.id)
        act(ChatAction.StartRemoval(Removal.OfModel(model.ref, "Phi 4")), ChatAction.ConfirmRemoval)
        assertNull(state.catalogue.model(model.ref))
        fake.fail("listModels", CoreException.Auth("no key"))
        act(ChatAction.OpenOffer("provider-openai"))
        assertEquals(Problem.Auth("no key"), state.settings.offer?.problem)
    }

    @Test
    fun rulesAndTheme() = stage {
        val form = state.settings.policy.copy(preset = Preset.SVEN)
        act(ChatAction.EditPolicy(form.copy(threshold = "7")), ChatAction.SetTheme(Theme.DARK))
        assertEquals(emptyMap(), fake.policy.overrides, "what is not valid is not stored")
        fake.calls.clear()
        act(ChatAction.EditPolicy(form.copy(threshold = "7")), ChatAction.EditPolicy(form.copy(threshold = "70")))
        assertEquals(listOf("savePolicy SVEN"), fake.calls)
        assertEquals(mapOf("threshold" to "0.70"), fake.policy.overrides)
        act(ChatAction.ShowScreen(Screen.SETTINGS))
        assertEquals(Theme.DARK, state.settings.theme)
        assertEquals("70", state.settings.policy.threshold)
    }

    @Test
    fun aServiceTakesItsKeyAndItsModelsWithIt() = stage({ keys["provider-openai"] = "sk-test" }) {
        val model = SampleData.models.first { it.providerId == "provider-openai" }
        act(ChatAction.PickModel(model))
        assertEquals(model.ref, chat.model)
        act(ChatAction.StartRemoval(Removal.OfProvider("provider-openai", "OpenAI")), ChatAction.ConfirmRemoval)
        assertEquals(emptyMap(), fake.keys)
        assertTrue(chat.model != model.ref)
    }

    @Test
    fun halfAThresholdDoesNotHoldUpTheRest() = stage {
        act(ChatAction.EditPolicy(PolicyForm(threshold = "70")))
        act(ChatAction.EditPolicy(PolicyForm(threshold = "7000", auto = false)))
        assertEquals(PolicyForm(threshold = "70", auto = false), PolicyForm.of(fake.policy))
    }

    @Test
    fun aWindowIsStoredAndTheContextReadAgain() = stage({
        file.add(SampleData.session.copy(model = SampleData.unknownModel.ref), SampleData.conversation)
    }) {
        val model = SampleData.unknownModel.ref
        act(ChatAction.OpenSession("s-1"), ChatAction.OpenContext)
        assertNull(state.context?.status?.window)
        fake.fail("setWindow", CoreException.Storage("disk full"))
        act(ChatAction.EditWindow(model, "32000"), ChatAction.SaveWindow)
        assertEquals("32000", state.window?.text, "what was typed stays")
        assertIs<Notice.Failed>(state.notice)
        act(ChatAction.SaveWindow)
        assertTrue("setWindow mystery 32000" in fake.calls)
        assertNull(state.window)
        assertEquals(32_000, state.catalogue.model(model)?.window)
        assertEquals(32_000, state.context?.status?.window)
        act(ChatAction.StartWindow(model), ChatAction.EditWindow(model, ""), ChatAction.SaveWindow)
        assertEquals("setWindow mystery null", fake.calls.last { it.startsWith("setWindow") }, "empty forgets it")
    }
}
