package com.oneclaw.shadow.keys

import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties
import java.security.KeyStore
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey

private const val PROVIDER = "AndroidKeyStore"
private const val KEY_BITS = 256

/**
 * A secret that Android's key store holds and never gives away; only this app, on this device, can use it. It is not bound
 * to the screen lock: an answer that goes on while the phone is locked needs the service's key.
 */
internal class KeystoreSecret(private val alias: String = "oneclaw.keys") : Secret {
    override fun find(): SecretKey? = KeyStore.getInstance(PROVIDER).run {
        load(null)
        getKey(alias, null) as SecretKey?
    }

    override fun renew(): SecretKey {
        val purposes = KeyProperties.PURPOSE_ENCRYPT or KeyProperties.PURPOSE_DECRYPT
        val spec = KeyGenParameterSpec.Builder(alias, purposes)
            .setBlockModes(KeyProperties.BLOCK_MODE_GCM)
            .setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE)
            .setKeySize(KEY_BITS)
            .build()
        return KeyGenerator.getInstance(KeyProperties.KEY_ALGORITHM_AES, PROVIDER).run {
            init(spec)
            generateKey()
        }
    }
}
