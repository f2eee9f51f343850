package com.oneclaw.shadow

import android.content.Context
import android.database.sqlite.SQLiteDatabase
import java.io.File

/** The repository, wherever below it the tests are started: its fixtures are used here too. */
internal val repository: File = generateSequence(File("").absoluteFile) { it.parentFile }
    .first { File(it, "tests/fixtures/store").isDirectory }

/** Makes the original app's file with Android's own SQLite, as the original app did. */
internal fun Context.makeVersion1(): File {
    val file = getDatabasePath(DATABASE)
    file.parentFile?.mkdirs()
    SQLiteDatabase.openOrCreateDatabase(file, null).use { database ->
        for (name in listOf("room_v1.sql", "rows_v1.sql")) {
            val script = File(repository, "tests/fixtures/store/$name").readLines().filterNot { it.startsWith("--") }
            script.joinToString("\n").split(";\n").map { it.trim().removeSuffix(";") }.filter { it.isNotEmpty() }
                // PRAGMAs and the locale table, which Android has made already, are its own business.
                .filterNot { it.startsWith("PRAGMA") || "android_metadata" in it }
                .forEach(database::execSQL)
        }
        database.version = 1
    }
    return file
}
