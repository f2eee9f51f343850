package com.oneclaw.shadow

import android.content.Context
import android.content.ContextWrapper
import android.database.sqlite.SQLiteDatabase
import android.os.SystemClock
import androidx.test.platform.app.InstrumentationRegistry
import com.oneclaw.chat.AppUiState
import com.oneclaw.chat.ChatAction
import com.oneclaw.shadow.start.StartState
import org.junit.rules.ExternalResource
import java.io.File
import kotlin.test.fail

private const val PATIENCE_MS = 30_000L
private const val PAUSE_MS = 10L

/** A container for one test, with a folder of its own: nothing of the app's data is touched, and nothing is left. */
class OwnFolder : ExternalResource() {
    private val app = TestApplication.current
    private lateinit var context: Context

    val database: File get() = context.getDatabasePath(DATABASE)
    val start: StartState get() = app.container.start.state.value
    val ready: StartState.Ready get() = start as? StartState.Ready ?: fail("not ready: $start")
    val state: AppUiState get() = ready.holder.state.value

    override fun before() {
        context = FolderContext(app, File(app.cacheDir, "test-${System.nanoTime()}"))
        context.getDatabasePath(DATABASE).parentFile?.mkdirs()
        newProcess()
    }

    override fun after() {
        closeCore()
        context.dataDir.deleteRecursively()
    }

    /** New parts over the same folder, as after the end of the process. */
    fun newProcess() {
        app.container = AppContainer(context)
    }

    /** Two SQLites in one process do not see each other's locks: the core's has to be gone before Android's comes. */
    fun closeCore() {
        (start as? StartState.Ready)?.repository?.close()
    }

    fun begin() = onMain { app.container.start.begin(AppUiState()) }

    fun act(vararg actions: ChatAction) = onMain { actions.forEach { ready.holder.onAction(it) } }

    fun until(what: String, condition: () -> Boolean) {
        val end = SystemClock.uptimeMillis() + PATIENCE_MS
        while (!condition()) {
            if (SystemClock.uptimeMillis() > end) fail("no $what in time; the start is $start")
            SystemClock.sleep(PAUSE_MS)
        }
    }

    /** Makes the original app's file with Android's own SQLite, as the original app did. */
    fun writeVersion1() {
        val flags = SQLiteDatabase.CREATE_IF_NECESSARY or SQLiteDatabase.NO_LOCALIZED_COLLATORS
        SQLiteDatabase.openDatabase(database.path, null, flags).use { file ->
            listOf("room_v1.sql", "rows_v1.sql").flatMap(::statements).forEach(file::execSQL)
        }
    }

    private fun statements(asset: String): List<String> {
        val assets = InstrumentationRegistry.getInstrumentation().context.assets
        val text = assets.open(asset).bufferedReader().use { it.readText() }
        return text.lines().filterNot { it.startsWith("--") }.joinToString("\n").split(";\n").filter { it.isNotBlank() }
    }

    private fun onMain(block: () -> Unit) = InstrumentationRegistry.getInstrumentation().runOnMainSync(block)
}

private class FolderContext(base: Context, private val folder: File) : ContextWrapper(base) {
    override fun getDataDir(): File = folder

    override fun getDatabasePath(name: String): File = File(folder, "databases/$name")

    override fun getFilesDir(): File = File(folder, "files").apply { mkdirs() }

    override fun getNoBackupFilesDir(): File = File(folder, "no_backup").apply { mkdirs() }
}
