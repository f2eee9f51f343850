package com.oneclaw.shadow

import android.database.sqlite.SQLiteDatabase
import androidx.test.core.app.ApplicationProvider
import com.oneclaw.bridge.KeyStore
import com.oneclaw.bridge.RustChatRepository
import com.oneclaw.core.ChatEvent
import com.oneclaw.core.OpenConfig
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config
import java.io.File
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertTrue

/**
 * Android's SQLite classes over the core's files, after the core has closed them. Their default answer to a file that they do
 * not understand is to delete it. Below them is a SQLite that Robolectric has built, for Android 15 a newer one than for 8.0.
 */
@RunWith(RobolectricTestRunner::class)
@Config(application = TestApp::class)
open class FrameworkSqliteTest {
    private val app: TestApp get() = ApplicationProvider.getApplicationContext()

    @Test
    fun aFileOfTheCoreCanBeRead() {
        val file = app.getDatabasePath(DATABASE)
        file.parentFile?.mkdirs()
        val id = core(file) { converse() }
        check(file, messages = 2)
        core(file) { assertEquals(2, messages(id).messages.size) }
    }

    @Test
    fun aMigratedFileCanBeRead() {
        val file = app.makeVersion1()
        core(file) { assertEquals(listOf("Grüße 🌍"), sessions().sessions.map { it.title }) }
        check(file, messages = 8)
        core(file) { assertEquals(7, messages("s1").messages.size) }
    }

    /** The control: such a table a SQLite before 3.37 does not know. */
    @Test
    fun aStrictTableIsNotReadEverywhere() {
        val file = app.getDatabasePath("strict.db")
        file.parentFile?.mkdirs()
        open(file).use { database ->
            database.execSQL("CREATE TABLE t (a INT)")
            database.execSQL("PRAGMA writable_schema = ON")
            database.execSQL("UPDATE sqlite_master SET sql = 'CREATE TABLE t (a INT) STRICT' WHERE name = 't'")
        }
        val isOld = version() < listOf(3, 37)
        val isRead = runCatching { open(file).use { it.one("SELECT COUNT(*) FROM t") } }.isSuccess
        assertEquals(!isOld, isRead, "SQLite ${version()}")
    }

    private fun check(file: File, messages: Int) {
        val before = file.length()
        open(file).use { database ->
            assertEquals("ok", database.one("PRAGMA integrity_check"))
            assertEquals("2", database.one("PRAGMA user_version"))
            assertEquals("$messages", database.one("SELECT COUNT(*) FROM messages"))
            assertTrue(database.isDatabaseIntegrityOk)
            val tables = database.all("SELECT name FROM sqlite_master WHERE type = 'table'")
            assertTrue("room_master_table" in tables && tables.any { it.startsWith("core_") }, "$tables")
            // A file can be opened and yet have a table that cannot be read.
            tables.filterNot { it.startsWith("sqlite_") }.forEach { database.one("SELECT COUNT(*) FROM \"$it\"") }
        }
        assertTrue(file.length() >= before)
    }

    private fun open(file: File) = SQLiteDatabase.openDatabase(file.path, null, SQLiteDatabase.CREATE_IF_NECESSARY)

    protected fun version() = SQLiteDatabase.create(null).use { it.one("SELECT sqlite_version()") }.split('.').map { it.toInt() }

    protected operator fun List<Int>.compareTo(other: List<Int>): Int =
        zip(other).map { (a, b) -> a.compareTo(b) }.firstOrNull { it != 0 } ?: 0

    private fun SQLiteDatabase.one(sql: String): String = all(sql).single()

    private fun SQLiteDatabase.all(sql: String): List<String> = rawQuery(sql, null).use { cursor ->
        buildList { while (cursor.moveToNext()) add(cursor.getString(0)) }
    }

    private fun <T> core(file: File, block: suspend RustChatRepository.() -> T): T = runBlocking {
        val config = OpenConfig(file.path, File(app.filesDir, "files").path, demo = true)
        RustChatRepository.open(config, NoKeys).use { it.block() }
    }

    private suspend fun RustChatRepository.converse(): String {
        val session = createSession()
        val events = send(session.id, "Remember: the port = 8080.").toList()
        assertFalse(events.any { it is ChatEvent.Error }, "$events")
        return session.id
    }

    private object NoKeys : KeyStore {
        override fun key(providerId: String, origin: String): String? = null

        override fun setKey(providerId: String, origin: String, key: String) = Unit

        override fun removeKey(providerId: String) = Unit
    }
}
