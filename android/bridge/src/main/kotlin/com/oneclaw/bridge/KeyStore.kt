package com.oneclaw.bridge

/**
 * Where the app keeps the keys of the services. They never enter the database, a log or an error.
 *
 * A key belongs to the origin it was given for: scheme, host and port, as [com.oneclaw.core.originOf] writes them. Where a service
 * is, the database says, and a database may come from anywhere: at another origin the key is asked for again.
 *
 * Called from any thread, and may block for a moment.
 */
interface KeyStore {
    /** The key of a service that was given for [origin]; null: none was, or it is lost. */
    fun key(providerId: String, origin: String): String?

    /** Keeps a key for [origin], in the place of any other of that service. */
    fun setKey(providerId: String, origin: String, key: String)

    fun removeKey(providerId: String)

    /** Whether [removeKey] takes the key away; not where it comes from elsewhere, as from the environment. */
    fun canRemove(providerId: String): Boolean = true
}

/** Where the vendors themselves answer, by the names of their services in every database. */
val VENDOR_ORIGINS: Map<String, String> = mapOf(
    "provider-openai" to "https://api.openai.com",
    "provider-anthropic" to "https://api.anthropic.com",
    "provider-gemini" to "https://generativelanguage.googleapis.com",
)

/**
 * An entry of a file with keys: the origin that a key was given for, a space, and the key in the form of that file.
 *
 * @property origin null: an entry of an earlier version, which kept the key alone
 */
data class KeyEntry(val origin: String?, val key: String) {
    /** One of an earlier version counts as given for the vendor's own service, and for no other. */
    fun isFor(providerId: String, origin: String) = origin == (this.origin ?: VENDOR_ORIGINS[providerId])

    fun write() = if (origin == null) key else "$origin $key"

    /** Without the key. */
    override fun toString() = "KeyEntry(origin=$origin)"

    companion object {
        fun read(entry: String): KeyEntry {
            val first = entry.substringBefore(' ', missingDelimiterValue = "")
            return if ("://" in first) KeyEntry(first, entry.substringAfter(' ')) else KeyEntry(null, entry)
        }
    }
}
