package com.oneclaw.shadow

import com.oneclaw.shadow.keys.SealedKeys
import com.oneclaw.shadow.keys.Secret
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import java.security.ProviderException
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import kotlin.test.assertEquals
import kotlin.test.assertFails
import kotlin.test.assertFalse
import kotlin.test.assertNull
import kotlin.test.assertTrue

/** The vault with a secret of this machine; Android's own key store is on devices only (androidTest). */
class SealedKeysTest {
    @get:Rule
    val folder = TemporaryFolder()

    private val file by lazy { folder.root.resolve("keys.properties") }

    private class PlainSecret(var key: SecretKey? = null) : Secret {
        var isBroken = false

        override fun find(): SecretKey? = if (isBroken) throw ProviderException("busy") else key

        override fun renew(): SecretKey = KeyGenerator.getInstance("AES").apply { init(256) }.generateKey().also { key = it }
    }

    private val secret = PlainSecret()
    private val keys get() = SealedKeys(file, secret)

    @Test
    fun aKeyIsThereAgainAndCannotBeReadInTheFile() {
        assertNull(keys.key("p"))
        keys.setKey("p", "sk-very-secret")
        keys.setKey("q", "other")
        assertEquals("sk-very-secret", keys.key("p"))
        assertEquals("other", keys.key("q"))
        assertFalse("very-secret" in file.readText())
        keys.removeKey("p")
        assertNull(keys.key("p"))
        assertEquals("other", keys.key("q"))
    }

    @Test
    fun theSameKeyLooksDifferentEachTime() {
        keys.setKey("p", "k")
        val first = file.readText().lines().last { it.startsWith("p=") }
        keys.setKey("p", "k")
        assertTrue(first !in file.readText())
    }

    @Test
    fun aKeyOfAnotherServiceIsNotAccepted() {
        keys.setKey("p", "k")
        file.writeText(file.readText().replace("p=", "q="))
        assertNull(keys.key("q"))
    }

    @Test
    fun whatALostSecretSealedIsAskedForAgain() {
        keys.setKey("p", "k")
        secret.renew()
        assertNull(keys.key("p"))
        assertFalse("p=" in file.readText())
        keys.setKey("p", "again")
        assertEquals("again", keys.key("p"))
    }

    @Test
    fun aSecretThatIsGoneIsMadeAnewAtTheSecondTry() {
        val keys = keys.apply { setKey("p", "k") }
        secret.key = null
        assertNull(keys.key("p"))
        assertFails { keys.setKey("p", "again") }
        keys.setKey("p", "again")
        assertEquals("again", keys.key("p"))
    }

    /** As Android 8 to 11 answer when their key store does not respond. */
    @Test
    fun aSecretThatIsNotFoundForAMomentCostsNoKeys() {
        val keys = keys.apply { setKey("p", "k") }
        val there = secret.key
        secret.key = null
        assertFails { keys.setKey("q", "new") }
        secret.key = there
        keys.setKey("q", "new")
        assertEquals("k" to "new", keys.key("p") to keys.key("q"))
    }

    @Test
    fun aFileThatIsNotInOurFormIsPutAside() {
        val broken = "p=\\u12G4"
        file.writeText(broken)
        assertNull(keys.key("p"))
        keys.setKey("p", "k")
        assertEquals("k", keys.key("p"))
        assertEquals(broken, folder.root.resolve("keys.properties.damaged").readText())
    }

    @Test
    fun aStoreThatFailsForNowLosesNothing() {
        keys.setKey("p", "k")
        secret.isBroken = true
        assertNull(keys.key("p"))
        secret.isBroken = false
        assertEquals("k", keys.key("p"))
    }

    @Test
    fun aDamagedEntryIsNoKey() {
        keys.setKey("p", "k")
        for (damaged in listOf("p=", "p=AAAA", "p=???")) {
            file.writeText(damaged)
            assertNull(keys.key("p"))
        }
    }
}
