package com.oneclaw.chat.ui.markdown

import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.produceState
import androidx.compose.runtime.remember
import androidx.compose.ui.Modifier
import androidx.compose.ui.text.style.TextDirection
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext

/** From this many characters on, reading a text as Markdown takes longer than a frame. */
internal const val LARGE_TEXT = 20_000

/** The blocks of [text]; null: it is large, and still being read, where that does not hold up the screen. */
@Composable
internal fun rememberBlocks(text: String): List<Block>? {
    if (text.length < LARGE_TEXT) return remember(text) { parseMarkdown(text) }
    val blocks by produceState<List<Block>?>(null, text) { value = withContext(Dispatchers.Default) { parseMarkdown(text) } }
    return blocks
}

/** The text as it was written. */
@Composable
internal fun PlainText(text: String, modifier: Modifier = Modifier) {
    Text(text, modifier.fillMaxWidth(), style = MaterialTheme.typography.bodyLarge.copy(textDirection = TextDirection.Content))
}
