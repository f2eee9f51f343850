package com.oneclaw.bridge

import com.oneclaw.core.CoreException
import com.oneclaw.core.InternalException
import java.nio.charset.CharacterCodingException
import kotlin.coroutines.cancellation.CancellationException

/** Why a call to the core has no answer, as far as a person can do something about it. */
sealed interface Problem {
    /** What the core says about it; technical, in English, without keys and without conversation. */
    val detail: String

    /** The file cannot be opened, read or written. */
    data class Storage(override val detail: String) : Problem

    /** A value was refused. */
    data class Invalid(val field: String, override val detail: String) : Problem

    /** What was asked for is gone. */
    data class NotFound(override val detail: String) : Problem

    /** The service cannot be reached. */
    data class Network(override val detail: String) : Problem

    /** The service answered, but not with what was asked for. */
    data class Service(override val detail: String) : Problem

    /** The key is missing or not accepted. */
    data class Auth(override val detail: String) : Problem

    /** Something else has to end first. */
    data class Busy(override val detail: String) : Problem

    /** The core was closed. */
    data object Closed : Problem {
        override val detail = "closed"
    }

    /** A mistake in the program. */
    data class Internal(override val detail: String) : Problem
}

/** The one place where exceptions of the bindings become something to show. A cancellation is none: it is thrown on. */
fun problemOf(error: Throwable): Problem = when (error) {
    is CancellationException -> throw error
    is CoreException.Storage -> Problem.Storage(error.detail)
    is CoreException.Invalid -> Problem.Invalid(error.field, error.detail)
    is CoreException.NotFound -> Problem.NotFound(error.what)
    is CoreException.Network -> Problem.Network(error.detail)
    is CoreException.Service -> Problem.Service(error.detail)
    is CoreException.Auth -> Problem.Auth(error.detail)
    is CoreException.Busy -> Problem.Busy(error.detail)
    is CoreException.Closed -> Problem.Closed
    is CoreException.Internal -> Problem.Internal(error.detail)
    // The border to the core takes UTF-8: a text with half of a surrogate pair is none.
    is CharacterCodingException -> Problem.Invalid("text", "contains half a character")
    // A panic: its text may hold anything, so only its kind is shown.
    is InternalException -> Problem.Internal("the core failed")
    else -> Problem.Internal(error::class.java.simpleName)
}
