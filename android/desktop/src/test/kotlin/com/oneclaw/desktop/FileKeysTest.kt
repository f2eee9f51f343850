package com.oneclaw.desktop

import org.junit.jupiter.api.io.TempDir
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermissions
import kotlin.io.path.getPosixFilePermissions
import kotlin.io.path.listDirectoryEntries
import kotlin.io.path.name
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertNull
import kotlin.test.assertTrue

class FileKeysTest {
    @TempDir
    lateinit var folder: Path

    private val file get() = folder.resolve("keys.properties")

    @Test
    fun aKeyIsKeptInAFileOfItsOwnersOnly() {
        FileKeys(file, emptyMap()).setKey("provider-openai", "sk-1=ü")
        assertEquals("sk-1=ü", FileKeys(file, emptyMap()).key("provider-openai"))
        assertEquals("rw-------", PosixFilePermissions.toString(file.getPosixFilePermissions()))
        FileKeys(file, emptyMap()).removeKey("provider-openai")
        assertNull(FileKeys(file, emptyMap()).key("provider-openai"))
        assertEquals(listOf("keys.properties"), folder.listDirectoryEntries().map { it.name })
    }

    @Test
    fun theEnvironmentHelpsOut() {
        val keys = FileKeys(file, mapOf("OPENAI_API_KEY" to "sk-env", "GEMINI_API_KEY" to " ", "GOOGLE_API_KEY" to "g-env"))
        assertEquals("sk-env", keys.key("provider-openai"))
        assertEquals("g-env", keys.key("provider-gemini"))
        assertNull(keys.key("provider-anthropic"))
        assertNull(keys.key("provider-demo"))
        assertFalse(keys.canRemove("provider-openai"))
        keys.setKey("provider-openai", "sk-file")
        assertEquals("sk-file", keys.key("provider-openai"))
        assertTrue(keys.canRemove("provider-openai"))
        keys.removeKey("provider-openai")
        assertEquals("sk-env", keys.key("provider-openai"))
    }
}
