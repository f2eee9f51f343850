package com.oneclaw.chat.ui.common

/** More are never on their way: what the state skipped is not waited for for ever. */
private const val MOST_PENDING = 64

/**
 * What was told to the state and has not come back yet. The screen hears of every change a little later than it was made, and
 * not of every step: what comes back is an echo of one of these, or was changed elsewhere.
 */
internal class Echoes<T> {
    private val pending = ArrayDeque<T>()

    fun sent(value: T) {
        pending.addLast(value)
        if (pending.size > MOST_PENDING) pending.removeFirst()
    }

    /** Whether [value] is an echo. What was told before it does not come any more. */
    fun take(value: T): Boolean {
        val at = pending.indexOf(value)
        repeat(at + 1) { pending.removeFirst() }
        return at >= 0
    }

    fun forget() = pending.clear()
}
