package com.oneclaw.shadow.start

import java.io.File
import java.io.OutputStream
import java.util.zip.ZipEntry
import java.util.zip.ZipOutputStream

/**
 * Writes [database] and the logs beside it into an archive, as they are: together they are what was stored. Only reads, so it
 * can be done with a file that cannot be opened.
 */
internal fun writeCopy(database: File, out: OutputStream) {
    ZipOutputStream(out).use { zip ->
        listOf(database, File("$database-wal"), File("$database-journal")).filter { it.isFile }.forEach { file ->
            zip.putNextEntry(ZipEntry(file.name))
            file.inputStream().use { it.copyTo(zip) }
            zip.closeEntry()
        }
    }
}
