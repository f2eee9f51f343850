package com.oneclaw.bridge

/**
 * Where the app keeps the keys of the services. They never enter the database, a log or an error.
 *
 * Called from any thread, and may block for a moment.
 */
interface KeyStore {
    /** The key of a service; null: none was given, or it is lost. */
    fun key(providerId: String): String?

    fun setKey(providerId: String, key: String)

    fun removeKey(providerId: String)

    /** Whether [removeKey] takes the key away; not where it comes from elsewhere, as from the environment. */
    fun canRemove(providerId: String): Boolean = true
}
