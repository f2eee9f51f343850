package roomcheck

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** The entities of this project are those of the app: Room's compiler exports the same schema for them. */
class SchemaTest {
    @Test
    fun `version 1 is the fixture`() = assertSame(Fixture.v1, exported<DatabaseV1>(1))

    @Test
    fun `version 2 is the fixture`() = assertSame(Fixture.v2, exported<DatabaseV2>(2))

    private inline fun <reified T> exported(version: Int) = Fixture(directory("schemas").resolve("${T::class.java.name}/$version.json"))

    private fun assertSame(
        fixture: Fixture,
        exported: Fixture,
    ) {
        assertEquals(fixture.identityHash, exported.identityHash)
        for (table in fixture.tables) {
            assertEquals(table.createTable, exported.table(table.name).createTable)
            assertEquals(table.createIndices, exported.table(table.name).createIndices)
        }
        // and the rest: fields, keys, actions, order, set-up queries
        assertEquals(fixture.json, exported.json)
    }
}
