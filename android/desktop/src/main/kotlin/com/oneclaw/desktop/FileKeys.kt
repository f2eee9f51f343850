package com.oneclaw.desktop

import com.oneclaw.bridge.KeyStore
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardCopyOption.REPLACE_EXISTING
import java.nio.file.attribute.PosixFilePermissions
import java.util.Properties
import kotlin.io.path.exists
import kotlin.io.path.reader

/** The variables in which other programs look for keys, by service. */
private val VARIABLES = mapOf(
    "provider-openai" to listOf("OPENAI_API_KEY"),
    "provider-anthropic" to listOf("ANTHROPIC_API_KEY"),
    "provider-gemini" to listOf("GEMINI_API_KEY", "GOOGLE_API_KEY"),
)

/**
 * Keeps keys in a file in plain text, which only its owner may read (mode 600). A service without one gets the key of its
 * usual environment variable.
 */
class FileKeys(private val file: Path, private val environment: Map<String, String> = System.getenv()) : KeyStore {
    @Synchronized
    override fun key(providerId: String): String? = read().getProperty(providerId) ?: fromEnvironment(providerId)

    @Synchronized
    override fun setKey(providerId: String, key: String) = write(read().also { it.setProperty(providerId, key) })

    @Synchronized
    override fun removeKey(providerId: String) = write(read().also { it.remove(providerId) })

    @Synchronized
    override fun canRemove(providerId: String) = read().containsKey(providerId)

    private fun fromEnvironment(providerId: String) =
        VARIABLES[providerId].orEmpty().firstNotNullOfOrNull { environment[it]?.takeIf(String::isNotBlank) }

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
