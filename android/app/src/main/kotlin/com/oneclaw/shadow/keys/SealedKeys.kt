package com.oneclaw.shadow.keys

import android.security.keystore.KeyPermanentlyInvalidatedException
import com.oneclaw.bridge.KeyEntry
import com.oneclaw.bridge.KeyStore
import java.io.File
import java.io.FileOutputStream
import java.io.IOException
import java.security.GeneralSecurityException
import java.security.ProviderException
import java.security.UnrecoverableKeyException
import java.util.Base64
import java.util.Properties
import javax.crypto.AEADBadTagException
import javax.crypto.Cipher
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec

private const val TRANSFORMATION = "AES/GCM/NoPadding"
private const val NONCE_BYTES = 12
private const val TAG_BITS = 128

/** The key that the keys are encrypted with. */
interface Secret {
    /** Null: there is none, or no longer. */
    fun find(): SecretKey?

    /** A new one, in the place of any other. */
    fun renew(): SecretKey
}

/**
 * Keeps the keys of the services in [file], each encrypted with AES-GCM and bound to the name of its service and the origin it was
 * given for.
 *
 * The secret can get lost: a restored phone, a reset of the screen lock on some devices. A key that cannot be read counts as
 * not given, so the user is asked for it. It is removed only if it can never be read again: made with another secret, or with
 * one that Android has declared invalid. Where the key store merely fails, or finds nothing, which an old one also says when
 * it fails, the key is kept. The original app kept its keys elsewhere, under a secret of its own; they are asked for again.
 */
internal class SealedKeys(private val file: File, private val secret: Secret) : KeyStore {
    /** The last attempt to seal a key failed. */
    private var hasFailed = false

    @Synchronized
    override fun key(providerId: String, origin: String): String? {
        val entry = KeyEntry.read(read().getProperty(providerId) ?: return null)
        if (!entry.isFor(providerId, origin)) return null
        return try {
            open(boundTo(providerId, entry.origin), entry.key)
        } catch (_: AEADBadTagException) {
            lost(providerId)
        } catch (_: KeyPermanentlyInvalidatedException) {
            lost(providerId)
        } catch (_: GeneralSecurityException) {
            null
        } catch (_: ProviderException) {
            null
        }
    }

    @Synchronized
    override fun setKey(providerId: String, origin: String, key: String) {
        val bound = boundTo(providerId, origin)
        val sealed = try {
            seal(secret.find() ?: firstSecret(), bound, key)
        } catch (_: KeyPermanentlyInvalidatedException) {
            seal(secret.renew(), bound, key)
        } catch (error: GeneralSecurityException) {
            sealAfter(error, bound, key)
        } catch (error: ProviderException) {
            sealAfter(error, bound, key)
        }
        hasFailed = false
        write(read().also { it.setProperty(providerId, KeyEntry(origin, sealed).write()) })
    }

    /** What a sealed key cannot be opened without. Earlier versions knew no origins. */
    private fun boundTo(providerId: String, origin: String?) = if (origin == null) providerId else "$origin $providerId"

    /** Where keys are stored, there was a secret: one that is not found may be there again in a moment. */
    private fun firstSecret(): SecretKey =
        if (read().isEmpty()) secret.renew() else throw UnrecoverableKeyException("the secret is not found")

    /**
     * A new secret makes all other keys unreadable, so the first failure is the caller's, who can try again. If it still fails
     * then, the secret is gone or of no use: without a new one no key could ever be given again.
     */
    private fun sealAfter(error: Exception, bound: String, key: String): String {
        if (!hasFailed) {
            hasFailed = true
            throw error
        }
        return seal(secret.renew(), bound, key)
    }

    @Synchronized
    override fun removeKey(providerId: String) {
        val keys = read()
        if (keys.remove(providerId) != null) write(keys)
    }

    private fun seal(with: SecretKey, bound: String, key: String): String {
        val cipher = Cipher.getInstance(TRANSFORMATION)
        // The nonce is the cipher's own: Android's key store accepts no other.
        cipher.init(Cipher.ENCRYPT_MODE, with)
        cipher.updateAAD(bound.encodeToByteArray())
        return Base64.getEncoder().encodeToString(cipher.iv + cipher.doFinal(key.encodeToByteArray()))
    }

    /** Null: there is nothing to open it with. */
    private fun open(bound: String, sealed: String): String? {
        val bytes = bytesOf(sealed)
        val with = secret.find() ?: return null
        val cipher = Cipher.getInstance(TRANSFORMATION)
        cipher.init(Cipher.DECRYPT_MODE, with, GCMParameterSpec(TAG_BITS, bytes, 0, NONCE_BYTES))
        cipher.updateAAD(bound.encodeToByteArray())
        return cipher.doFinal(bytes, NONCE_BYTES, bytes.size - NONCE_BYTES).decodeToString()
    }

    /** What is not even in our form was sealed by nobody. */
    private fun bytesOf(sealed: String): ByteArray {
        val bytes = try {
            Base64.getDecoder().decode(sealed)
        } catch (_: IllegalArgumentException) {
            throw AEADBadTagException("not base64")
        }
        if (bytes.size < NONCE_BYTES + TAG_BITS / Byte.SIZE_BITS) throw AEADBadTagException("too short")
        return bytes
    }

    private fun lost(providerId: String): String? {
        removeKey(providerId)
        return null
    }

    /** A file that is not in our form has no keys; it is put aside. */
    private fun read(): Properties {
        val keys = Properties()
        if (!file.exists()) return keys
        return try {
            keys.also { file.inputStream().use(it::load) }
        } catch (_: IllegalArgumentException) {
            file.renameTo(File("$file.damaged"))
            Properties()
        }
    }

    /** Into a new file, and then in one step to its place: a kill leaves the old keys or the new ones. */
    private fun write(keys: Properties) {
        val new = File("$file.new")
        FileOutputStream(new).use {
            keys.store(it, null)
            it.fd.sync()
        }
        if (!new.renameTo(file)) throw IOException("cannot write ${file.name}")
    }
}
