package com.oneclaw.shadow

import android.content.Context
import com.oneclaw.bridge.ChatRepository
import com.oneclaw.bridge.KeyStore
import com.oneclaw.bridge.RustChatRepository
import com.oneclaw.core.OpenConfig
import com.oneclaw.shadow.background.Work
import com.oneclaw.shadow.keys.KeystoreSecret
import com.oneclaw.shadow.keys.SealedKeys
import com.oneclaw.shadow.keys.Secret
import com.oneclaw.shadow.share.ShareReader
import com.oneclaw.shadow.start.Start
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.withContext
import java.io.File

/** The name that the original app gave to its file; an update finds the conversations under it. */
const val DATABASE = "oneclaw.db"

/**
 * The parts of the app and how they hang together. One per process; a test makes its own with other parts.
 *
 * @param scope lives as long as the process, on the main thread: an answer goes on when the activity is gone
 * @param io for files, keys and other apps' content
 * @param secret what keys are encrypted with
 * @param open opens the core
 */
class AppContainer(
    private val context: Context,
    val scope: CoroutineScope = CoroutineScope(SupervisorJob() + Dispatchers.Main.immediate),
    val io: CoroutineDispatcher = Dispatchers.IO,
    secret: Secret = KeystoreSecret(),
    private val open: suspend (OpenConfig, KeyStore) -> ChatRepository = ::openRust,
) {
    /** Encrypted, and in the one folder that no backup takes along: the secret stays on the device. */
    val keys: KeyStore by lazy { SealedKeys(File(context.noBackupFilesDir, "keys.properties"), secret) }

    val start = Start(scope, ::openCore)

    val work = Work(start.state)

    val shareReader by lazy { ShareReader(context.contentResolver, context.packageName, io) }

    /** The file with the conversations. Asking for it makes its folder, so not on the main thread. */
    fun database(): File = context.getDatabasePath(DATABASE)

    private suspend fun openCore(): ChatRepository = withContext(io) {
        open(OpenConfig(database().path, File(context.filesDir, "files").path, demo = true), keys)
    }
}

private suspend fun openRust(config: OpenConfig, keys: KeyStore): ChatRepository = RustChatRepository.open(config, keys)
