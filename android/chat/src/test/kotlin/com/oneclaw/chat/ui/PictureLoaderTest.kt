package com.oneclaw.chat.ui

import androidx.compose.ui.graphics.ImageBitmap
import com.oneclaw.core.AttachmentContent
import com.oneclaw.core.CoreException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.async
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertNotNull
import kotlin.test.assertNull
import kotlin.test.assertSame

class PictureLoaderTest {
    private val reads = mutableListOf<String>()
    private val missing = mutableSetOf<String>()
    private var gate: CompletableDeferred<Unit>? = null

    /** Each picture is 10 pixels wide and high, as large as it was wanted or not: 400 bytes. Three of them are kept. */
    private val loader = PictureLoader(
        read = { message, nth ->
            reads += "$message $nth"
            gate?.await()
            if (message in missing) throw CoreException.NotFound(message)
            message.toByteArray()
        },
        decode = { bytes, _ -> if (String(bytes) == "bad") null else ImageBitmap(10, 10) },
        most = 1_200,
    )

    private fun stored(message: String, nth: Int = 0) = AttachmentContent.Stored(message, nth, size = 1)

    @Test
    fun aPictureIsReadOnceAndKept() = runTest {
        assertNull(loader.kept(stored("a"), 100))
        assertEquals(emptyList(), reads)
        val picture = assertNotNull(loader.load(stored("a"), 100))
        assertSame(picture, loader.kept(stored("a"), 100))
        assertSame(picture, loader.load(stored("a"), 40), "a smaller place takes it too")
        assertNotNull(loader.load(stored("a", nth = 1), 40))
        assertEquals(listOf("a 0", "a 1"), reads)
    }

    @Test
    fun aLargerPlaceNeedsMorePixels() = runTest {
        loader.load(stored("a"), 40)
        assertNull(loader.kept(stored("a"), 100))
        loader.load(stored("a"), 100)
        assertNotNull(loader.kept(stored("a"), 100))
        assertEquals(listOf("a 0", "a 0"), reads)
    }

    @Test
    fun theOneSeenLongestAgoGoesFirst() = runTest {
        for (name in listOf("a", "b", "c")) loader.load(stored(name), 40)
        loader.kept(stored("a"), 40)
        loader.load(stored("d"), 40)
        val kept = listOf("a", "b", "c", "d").filter { loader.kept(stored(it), 40) != null }
        assertEquals(listOf("a", "c", "d"), kept)
    }

    @Test
    fun whatCannotBeReadIsTriedAgain() = runTest {
        missing += "a"
        assertNull(loader.load(stored("a"), 40))
        assertNull(loader.load(stored("bad"), 40))
        assertNull(loader.load(AttachmentContent.New("%%%"), 40))
        missing -= "a"
        assertNotNull(loader.load(stored("a"), 40))
    }

    @Test
    fun whatIsGoneIsShownAsItWasSeen() = runTest {
        val seen = loader.load(stored("a"), 40)
        missing += "a"
        assertSame(seen, loader.load(stored("a"), 100))
    }

    @Test
    fun whatIsNewIsNotKeptWithItsBytes() = runTest {
        assertNotNull(loader.load(AttachmentContent.New("YQ=="), 40))
        assertNull(loader.kept(AttachmentContent.New("YQ=="), 40))
        assertEquals(emptyList(), reads)
    }

    @Test
    fun twoAreReadAtATimeAndThoseOutOfSightNotAtAll() = runTest {
        val opened = CompletableDeferred<Unit>().also { gate = it }
        val shown = listOf("a", "b").map { async { loader.load(stored(it), 40) } }
        val passedBy = launch { loader.load(stored("c"), 40) }
        val last = async { loader.load(stored("d"), 40) }
        runCurrent()
        assertEquals(listOf("a 0", "b 0"), reads)
        passedBy.cancel()
        opened.complete(Unit)
        (shown + last).forEach { assertNotNull(it.await()) }
        assertEquals(listOf("a 0", "b 0", "d 0"), reads)
    }
}
