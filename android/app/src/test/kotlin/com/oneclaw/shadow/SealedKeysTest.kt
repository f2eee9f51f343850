package com.oneclaw.shadow

import com.oneclaw.shadow.keys.SealedKeys
import com.oneclaw.shadow.keys.Secret
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import java.security.ProviderException
import java.util.Base64
import javax.crypto.Cipher
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import kotlin.test.assertEquals
import kotlin.test.assertFails
import kotlin.test.assertFalse
import kotlin.test.assertNull
import kotlin.test.assertTrue

private const val ORIGIN = "https://a.example"

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
        assertNull(keys.key("p", ORIGIN))
        keys.setKey("p", ORIGIN, "sk-very-secret")
        keys.setKey("q", ORIGIN, "other")
        assertEquals("sk-very-secret", keys.key("p", ORIGIN))
        assertEquals("other", keys.key("q", ORIGIN))
        assertFalse("very-secret" in file.readText())
        keys.removeKey("p")
        assertNull(keys.key("p", ORIGIN))
        assertEquals("other", keys.key("q", ORIGIN))
    }

    @Test
    fun theSameKeyLooksDifferentEachTime() {
        keys.setKey("p", ORIGIN, "k")
        val first = file.readText().lines().last { it.startsWith("p=") }
        keys.setKey("p", ORIGIN, "k")
        assertTrue(first !in file.readText())
    }

    @Test
    fun aKeyOfAnotherServiceIsNotAccepted() {
        keys.setKey("p", ORIGIN, "k")
        file.writeText(file.readText().replace("p=", "q="))
        assertNull(keys.key("q", ORIGIN))
    }

    @Test
    fun aKeyIsForTheOriginItWasGivenFor() {
        keys.setKey("p", ORIGIN, "k")
        for (other in listOf("https://b.example", "http://a.example", "https://a.example:8443", "")) assertNull(keys.key("p", other))
        assertEquals("k", keys.key("p", ORIGIN), "asking for another one costs nothing")
        file.writeText(file.readText().replace("a.example", "b.example"))
        assertNull(keys.key("p", "https://b.example"), "what it is sealed for cannot be rewritten")
        keys.setKey("p", "https://b.example", "new")
        assertNull(keys.key("p", ORIGIN))
        assertEquals("new", keys.key("p", "https://b.example"))
    }

    /** Sealed with the name of the service alone. */
    @Test
    fun aKeyOfAnEarlierVersionIsForTheVendorOnly() {
        val key = secret.renew()
        val entries = listOf("provider-openai", "mine").map { id ->
            val cipher = Cipher.getInstance("AES/GCM/NoPadding").apply { init(Cipher.ENCRYPT_MODE, key) }
            cipher.updateAAD(id.encodeToByteArray())
            "$id=" + Base64.getEncoder().encodeToString(cipher.iv + cipher.doFinal("old".encodeToByteArray()))
        }
        file.writeText(entries.joinToString("\n"))
        assertEquals("old", keys.key("provider-openai", "https://api.openai.com"))
        assertNull(keys.key("provider-openai", ORIGIN))
        assertNull(keys.key("mine", ORIGIN))
        assertNull(keys.key("mine", "https://api.openai.com"))
    }

    @Test
    fun whatALostSecretSealedIsAskedForAgain() {
        keys.setKey("p", ORIGIN, "k")
        secret.renew()
        assertNull(keys.key("p", ORIGIN))
        assertFalse("p=" in file.readText())
        keys.setKey("p", ORIGIN, "again")
        assertEquals("again", keys.key("p", ORIGIN))
    }

    @Test
    fun aSecretThatIsGoneIsMadeAnewAtTheSecondTry() {
        val keys = keys.apply { setKey("p", ORIGIN, "k") }
        secret.key = null
        assertNull(keys.key("p", ORIGIN))
        assertFails { keys.setKey("p", ORIGIN, "again") }
        keys.setKey("p", ORIGIN, "again")
        assertEquals("again", keys.key("p", ORIGIN))
    }

    /** As Android 8 to 11 answer when their key store does not respond. */
    @Test
    fun aSecretThatIsNotFoundForAMomentCostsNoKeys() {
        val keys = keys.apply { setKey("p", ORIGIN, "k") }
        val there = secret.key
        secret.key = null
        assertFails { keys.setKey("q", ORIGIN, "new") }
        secret.key = there
        keys.setKey("q", ORIGIN, "new")
        assertEquals("k" to "new", keys.key("p", ORIGIN) to keys.key("q", ORIGIN))
    }

    @Test
    fun aFileThatIsNotInOurFormIsPutAside() {
        val broken = "p=\\u12G4"
        file.writeText(broken)
        assertNull(keys.key("p", ORIGIN))
        keys.setKey("p", ORIGIN, "k")
        assertEquals("k", keys.key("p", ORIGIN))
        assertEquals(broken, folder.root.resolve("keys.properties.damaged").readText())
    }

    @Test
    fun aStoreThatFailsForNowLosesNothing() {
        keys.setKey("p", ORIGIN, "k")
        secret.isBroken = true
        assertNull(keys.key("p", ORIGIN))
        secret.isBroken = false
        assertEquals("k", keys.key("p", ORIGIN))
    }

    @Test
    fun aDamagedEntryIsNoKey() {
        keys.setKey("p", ORIGIN, "k")
        for (damaged in listOf("p=", "p=AAAA", "p=???")) {
            file.writeText(damaged)
            assertNull(keys.key("p", ORIGIN))
        }
    }
}
