package roomcheck

import androidx.sqlite.SQLITE_DATA_BLOB
import androidx.sqlite.SQLITE_DATA_FLOAT
import androidx.sqlite.SQLITE_DATA_INTEGER
import androidx.sqlite.SQLITE_DATA_NULL
import androidx.sqlite.SQLiteConnection
import androidx.sqlite.SQLiteStatement
import androidx.sqlite.driver.bundled.BundledSQLiteDriver
import androidx.sqlite.execSQL
import java.nio.file.Path
import kotlin.io.path.copyTo
import kotlin.io.path.deleteIfExists
import kotlin.io.path.exists

// SQLite without Room, but the same copy of it: two copies in one process do not see each other's locks.

typealias Row = Map<String, Any?>

fun <T> sqlite(
    file: Path,
    block: SQLiteConnection.() -> T,
): T = BundledSQLiteDriver().open(file.toString()).use { it.block() }

fun SQLiteConnection.execute(vararg statements: String) = statements.forEach { execSQL(it) }

fun SQLiteConnection.query(sql: String): List<Row> =
    prepare(sql).use { statement ->
        buildList {
            while (statement.step()) {
                add((0 until statement.getColumnCount()).associate { statement.getColumnName(it) to statement.value(it) })
            }
        }
    }

private fun SQLiteStatement.value(column: Int): Any? =
    when (getColumnType(column)) {
        SQLITE_DATA_NULL -> null
        SQLITE_DATA_INTEGER -> getLong(column)
        SQLITE_DATA_FLOAT -> getDouble(column)
        SQLITE_DATA_BLOB -> getBlob(column).toList()
        else -> getText(column)
    }

/** Copies a database with its write-ahead log: without the log, committed rows may be missing. */
fun copyDatabase(
    from: Path,
    to: Path,
): Path {
    deleteDatabase(to)
    val log = Path.of("$from-wal")
    if (log.exists()) log.copyTo(Path.of("$to-wal"))
    return from.copyTo(to)
}

fun deleteDatabase(file: Path) = listOf("", "-wal", "-shm").forEach { Path.of("$file$it").deleteIfExists() }

/** All that a file says about itself: schema, version and Room's hash (however the table of the latter is spelt). */
fun structure(file: Path): List<Row> =
    sqlite(file) {
        query("SELECT type, name, sql FROM sqlite_master WHERE name <> 'room_master_table' ORDER BY type, name") +
            query("PRAGMA user_version") +
            query("SELECT * FROM room_master_table")
    }

/** The rows of every table, Room's or not. */
fun contents(file: Path): Map<String, Set<Row>> =
    sqlite(file) {
        query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'")
            .map { it.getValue("name") as String }
            .associateWith { query("SELECT * FROM `$it`").toSet() }
    }
