package roomcheck

import androidx.room.RoomDatabase
import androidx.room.migration.Migration
import androidx.sqlite.SQLiteConnection
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.MethodSource
import org.junit.jupiter.params.provider.ValueSource
import java.nio.file.Path
import kotlin.io.path.exists

/** Real Room, version 2, over files that it did not make. */
class RoomFilesTest {
    @TempDir
    lateinit var temp: Path

    private fun copyOf(name: String) = copyDatabase(ForeignFiles.original(name), temp.resolve("$name.db"))

    @ParameterizedTest
    @ValueSource(strings = ["created", "migrated"])
    fun `reads every row and leaves the file as it was`(name: String) {
        val file = copyOf(name)
        val structure = structure(file)
        val contents = contents(file)

        val read = room(file) { allRows() }

        println("$name.db: " + read.map { (table, rows) -> "$table ${rows.size}" }.joinToString())
        assertTrue(read.values.any { it.isNotEmpty() }, "an empty file proves nothing")
        assertEquals(contents.filterKeys { it in read }, read)
        assertEquals(structure, structure(file))
        assertEquals(contents, contents(file))
    }

    @ParameterizedTest
    @ValueSource(strings = ["created", "migrated"])
    fun `the whole schema passes Room's validation`(name: String) {
        val file = copyOf(name)
        val structure = structure(file)
        forceValidation(file)

        room(file) { allRows() }

        assertEquals(structure, structure(file), "Room wrote its hash again, the same one")
    }

    /** The result stays in `room.out`, so that the other program can show that it still reads its file. */
    @ParameterizedTest
    @ValueSource(strings = ["created", "migrated"])
    fun `writes rows for the other program`(name: String) {
        val file = copyDatabase(ForeignFiles.original(name), ForeignFiles.out.resolve("$name-written.db"))
        val structure = structure(file)
        val before = contents(file)
        val session = Session("room-session", "From Room 🦀", "room-agent", 1, "Hi", true, null, 1, 2, "Summary", 3)
        val message = Message("room-message", session.id, "USER", "Hi", tokenCountInput = 10, createdAt = Long.MAX_VALUE)
        val dropped = session.copy(id = "room-dropped")
        val agent = Agent("room-agent", "Room", null, "Prompt", "[]", "room-provider", "room-model", false, 1, 2)
        val provider = Provider("room-provider", "Room", "OPENAI", "http://localhost/v1", false, true, 1, 2)
        val model = Model("room-model", null, provider.id, true, "MANUAL", 4096)
        val setting = Setting("room", "was here")

        room(file) {
            insert(
                listOf(agent),
                listOf(provider),
                listOf(model),
                listOf(session, dropped),
                listOf(message, message.copy(id = "room-cascaded", sessionId = dropped.id)),
                listOf(setting),
            )
            delete(dropped)
        }
        // before any other connection could tidy up
        assertFalse(Path.of("$file-wal").exists(), "closing leaves one complete file")

        val added =
            mapOf(
                "agents" to agent,
                "providers" to provider,
                "models" to model,
                "sessions" to session,
                "messages" to message,
                "app_settings" to setting,
            )
        val expected = before.mapValues { (table, rows) -> rows + setOfNotNull(added[table]?.toRow(table)) }
        assertEquals(expected, contents(file), "own rows added, a cascade followed, foreign tables untouched")
        assertEquals(structure, structure(file))
        sqlite(file) {
            assertEquals(listOf<Any?>("ok"), query("PRAGMA integrity_check").flatMap { it.values })
            assertEquals(emptyList<Row>(), query("PRAGMA foreign_key_check"))
        }
    }

    /** The other program was killed: what it committed is still only in the log. */
    @Test
    fun `reads rows from a write-ahead log that was left behind`() {
        val source = copyOf("created")
        val file = temp.resolve("killed.db")
        sqlite(source) {
            execute("PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0")
            execute("INSERT INTO app_settings VALUES ('only', 'in the log')")
            copyDatabase(source, file)
        }
        assertTrue(Path.of("$file-wal").exists())

        assertTrue(Setting("only", "in the log") in room(file) { settings() })
    }

    @ParameterizedTest
    @MethodSource("damagedFiles")
    fun `refuses a damaged file and does not touch it`(
        name: String,
        damage: Damage,
    ) {
        val file = copyOf(name)
        sqlite(file) { damage.apply(this) }
        val structure = structure(file)
        val contents = contents(file)
        if (damage.inSchema) forceValidation(file)

        val message = refusal { room(file) { allRows() } }

        assertTrue(damage.messages.all { it in message }, message)
        if (damage.inSchema) sqlite(file) { execute(*Fixture.v2.setupQueries.toTypedArray()) }
        assertEquals(structure, structure(file))
        assertEquals(contents, contents(file))
    }

    /** Shows that [rebuild] as such is harmless, so that what Room refuses is the damage. */
    @Test
    fun `accepts a rebuilt table`() {
        val file = copyOf("created")
        sqlite(file) { rebuild("sessions") { it } }
        forceValidation(file)
        room(file) { allRows() }
    }

