package com.oneclaw.chat.ui.chat

import androidx.compose.foundation.lazy.LazyListState
import androidx.compose.runtime.Composable
import androidx.compose.runtime.LaunchedEffect
import androidx.compose.runtime.Stable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.saveable.Saver
import androidx.compose.runtime.saveable.rememberSaveable
import androidx.compose.runtime.setValue
import androidx.compose.runtime.snapshotFlow
import com.oneclaw.chat.ChatItem
import kotlinx.coroutines.flow.filterNotNull

/**
 * Keeps the newest message in view while it grows, as long as the reader has not gone elsewhere.
 */
@Stable
internal class FollowEnd(private val list: LazyListState, isFollowing: Boolean = true) {
    var isFollowing by mutableStateOf(isFollowing)
        private set

    private var firstKey: String? = null

    /** Goes to the end and stays there. */
    fun follow() {
        isFollowing = true
        scroll()
    }

    /** Only going back, by whatever means, ends it: growth alone moves nothing. */
    suspend fun watchReader() {
        var last = Place(0, 0)
        // Before it was laid out, the list does not know that it goes on.
        snapshotFlow { if (list.layoutInfo.totalItemsCount == 0) null else place() to list.canScrollForward }
            .filterNotNull()
            .collect { (place, hasMore) ->
                if (!hasMore) isFollowing = true else if (place < last) isFollowing = false
                last = place
            }
    }

    suspend fun watchContent() = snapshotFlow { list.layoutInfo }.collect { if (isFollowing && list.canScrollForward) scroll() }

    /** Earlier messages came in above [keys]: what was on top stays in view. [above] rows stand before the messages. */
    fun onFirst(keys: List<String>, above: Int) {
        val old = firstKey
        firstKey = keys.firstOrNull()
        if (old == null || old == firstKey || list.firstVisibleItemIndex > 0) return
        val at = keys.indexOf(old)
        if (at > 0) list.requestScrollToItem(at + above)
    }

    private fun place() = Place(list.firstVisibleItemIndex, list.firstVisibleItemScrollOffset)

    private data class Place(val index: Int, val offset: Int) : Comparable<Place> {
        override fun compareTo(other: Place) = compareValuesBy(this, other, Place::index, Place::offset)
    }

    private fun scroll() {
        val last = list.layoutInfo.totalItemsCount - 1
        if (last >= 0) list.requestScrollToItem(last)
    }

    companion object {
        /** Where the reader is, is kept by [list] itself. */
        fun saver(list: LazyListState): Saver<FollowEnd, Boolean> =
            Saver(save = { it.isFollowing }, restore = { FollowEnd(list, it) })
    }
}

@Composable
internal fun rememberEnd(list: LazyListState, items: List<ChatItem>, above: Int): FollowEnd {
    val end = rememberSaveable(list, saver = FollowEnd.saver(list)) { FollowEnd(list) }
    LaunchedEffect(end) { end.watchReader() }
    LaunchedEffect(end) { end.watchContent() }
    LaunchedEffect(end, items.firstOrNull()?.key) { end.onFirst(items.map { it.key }, above) }
    return end
}
