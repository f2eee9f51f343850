package com.oneclaw.chat

import com.oneclaw.bridge.fake.FakeChatRepository
import com.oneclaw.bridge.fake.FakeTurn
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.advanceUntilIdle
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest

/** A state holder over a fake core, in virtual time. */
class Stage(val fake: FakeChatRepository, private val scope: TestScope) {
    // Not a child of the test: turns may still wait when it ends. Not its background scope either: that is not waited for.
    private val app = CoroutineScope(StandardTestDispatcher(scope.testScheduler) + SupervisorJob())
    val holder = ChatStateHolder(fake, app, newId = { "new-id" })
    val state: AppUiState get() = holder.state.value
    val chat: ChatUiState get() = state.chat

    /** Does all of it at once, then waits until nothing moves any more. */
    fun act(vararg actions: ChatAction) {
        actions.forEach(holder::onAction)
        settle()
    }

    fun send(text: String) = act(ChatAction.EditDraft(text), ChatAction.Send)

    fun turn(): FakeTurn = fake.turns.last()

    fun settle() = scope.advanceUntilIdle()

    fun later(ms: Long) {
        scope.advanceTimeBy(ms)
        scope.runCurrent()
    }

    fun leave() = app.cancel()
}

fun stage(prepare: FakeChatRepository.() -> Unit = {}, test: Stage.() -> Unit) = runTest {
    val fake = FakeChatRepository()
    fake.providers = SampleData.providers
    fake.models = SampleData.models
    fake.prepare()
    val stage = Stage(fake, this)
    try {
        stage.settle()
        stage.test()
    } finally {
        stage.leave()
    }
}
