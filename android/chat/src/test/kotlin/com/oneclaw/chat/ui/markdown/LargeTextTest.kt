package com.oneclaw.chat.ui.markdown

import androidx.compose.ui.test.hasText
import androidx.compose.ui.test.onAllNodesWithText
import androidx.compose.ui.test.v2.runSkikoComposeUiTest
import com.oneclaw.chat.ui.desk
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertNotNull
import kotlin.test.assertNull

class LargeTextTest {
    private val large = "**bold** words\n".repeat(2_000)

    @Test
    fun aLargeTextIsReadElsewhere() = runSkikoComposeUiTest {
        val seen = mutableListOf<List<Block>?>()
        setContent { seen += rememberBlocks(large) }
        waitUntil(timeoutMillis = 10_000) { seen.last() != null }
        assertNull(seen.first())
        assertEquals(parseMarkdown(large), seen.last())
    }

    @Test
    fun aSmallTextIsThereAtOnce() = runSkikoComposeUiTest {
        val seen = mutableListOf<List<Block>?>()
        setContent { seen += rememberBlocks("**bold**") }
        assertNotNull(seen.first())
    }

    @Test
    fun aBlockThatHasBecomeLargeIsReadOnceItIsComplete() = desk {
        send("Write a lot")
        play { text("**small**") }
        assertEquals(1, ui.onAllNodesWithText("small").fetchSemanticsNodes().size)
        play { text(" $large") }
        assertEquals(1, count("**small** **bold** words"))
        play { text("\n\nNext") }
        ui.waitUntil(timeoutMillis = 10_000) {
            ui.onAllNodes(hasText("small bold words", substring = true)).fetchSemanticsNodes().isNotEmpty()
        }
        assertEquals(0, count("**small**"))
    }
}
