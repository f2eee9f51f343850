package com.oneclaw.bridge

import com.oneclaw.core.CoreException
import com.oneclaw.core.InternalException
import kotlin.coroutines.cancellation.CancellationException
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith

class ProblemTest {
    @Test
    fun everyExceptionOfTheCoreHasAProblem() {
        val expected = mapOf(
            CoreException.Storage("disk full") to Problem.Storage("disk full"),
            CoreException.Invalid("title", "is blank") to Problem.Invalid("title", "is blank"),
            CoreException.NotFound("session 1") to Problem.NotFound("session 1"),
            CoreException.Network("refused") to Problem.Network("refused"),
            CoreException.Service("too many requests") to Problem.Service("too many requests"),
            CoreException.Auth("no key") to Problem.Auth("no key"),
            CoreException.Busy("compacting") to Problem.Busy("compacting"),
            CoreException.Closed() to Problem.Closed,
            CoreException.Internal("odd") to Problem.Internal("odd"),
        )
        assertEquals(expected.values.toList(), expected.keys.map(::problemOf))
    }

    @Test
    fun aPanicShowsNothingOfItsText() {
        assertEquals(Problem.Internal("the core failed"), problemOf(InternalException("key sk-123")))
    }

    @Test
    fun otherExceptionsAreNamed() {
        assertEquals(Problem.Internal("IllegalStateException"), problemOf(IllegalStateException("secret")))
    }

    @Test
    fun aCancellationIsThrownOn() {
        assertFailsWith<CancellationException> { problemOf(CancellationException("stopped")) }
    }
}
