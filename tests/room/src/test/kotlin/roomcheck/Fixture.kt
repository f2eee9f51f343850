package roomcheck

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import java.nio.file.Path
import kotlin.io.path.readText

/** A schema file that Room exported; [v1] and [v2] are the fixtures, the original app's own. */
class Fixture(
    file: Path,
) {
    /** Without values that mean "nothing": Room wrote them out in some versions and leaves them away in others. */
    val json = Json.parseToJsonElement(file.readText()).withoutDefaults()
    private val database = json.jsonObject.getValue("database").jsonObject
    val version = database.text("version").toInt()
    val identityHash = database.text("identityHash")
    val tables = database.getValue("entities").jsonArray.map { Table(it.jsonObject) }
    val setupQueries = database.getValue("setupQueries").jsonArray.map { it.jsonPrimitive.content }

    fun table(name: String) = tables.single { it.name == name }

    class Table(
        json: JsonObject,
    ) {
        val name = json.text("tableName")
        val createTable = json.sql()
        val createIndices = json["indices"]?.jsonArray.orEmpty().map { it.jsonObject.sql() }

        /** Property name to column name. */
        val columns =
            json
                .getValue("fields")
                .jsonArray
                .map { it.jsonObject }
                .associate { it.text("fieldPath") to it.text("columnName") }

        private fun JsonObject.sql() = text("createSql").replace("\${TABLE_NAME}", name)
    }

    companion object {
        val v1 by lazy { Fixture(directory("fixtures").resolve("room-schema-v1.json")) }
        val v2 by lazy { Fixture(directory("fixtures").resolve("room-schema-v2.json")) }

        private fun JsonObject.text(key: String) = getValue(key).jsonPrimitive.content

        private val defaults = setOf(JsonNull, JsonPrimitive(false), JsonArray(emptyList()))

        private fun JsonElement.withoutDefaults(): JsonElement =
            when (this) {
                is JsonObject -> JsonObject(mapValues { it.value.withoutDefaults() }.filterValues { it !in defaults })
                is JsonArray -> JsonArray(map { it.withoutDefaults() })
                is JsonPrimitive -> this
            }
    }
}

/** A directory that the build names; null if it names none. */
fun directoryOrNull(name: String): Path? = System.getProperty("dir.$name")?.takeIf { it.isNotEmpty() }?.let { Path.of(it) }

fun directory(name: String): Path = requireNotNull(directoryOrNull(name)) { "no directory for $name" }
