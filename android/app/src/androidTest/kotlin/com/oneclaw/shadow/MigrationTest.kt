package com.oneclaw.shadow

import android.database.sqlite.SQLiteDatabase
import androidx.test.ext.junit.runners.AndroidJUnit4
import com.oneclaw.bridge.Problem
import com.oneclaw.core.MessageKind
import com.oneclaw.core.Shelf
import com.oneclaw.shadow.start.StartState
import kotlinx.coroutines.runBlocking
import org.junit.Rule
import org.junit.Test
import org.junit.runner.RunWith
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertIs
import kotlin.test.assertTrue

/** The hash that Room has for version 2 of the original app's tables. */
private const val HASH_2 = "f50a20c642811826a22174751ad5cfcc"

/** The original app's file, made on this device by its SQLite and brought up to date by the core. */
@RunWith(AndroidJUnit4::class)
class MigrationTest {
    @get:Rule
    val folder = OwnFolder()

    @Test
    fun conversationsOfTheOriginalAppAreThere() = runBlocking {
        folder.writeVersion1()
        folder.begin()
        folder.until("core") { folder.start is StartState.Ready }

        val repository = folder.ready.repository
        assertEquals(listOf("Grüße 🌍"), repository.sessions().sessions.map { it.title })
        assertEquals(listOf("deleted"), repository.sessions(shelf = Shelf.DELETED).sessions.map { it.title })
        val messages = repository.messages("s1").messages
        assertEquals((1..7).map { "m$it" }, messages.map { it.id })
        assertEquals("Read both 🙂", assertIs<MessageKind.User>(messages.first().kind).text)
        assertEquals("好的。", assertIs<MessageKind.Reply>(messages.last().kind).text)
    }

    @Test
    fun androidsSqliteReadsTheMigratedFile() {
        folder.writeVersion1()
        folder.begin()
        folder.until("core") { folder.start is StartState.Ready }
        folder.closeCore()

        SQLiteDatabase.openDatabase(folder.database.path, null, SQLiteDatabase.OPEN_READWRITE).use { file ->
            assertEquals(2, file.version)
            assertEquals(HASH_2, file.text("SELECT identity_hash FROM room_master_table WHERE id = 42"))
            assertEquals("8", file.text("SELECT count(*) FROM messages"))
            assertEquals("dark", file.text("SELECT value FROM app_settings WHERE key = 'theme'"))
            assertTrue(file.isDatabaseIntegrityOk)
        }
        assertTrue(folder.database.exists(), "Android deletes a file that it takes for damaged")
    }

    @Test
    fun aFileThatIsNotOursIsShownAndNotTouched() {
        val bytes = ByteArray(10_000) { it.toByte() }
        folder.database.writeBytes(bytes)
        folder.begin()
        folder.until("failure") { folder.start is StartState.Failed }

        assertIs<Problem.Storage>((folder.start as StartState.Failed).problem)
        assertContentEquals(bytes, folder.database.readBytes())
        assertEquals(listOf(DATABASE), folder.database.parentFile?.list()?.toList())
    }

    private fun SQLiteDatabase.text(query: String): String? =
        rawQuery(query, null).use { if (it.moveToFirst()) it.getString(0) else null }
}
