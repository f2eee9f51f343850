package com.oneclaw.shadow

import org.junit.Test
import org.robolectric.annotation.Config
import kotlin.test.assertTrue

/**
 * The same with the classes of the oldest Android that the app runs on, and the older of Robolectric's two SQLites; Android
 * 8.0 itself has an older one still. In a process of its own: the core's library is loaded only once.
 */
@Config(sdk = [26])
class OldFrameworkSqliteTest : FrameworkSqliteTest() {
    @Test
    fun itIsTheOlderSqlite() {
        assertTrue(version() < listOf(3, 37), "SQLite ${version()}")
    }
}
