package roomcheck

import androidx.room.Dao
import androidx.room.Database
import androidx.room.Delete
import androidx.room.Insert
import androidx.room.Query
import androidx.room.RoomDatabase

/** The app before its first migration. It only has to create and open files, so it needs no DAO. */
@Database(
    version = 1,
    entities = [Agent::class, Provider::class, ModelV1::class, SessionV1::class, Message::class, Setting::class],
    exportSchema = true,
)
abstract class DatabaseV1 : RoomDatabase()

@Database(
    version = 2,
    entities = [Agent::class, Provider::class, Model::class, Session::class, Message::class, Setting::class],
    exportSchema = true,
)
abstract class DatabaseV2 : RoomDatabase() {
    abstract fun rows(): RowsDao
}

/** Plain access to every table; off Android, Room wants all of it to suspend. */
@Dao
interface RowsDao {
    @Query("SELECT * FROM agents")
    suspend fun agents(): List<Agent>

    @Query("SELECT * FROM providers")
    suspend fun providers(): List<Provider>

    @Query("SELECT * FROM models")
    suspend fun models(): List<Model>

    @Query("SELECT * FROM sessions")
    suspend fun sessions(): List<Session>

    @Query("SELECT * FROM messages")
    suspend fun messages(): List<Message>

    @Query("SELECT * FROM app_settings")
    suspend fun settings(): List<Setting>

    /** One transaction; parents come before children because the parameters do. */
    @Insert
    suspend fun insert(
        agents: List<Agent>,
        providers: List<Provider>,
        models: List<Model>,
        sessions: List<Session>,
        messages: List<Message>,
        settings: List<Setting>,
    )

    @Delete
    suspend fun delete(session: Session)
}
