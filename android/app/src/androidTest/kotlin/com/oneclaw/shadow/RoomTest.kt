package com.oneclaw.shadow

import android.database.sqlite.SQLiteDatabase
import androidx.room.Room
import androidx.test.ext.junit.runners.AndroidJUnit4
import com.oneclaw.shadow.start.StartState
import kotlinx.coroutines.runBlocking
import org.junit.Rule
import org.junit.Test
import org.junit.runner.RunWith
import roomcheck.DatabaseV2
import kotlin.test.assertEquals

/** Room, as the original app uses it, over a file that the core has migrated. The tables are those of tests/room. */
@RunWith(AndroidJUnit4::class)
class RoomTest {
    @get:Rule
    val folder = OwnFolder()

    @Test
    fun roomValidatesReadsAndWritesTheMigratedFile() = runBlocking {
        migrate()
        // Where its hash is there, Room believes it; without, it compares all tables.
        SQLiteDatabase.openDatabase(folder.database.path, null, SQLiteDatabase.OPEN_READWRITE).use {
            it.execSQL("DROP TABLE room_master_table")
        }

        val room = Room.databaseBuilder(TestApplication.current, DatabaseV2::class.java, folder.database.path).build()
        try {
            assertEquals(setOf("s1", "s2"), room.rows().sessions().map { it.id }.toSet())
            assertEquals((1..8).map { "m$it" }.toSet(), room.rows().messages().map { it.id }.toSet())
            val session = room.rows().sessions().first { it.id == "s1" }
            val copy = session.copy(id = "room-session", title = "From Room")
            room.rows().insert(emptyList(), emptyList(), emptyList(), listOf(copy), emptyList(), emptyList())
        } finally {
            room.close()
        }

        folder.newProcess()
        folder.begin()
        folder.until("core") { folder.start is StartState.Ready }
        assertEquals("From Room", folder.ready.repository.session("room-session").title)
    }

    private fun migrate() {
        folder.writeVersion1()
        folder.begin()
        folder.until("core") { folder.start is StartState.Ready }
        folder.closeCore()
    }
}
