package com.oneclaw.shadow

import com.oneclaw.bridge.ChatRepository
import com.oneclaw.shadow.start.StartState

/** The real application, with one thing more: its parts can be made anew, as after the end of the process. */
class TestApp : OneClawApplication() {
    override var container: AppContainer = AppContainer(this)

    val ready: StartState.Ready? get() = container.start.state.value as? StartState.Ready

    /** Lets go of the file, as the end of a process does. Only a test that used the core has one to close. */
    fun endProcess(next: AppContainer = AppContainer(this)) {
        ready?.repository?.close()
        container = next
    }

    /** A process whose core is played by the test. */
    fun playedBy(core: ChatRepository) = endProcess(AppContainer(this, open = { _, _ -> core }))
}