    /** Why [forceValidation] is needed: a file that opens has not been validated. */
    @Test
    fun `believes a matching hash without looking at the tables`() {
        val file = copyOf("created")
        sqlite(file) { Damage.EXTRA_INDEX.apply(this) }
        room(file) { allRows() }
    }

    @Test
    fun `version 1 is accepted by its own Room and refused by the next one until it is migrated`() {
        val file = copyDatabase(ForeignFiles.v1, temp.resolve("v1.db"))
        sqlite(file) { execute("DROP TABLE room_master_table") }
        openAndClose(roomBuilder<DatabaseV1>(file).build())

        assertTrue("A migration from 1 to 2 was required but not found" in refusal { room(file) { allRows() } })
        val idle =
            object : Migration(1, 2) {
                override fun migrate(connection: SQLiteConnection) = Unit
            }
        val message = refusal { room(file, { addMigrations(idle) }) { allRows() } }
        assertTrue("Migration didn't properly handle: models" in message, message)
    }

    /** @property inSchema the hash still matches, so Room only notices under [forceValidation] */
    enum class Damage(
        val inSchema: Boolean,
        vararg val messages: String,
        val apply: SQLiteConnection.() -> Unit,
    ) {
        EXTRA_INDEX(true, INVALID + "messages", "name = 'extra'", apply = { execute("CREATE INDEX extra ON messages (type)") }),
        MISSING_INDEX(true, INVALID + "messages", apply = { execute("DROP INDEX index_messages_created_at") }),
        NULLABLE_COLUMN(true, INVALID + "sessions", apply = {
            rebuild("sessions") { it.replace("`title` TEXT NOT NULL", "`title` TEXT") }
        }),
        OTHER_AFFINITY(true, INVALID + "sessions", apply = {
            rebuild("sessions") { it.replace("`title` TEXT", "`title` BLOB") }
        }),
        EXTRA_COLUMN(true, INVALID + "models", apply = { execute("ALTER TABLE models ADD COLUMN extra TEXT") }),
        NO_CASCADE(true, INVALID + "messages", apply = {
            rebuild("messages") { it.replace("ON DELETE CASCADE", "ON DELETE NO ACTION") }
        }),
        OTHER_HASH(false, "Room cannot verify the data integrity", "found: ${"0".repeat(32)}", apply = {
            execute("UPDATE room_master_table SET identity_hash = '${"0".repeat(32)}' WHERE id = 42")
        }),
        OLDER_VERSION(false, "A migration from 1 to 2 was required but not found", apply = {
            execute("PRAGMA user_version = 1")
        }),
        NEWER_VERSION(false, "A migration from 3 to 2 was required but not found", apply = {
            execute("PRAGMA user_version = 3")
        }),
    }

    private companion object {
        const val INVALID = "Pre-packaged database has an invalid schema: "

        @JvmStatic
        fun damagedFiles() = listOf("created", "migrated").flatMap { name -> Damage.entries.map { Arguments.of(name, it) } }

        /**
         * Room compares the tables with its entities after a migration or if its master table is missing; otherwise the
         * hash in that table is all that it looks at. Any program can copy a hash, so the strict tests take it away.
         */
        fun forceValidation(file: Path) = sqlite(file) { execute("DROP TABLE room_master_table") }

        /** Replaces a table by one that the fixture's statement, edited, creates; rows and indices stay. */
        fun SQLiteConnection.rebuild(
            name: String,
            edit: (String) -> String,
        ) {
            val table = Fixture.v2.table(name)
            val columns = table.columns.values.joinToString { "`$it`" }
            execute(
                "CREATE TEMP TABLE kept AS SELECT * FROM $name",
                "DROP TABLE $name",
                edit(table.createTable),
                "INSERT INTO $name ($columns) SELECT $columns FROM kept",
                *table.createIndices.toTypedArray(),
            )
        }

        fun <T> room(
            file: Path,
            configure: RoomDatabase.Builder<DatabaseV2>.() -> Unit = {},
            block: suspend RowsDao.() -> T,
        ): T {
            val database = roomBuilder<DatabaseV2>(file).apply(configure).build()
            return try {
                runBlocking { database.rows().block() }
            } finally {
                database.close()
            }
        }

        fun refusal(block: () -> Unit): String = assertThrows(IllegalStateException::class.java, block).message.orEmpty()

        suspend fun RowsDao.allRows(): Map<String, Set<Row>> =
            mapOf(
                "agents" to agents(),
                "providers" to providers(),
                "models" to models(),
                "sessions" to sessions(),
                "messages" to messages(),
                "app_settings" to settings(),
            ).mapValues { (table, rows) -> rows.map { it.toRow(table) }.toSet() }

        /** An entity as SQLite stores it, so that Room's reading can be compared with a plain query. */
        fun Any.toRow(table: String): Row =
            Fixture.v2.table(table).columns.entries.associate { (property, column) ->
                val value = javaClass.getDeclaredField(property).apply { isAccessible = true }.get(this)
                column to
                    when (value) {
                        is Boolean -> if (value) 1L else 0L
                        is Int -> value.toLong()
                        else -> value
                    }
            }
    }
}
