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
        assertNull(keys.key("provider-openai"))
        keys.setKey("provider-openai", "sk-secret")
        keys.setKey("provider-gemini", "other")
        assertEquals("sk-secret", keys.key("provider-openai"))
        assertFalse("sk-secret" in file.readText())

        keys.removeKey("provider-openai")
        assertNull(keys.key("provider-openai"))
        assertEquals("other", keys.key("provider-gemini"))
    }

    @Test
    fun aKeyWhoseSecretIsLostIsAskedForAgain() {
        keys.setKey("provider-openai", "sk-secret")
        loseSecret()
        val keys = keys
        assertNull(keys.key("provider-openai"))

        assertFails { keys.setKey("provider-openai", "sk-new") }
        keys.setKey("provider-openai", "sk-new")
        assertEquals("sk-new", keys.key("provider-openai"))
    }

    @Test
    fun aKeyUnderAnotherSecretIsAskedForAgain() {
        keys.setKey("provider-openai", "sk-secret")
        KeystoreSecret(ALIAS).renew()
        assertNull(keys.key("provider-openai"))
        assertFalse("provider-openai" in file.readText(), "what can never be read again is removed")
    }

    private fun loseSecret() = KeyStore.getInstance("AndroidKeyStore").run {
        load(null)
        deleteEntry(ALIAS)
    }
}
