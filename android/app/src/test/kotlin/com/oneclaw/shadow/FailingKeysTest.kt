package com.oneclaw.shadow

import android.app.Application
import android.security.keystore.KeyPermanentlyInvalidatedException
import com.oneclaw.shadow.keys.SealedKeys
import com.oneclaw.shadow.keys.Secret
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config
import java.security.ProviderException
import java.security.UnrecoverableKeyException
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import kotlin.test.assertEquals
import kotlin.test.assertFails
import kotlin.test.assertFalse
import kotlin.test.assertNull
import kotlin.test.assertTrue

private const val ORIGIN = "https://a.example"

/** A key store that fails for a moment, and one whose secret is of no use any more. */
@RunWith(RobolectricTestRunner::class)
@Config(application = Application::class)
class FailingKeysTest {
    @get:Rule
    val folder = TemporaryFolder()

    private val file by lazy { folder.root.resolve("keys.properties") }
    private val secret = FailingSecret()
    private val keys by lazy { SealedKeys(file, secret).apply { setKey("p", ORIGIN, "k") } }

    private class FailingSecret : Secret {
        var failure: Exception? = null
        var renewed = 0
        private var key: SecretKey? = null

        override fun find(): SecretKey? = failure?.let { throw it } ?: key

        override fun renew(): SecretKey {
            renewed++
            return KeyGenerator.getInstance("AES").apply { init(256) }.generateKey().also { key = it }
        }
    }

    @Test
    fun whatMerelyFailsIsKept() {
        for (failure in listOf(UnrecoverableKeyException("busy"), ProviderException("busy"))) {
            keys.key("p", ORIGIN)
            secret.failure = failure
            assertNull(keys.key("p", ORIGIN))
            secret.failure = null
            assertEquals("k", keys.key("p", ORIGIN))
        }
        assertEquals(1, secret.renewed)
    }

    @Test
    fun aSecretThatAndroidDeclaresInvalidIsLost() {
        keys.key("p", ORIGIN)
        secret.failure = KeyPermanentlyInvalidatedException()
        assertNull(keys.key("p", ORIGIN))
        assertFalse("p=" in file.readText())
        keys.setKey("p", ORIGIN, "again")
        secret.failure = null
        assertEquals("again", keys.key("p", ORIGIN))
        assertEquals(2, secret.renewed)
    }

    @Test
    fun aFailureDoesNotCostTheOtherKeys() {
        keys.key("p", ORIGIN)
        secret.failure = UnrecoverableKeyException("busy")
        assertFails { keys.setKey("q", ORIGIN, "new") }
        secret.failure = null
        keys.setKey("q", ORIGIN, "new")
        assertEquals("k" to "new", keys.key("p", ORIGIN) to keys.key("q", ORIGIN))
        assertEquals(1, secret.renewed)
    }

    @Test
    fun aSecretThatFailsTwiceIsMadeAnew() {
        keys.key("p", ORIGIN)
        secret.failure = UnrecoverableKeyException("broken")
        assertFails { keys.setKey("q", ORIGIN, "new") }
        keys.setKey("q", ORIGIN, "new")
        secret.failure = null
        assertEquals("new", keys.key("q", ORIGIN))
        assertNull(keys.key("p", ORIGIN), "sealed with the old one")
        assertTrue("p=" !in file.readText())
    }
}
