package com.oneclaw.desktop

import org.junit.jupiter.api.io.TempDir
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermissions
import kotlin.io.path.getPosixFilePermissions
import kotlin.io.path.listDirectoryEntries
import kotlin.io.path.name
import kotlin.io.path.writeText
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertNull
import kotlin.test.assertTrue

private const val OPENAI = "https://api.openai.com"

class FileKeysTest {
    @TempDir
    lateinit var folder: Path

    private val file get() = folder.resolve("keys.properties")

    @Test
    fun aKeyIsKeptInAFileOfItsOwnersOnly() {
        FileKeys(file, emptyMap()).setKey("provider-openai", OPENAI, "sk-1=ü")
        assertEquals("sk-1=ü", FileKeys(file, emptyMap()).key("provider-openai", OPENAI))
        assertEquals("rw-------", PosixFilePermissions.toString(file.getPosixFilePermissions()))
        FileKeys(file, emptyMap()).removeKey("provider-openai")
        assertNull(FileKeys(file, emptyMap()).key("provider-openai", OPENAI))
        assertEquals(listOf("keys.properties"), folder.listDirectoryEntries().map { it.name })
    }

    @Test
    fun theEnvironmentHelpsOut() {
        val keys = FileKeys(file, mapOf("OPENAI_API_KEY" to "sk-env", "GEMINI_API_KEY" to " ", "GOOGLE_API_KEY" to "g-env"))
        assertEquals("sk-env", keys.key("provider-openai", OPENAI))
        assertEquals("g-env", keys.key("provider-gemini", "https://generativelanguage.googleapis.com"))
        assertNull(keys.key("provider-anthropic", "https://api.anthropic.com"))
        assertNull(keys.key("provider-demo", "http://127.0.0.1:8080"))
        assertFalse(keys.canRemove("provider-openai"))
        keys.setKey("provider-openai", OPENAI, "sk-file")
        assertEquals("sk-file", keys.key("provider-openai", OPENAI))
        assertTrue(keys.canRemove("provider-openai"))
        keys.removeKey("provider-openai")
        assertEquals("sk-env", keys.key("provider-openai", OPENAI))
    }

    @Test
    fun aKeyIsForTheOriginItIsMeantFor() {
        val keys = FileKeys(file, mapOf("OPENAI_API_KEY" to "sk-env"))
        for (other in listOf("http://127.0.0.1:11434", "http://api.openai.com", "https://api.openai.com:8443")) {
            assertNull(keys.key("provider-openai", other))
        }
        keys.setKey("provider-openai", "http://127.0.0.1:11434", "sk-home")
        assertEquals("sk-home", keys.key("provider-openai", "http://127.0.0.1:11434"))
        assertEquals("sk-env", keys.key("provider-openai", OPENAI))
        assertNull(keys.key("provider-openai", "http://127.0.0.1:11435"))
    }

    /** They were kept without an origin. */
    @Test
    fun aKeyOfAnEarlierVersionIsForTheVendorOnly() {
        file.writeText("provider-openai=sk-old\nmine=sk-mine\n")
        val keys = FileKeys(file, emptyMap())
        assertEquals("sk-old", keys.key("provider-openai", OPENAI))
        assertNull(keys.key("provider-openai", "https://a.example"))
        assertNull(keys.key("mine", "https://a.example"))
        assertNull(keys.key("mine", OPENAI))
    }
}
