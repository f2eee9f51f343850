package com.oneclaw.core

import com.sun.jna.Callback
import com.sun.jna.CallbackThreadInitializer
import com.sun.jna.Native

/** Loads the library and checks that it is the one these bindings were made for. Once per process, before any other call. */
public fun startRust() {
    keepRustThreadsAttached()
    uniffiEnsureInitialized()
}

/**
 * Keeps a thread of the core attached to the JVM, as a daemon, after its first call into Kotlin.
 *
 * Without it JNA attaches and detaches the thread around each callback, and each wake-up of a suspended call is one. Lives
 * beside the generated code because the callbacks are internal to it.
 */
private fun keepRustThreadsAttached() {
    val once = CallbackThreadInitializer(true, false, "oneclaw")
    val callbacks: List<Callback> = listOf(
        uniffiRustFutureContinuationCallbackImpl,
        uniffiForeignFutureDroppedCallbackImpl,
        uniffiCallbackInterfaceChatListener.onEvent,
        uniffiCallbackInterfaceChatListener.uniffiFree,
        uniffiCallbackInterfaceChatListener.uniffiClone,
        uniffiCallbackInterfaceKeyVault.key,
        uniffiCallbackInterfaceKeyVault.uniffiFree,
        uniffiCallbackInterfaceKeyVault.uniffiClone,
        uniffiCallbackInterfaceToolHost.tools,
        uniffiCallbackInterfaceToolHost.run,
        uniffiCallbackInterfaceToolHost.uniffiFree,
        uniffiCallbackInterfaceToolHost.uniffiClone,
    )
    callbacks.forEach { Native.setCallbackThreadInitializer(it, once) }
}
