package com.oneclaw.chat.ui.chat

import androidx.compose.foundation.lazy.LazyListState
import androidx.compose.runtime.Composable
import androidx.compose.runtime.LaunchedEffect
import androidx.compose.runtime.Stable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.setValue
import androidx.compose.runtime.snapshotFlow
import com.oneclaw.chat.ChatItem

/**
 * Keeps the newest message in view while it grows, as long as the reader has not gone elsewhere.
 */
@Stable
internal class FollowEnd(private val list: LazyListState) {
    var isFollowing by mutableStateOf(true)
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
        snapshotFlow { Place(list.firstVisibleItemIndex, list.firstVisibleItemScrollOffset) to list.canScrollForward }
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

    private data class Place(val index: Int, val offset: Int) : Comparable<Place> {
        override fun compareTo(other: Place) = compareValuesBy(this, other, Place::index, Place::offset)
    }

    private fun scroll() {
        val last = list.layoutInfo.totalItemsCount - 1
        if (last >= 0) list.requestScrollToItem(last)
    }
}

@Composable
internal fun rememberEnd(list: LazyListState, items: List<ChatItem>, above: Int): FollowEnd {
    val end = remember(list) { FollowEnd(list) }
    LaunchedEffect(end) { end.watchReader() }
    LaunchedEffect(end) { end.watchContent() }
    LaunchedEffect(end, items.firstOrNull()?.key) { end.onFirst(items.map { it.key }, above) }
    return end
}
