package com.oneclaw.core

import kotlinx.coroutines.runBlocking
import kotlin.test.Test
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith

/**
 * A panic of the core becomes an exception, and the core goes on.
 *
 * The panic is a real one: the generated Rust code panics where an argument cannot be read. No public function makes such an
 * argument, so this test stands beside the generated code and writes one by hand.
 */
class PanicTest {
    @Test
    fun aPanicBecomesAnExceptionAndTheCoreGoesOn() {
        startRust()
        repeat(3) {
            val panic = assertFailsWith<InternalException> {
                call { status ->
                    UniffiLib.uniffi_oneclaw_ffi_fn_func_estimate_text(FfiConverterString.lower("abcd"), noOption(), status)
                }
            }
            assertContains(panic.message.orEmpty(), "model_id")
            assertEquals(1, estimateSimple("abcd"))
        }
    }

    /** As the generated code calls a suspend function whose answer is there at once. */
    private fun call(function: (UniffiRustCallStatus) -> RustBuffer.ByValue) = runBlocking {
        uniffiRustCallAsync(
            rustFuture = 0,
            pollFunc = { _, wake, waiting -> wake.callback(waiting, UNIFFI_RUST_FUTURE_POLL_READY) },
            completeFunc = { _, status -> function(status) },
            freeFunc = {},
            liftFunc = { it },
            UniffiNullRustCallStatusErrorHandler,
        )
    }

    /** An optional text that begins with neither 0 (none) nor 1 (some). */
    private fun noOption(): RustBuffer.ByValue {
        val buffer = RustBuffer.alloc(1UL)
        buffer.asByteBuffer()!!.put(7)
        return buffer.also { it.len = 1 }
    }
}
