package com.oneclaw.desktop

import com.oneclaw.bridge.KeyEntry
import com.oneclaw.bridge.KeyStore
import com.oneclaw.bridge.VENDOR_ORIGINS
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardCopyOption.REPLACE_EXISTING
import java.nio.file.attribute.PosixFilePermissions
import java.util.Properties
import kotlin.io.path.exists
import kotlin.io.path.reader

/** The variables in which other programs look for keys, by the origin that the keys are for. */
private val VARIABLES = mapOf(
    VENDOR_ORIGINS["provider-openai"] to listOf("OPENAI_API_KEY"),
    VENDOR_ORIGINS["provider-anthropic"] to listOf("ANTHROPIC_API_KEY"),
    VENDOR_ORIGINS["provider-gemini"] to listOf("GEMINI_API_KEY", "GOOGLE_API_KEY"),
)

/**
 * Keeps keys in a file in plain text, which only its owner may read (mode 600), each with the origin it was given for. A vendor's
 * own service without one gets the key of its usual environment variable.
 */
class FileKeys(private val file: Path, private val environment: Map<String, String> = System.getenv()) : KeyStore {
    @Synchronized
    override fun key(providerId: String, origin: String): String? {
        val entry = read().getProperty(providerId)?.let(KeyEntry::read)
        return entry?.takeIf { it.isFor(providerId, origin) }?.key ?: fromEnvironment(origin)
    }

    @Synchronized
    override fun setKey(providerId: String, origin: String, key: String) =
        write(read().also { it.setProperty(providerId, KeyEntry(origin, key).write()) })

    @Synchronized
    override fun removeKey(providerId: String) = write(read().also { it.remove(providerId) })

    @Synchronized
    override fun canRemove(providerId: String) = read().containsKey(providerId)

    private fun fromEnvironment(origin: String) =
        VARIABLES[origin].orEmpty().firstNotNullOfOrNull { environment[it]?.takeIf(String::isNotBlank) }

    private fun read() = Properties().also { keys -> if (file.exists()) file.reader().use(keys::load) }

    /** Into a new file, which has its mode from the beginning, and then in one step to its place. */
    private fun write(keys: Properties) {
        val mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
        val new = Files.createTempFile(file.parent, "keys", ".new", mode)
        try {
            Files.newBufferedWriter(new).use { keys.store(it, "API keys of OneClaw, in plain text") }
            Files.move(new, file, ATOMIC_MOVE, REPLACE_EXISTING)
        } finally {
            Files.deleteIfExists(new)
        }
    }
}
