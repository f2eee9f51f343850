package roomcheck

import androidx.room.RoomDatabase
import androidx.room.useWriterConnection
import androidx.sqlite.SQLiteConnection
import kotlinx.coroutines.runBlocking
import java.nio.file.Path
import kotlin.io.path.createDirectories

/** The files under test. With `-Droom.files=DIR` another program made them; without it, plain SQL stands in for that program. */
object ForeignFiles {
    val out: Path = directory("out").createDirectories()

    /** Made by Room itself at version 1, for the other program to migrate. */
    val v1: Path by lazy { out.resolve("v1.db").also(::createV1) }

    private val originals by lazy {
        directoryOrNull("files") ?: out.resolve("self-made").createDirectories().also(::createAll)
    }

    /** `created` or `migrated`. Tests copy the file, they never open it. */
    fun original(name: String): Path = originals.resolve("$name.db")

    private fun createV1(file: Path) {
        deleteDatabase(file)
        openAndClose(roomBuilder<DatabaseV1>(file).build())
        sqlite(file) {
            androidMetadata()
            rows()
        }
    }

    private fun createAll(directory: Path) {
        sqlite(directory.resolve("created.db").also(::deleteDatabase)) {
            execute("PRAGMA journal_mode = WAL", "BEGIN")
            androidMetadata()
            for (table in Fixture.v2.tables) execute(table.createTable, *table.createIndices.toTypedArray())
            rows()
            execute(
                "UPDATE models SET context_window_size = 200000",
                "UPDATE sessions SET compacted_summary = 'They said hello.', compact_boundary_timestamp = 1762000002000",
            )
            finish()
        }
        sqlite(copyDatabase(v1, directory.resolve("migrated.db"))) {
            execute(
                "BEGIN",
                "ALTER TABLE models ADD COLUMN context_window_size INTEGER",
                "ALTER TABLE sessions ADD COLUMN compacted_summary TEXT",
                "ALTER TABLE sessions ADD COLUMN compact_boundary_timestamp INTEGER",
                "UPDATE models SET context_window_size = 200000 WHERE source = 'PRESET'",
            )
            finish()
        }
    }

    /** Android's own SQLite class puts this table into every file that it opens. */
    private fun SQLiteConnection.androidMetadata() =
        execute(
            "CREATE TABLE android_metadata (locale TEXT)",
            "INSERT INTO android_metadata VALUES ('en_GB')",
        )

    /** Marks the file as version 2, adds a table that Room does not know and commits. */
    private fun SQLiteConnection.finish() {
        execute(*Fixture.v2.setupQueries.toTypedArray())
        execute(
            "PRAGMA user_version = ${Fixture.v2.version}",
            "CREATE TABLE core_epochs (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, weight REAL, digest BLOB)",
            "CREATE INDEX core_epochs_by_session ON core_epochs (session_id)",
            "INSERT INTO core_epochs VALUES (1, 'session-1', 0.5, x'00ff')",
            "COMMIT",
        )
    }

    /** Rows for the columns that both versions have: text beyond ASCII, nulls, both booleans, a 64-bit time. */
    private fun SQLiteConnection.rows() =
        execute(
            """INSERT INTO providers VALUES
            ('provider-anthropic', 'Anthropic', 'ANTHROPIC', 'https://example.org/v1', 1, 1, 1762000000000, 1762000000000),
            ('provider-own', 'Own server', 'OPENAI', 'http://localhost:8080/v1', 0, 0, 1762000000000, 1762000000001)""",
            """INSERT INTO models (id, display_name, provider_id, is_default, source) VALUES
            ('preset-model', 'Preset', 'provider-anthropic', 1, 'PRESET'),
            ('own-model', NULL, 'provider-own', 0, 'MANUAL')""",
            """INSERT INTO agents VALUES ('agent-general-assistant', 'General Assistant', NULL, 'You are helpful.',
            '["get_current_time","read_file"]', NULL, NULL, 1, 1762000000000, 1762000000000)""",
            """INSERT INTO sessions (id, title, current_agent_id, message_count, last_message_preview, is_active, deleted_at,
            created_at, updated_at) VALUES
            ('session-1', 'Grüße 你好 🦀', 'agent-general-assistant', 3, 'Hello', 1, NULL, 1762000000000, 1762000003000),
            ('session-2', '', 'agent-general-assistant', 0, NULL, 0, 1762000009000, 1762000000000, 1762000009000)""",
            """INSERT INTO messages VALUES
            ('m1', 'session-1', 'USER', 'Hello', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1762000001000),
            ('m2', 'session-1', 'TOOL_CALL', '', NULL, 'call-1', 'read_file', '{"path":"a"}', NULL, 'SUCCESS', 12, NULL, NULL,
                NULL, NULL, 1762000002000),
            ('m3', 'session-1', 'AI_RESPONSE', 'Hello', 'Thinking …', NULL, NULL, NULL, NULL, NULL, NULL, 100, 20,
                'preset-model', 'provider-anthropic', 1762000003000)""",
            "INSERT INTO app_settings VALUES ('theme', 'dark')",
        )
}

/** Room opens lazily: creating or checking the file needs a first use. */
fun openAndClose(database: RoomDatabase) =
    try {
        runBlocking { database.useWriterConnection { } }
    } finally {
        database.close()
    }
