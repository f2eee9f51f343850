package roomcheck

import androidx.room.Room
import androidx.room.RoomDatabase
import androidx.sqlite.driver.bundled.BundledSQLiteDriver
import kotlinx.coroutines.Dispatchers
import java.nio.file.Path

/**
 * The builder as the app would use it: its own SQLite, no migration and no destructive fallback,
 * so a file that does not fit is an error and never silently emptied.
 */
inline fun <reified T : RoomDatabase> roomBuilder(file: Path): RoomDatabase.Builder<T> =
    Room
        .databaseBuilder<T>(file.toString())
        .setDriver(BundledSQLiteDriver())
        .setQueryCoroutineContext(Dispatchers.IO)
