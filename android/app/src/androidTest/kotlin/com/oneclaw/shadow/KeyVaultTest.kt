package com.oneclaw.shadow

import androidx.test.ext.junit.runners.AndroidJUnit4
import com.oneclaw.shadow.keys.KeystoreSecret
import com.oneclaw.shadow.keys.SealedKeys
import org.junit.After
import org.junit.Before
import org.junit.Test
import org.junit.runner.RunWith
import java.io.File
import java.security.KeyStore
import kotlin.test.assertEquals
import kotlin.test.assertFails
import kotlin.test.assertFalse
import kotlin.test.assertNull

private const val ALIAS = "oneclaw.test"
private const val ORIGIN = "https://a.example"

/** Keys under a secret of Android's own key store. */
@RunWith(AndroidJUnit4::class)
class KeyVaultTest {
    private val file = File(TestApplication.current.cacheDir, "keys-${System.nanoTime()}.properties")

    /** Each time as after a start: nothing but the file and the key store remembers. */
    private val keys get() = SealedKeys(file, KeystoreSecret(ALIAS))

    @Before
    @After
    fun forget() {
        file.delete()
        loseSecret()
    }

    @Test
    fun aKeyIsKeptAndCannotBeReadInTheFile() {
        assertNull(keys.key("provider-openai", ORIGIN))
        keys.setKey("provider-openai", ORIGIN, "sk-secret")
        keys.setKey("provider-gemini", ORIGIN, "other")
        assertEquals("sk-secret", keys.key("provider-openai", ORIGIN))
        assertFalse("sk-secret" in file.readText())

        keys.removeKey("provider-openai")
        assertNull(keys.key("provider-openai", ORIGIN))
        assertEquals("other", keys.key("provider-gemini", ORIGIN))
    }

    @Test
    fun aKeyWhoseSecretIsLostIsAskedForAgain() {
        keys.setKey("provider-openai", ORIGIN, "sk-secret")
        loseSecret()
        val keys = keys
        assertNull(keys.key("provider-openai", ORIGIN))

        assertFails { keys.setKey("provider-openai", ORIGIN, "sk-new") }
        keys.setKey("provider-openai", ORIGIN, "sk-new")
        assertEquals("sk-new", keys.key("provider-openai", ORIGIN))
    }

    @Test
    fun aKeyUnderAnotherSecretIsAskedForAgain() {
        keys.setKey("provider-openai", ORIGIN, "sk-secret")
        KeystoreSecret(ALIAS).renew()
        assertNull(keys.key("provider-openai", ORIGIN))
        assertFalse("provider-openai" in file.readText(), "what can never be read again is removed")
    }

    private fun loseSecret() = KeyStore.getInstance("AndroidKeyStore").run {
        load(null)
        deleteEntry(ALIAS)
    }
}
