package com.oneclaw.chat.ui.chat

import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.PaddingValues
import androidx.compose.foundation.layout.Spacer
import androidx.compose.foundation.layout.fillMaxSize
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.height
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.widthIn
import androidx.compose.foundation.lazy.LazyColumn
import androidx.compose.foundation.lazy.LazyListScope
import androidx.compose.foundation.lazy.rememberLazyListState
import androidx.compose.foundation.text.selection.SelectionContainer
import androidx.compose.material3.FloatingActionButtonDefaults
import androidx.compose.material3.Icon
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.SmallFloatingActionButton
import androidx.compose.runtime.Composable
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.draw.alpha
import androidx.compose.ui.platform.testTag
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.CallKeys
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ChatItem
import com.oneclaw.chat.ChatUiState
import com.oneclaw.chat.Failure
import com.oneclaw.chat.LivePart
import com.oneclaw.chat.LiveTurn
import com.oneclaw.chat.StreamedText
import com.oneclaw.chat.Strings
import com.oneclaw.chat.TurnPhase
import com.oneclaw.chat.ui.markdown.LARGE_TEXT
import com.oneclaw.chat.ui.markdown.Markdown
import com.oneclaw.chat.ui.markdown.PlainText
import com.oneclaw.chat.ui.theme.ClawIcons

/** The tag of the list, for tests. */
const val MESSAGES = "messages"

private val MAX_WIDTH = 760.dp
private const val COVERED_ALPHA = 0.72f

/** Beyond every list: it is shown from its end. */
private const val AT_THE_END = 100_000

/** The messages, the oldest first, and below them what is being received. */
@Composable
internal fun MessageList(state: ChatUiState, strings: Strings, onAction: (ChatAction) -> Unit, modifier: Modifier = Modifier) {
    val list = rememberLazyListState(initialFirstVisibleItemIndex = AT_THE_END)
    val folds = rememberFolds()
    val end = rememberEnd(list, state.items, above = if (state.hasEarlier) 1 else 0)
    Box(modifier) {
        LazyColumn(
            Modifier.fillMaxSize().testTag(MESSAGES),
            state = list,
            contentPadding = PaddingValues(horizontal = 16.dp, vertical = 12.dp),
            verticalArrangement = Arrangement.spacedBy(14.dp),
            horizontalAlignment = Alignment.CenterHorizontally,
        ) {
            if (state.hasEarlier) row("earlier") { EarlierRow(state.isLoadingEarlier, strings, onAction) }
            storedRows(state, folds, strings, onAction)
            val calls = CallKeys(state.items)
            state.turns.forEach { liveRows(it, calls, folds, strings, onAction) }
            state.looseFailure?.let { row("failure") { LooseFailureRow(it, state.canRetry, strings, onAction) } }
            item("end") { Spacer(Modifier.height(1.dp)) }
        }
        if (!end.isFollowing) {
            ToEndButton(strings, end::follow, Modifier.align(Alignment.BottomCenter).padding(bottom = 8.dp))
        }
    }
}

/** A row no wider than is comfortable to read. */
private fun LazyListScope.row(key: String, type: Any? = null, modifier: Modifier = Modifier, content: @Composable () -> Unit) =
    item(key, type) { Box(Modifier.widthIn(max = MAX_WIDTH).fillMaxWidth().then(modifier)) { content() } }

private fun LazyListScope.storedRows(state: ChatUiState, folds: Folds, strings: Strings, onAction: (ChatAction) -> Unit) {
    val items = state.items
    val boundary = items.indexOf(ChatItem.Boundary)
    val isQuiet = state.isQuiet
    items.forEachIndexed { index, item ->
        val alpha = if (index < boundary) Modifier.alpha(COVERED_ALPHA) else Modifier
        val isLast = index == items.lastIndex && state.turns.isEmpty()
        val isStep = items.getOrNull(index + 1) is ChatItem.Tool
        val canRetry = isLast && state.canRetry
        // What is stored of an error does not say what kind it is; of the last one it may still be known.
        val code = (state.failure as? Failure.Reported)?.code?.takeIf { isLast }
        row(item.key, item::class, alpha) {
            when (item) {
                is ChatItem.User -> UserRow(item, isQuiet, strings, onAction)
                is ChatItem.Reply -> ReplyRow(item, isStep, isQuiet, folds, strings, onAction)
                is ChatItem.Tool -> FoldedTool(item, item.key, item.arguments, folds, strings)
                is ChatItem.Failed -> StoredFailureRow(item.text, code, canRetry, strings, onAction)
                is ChatItem.Note -> NoteRow(item.text, strings, onAction)
                is ChatItem.Boundary -> BoundaryRow(strings, onAction)
            }
        }
    }
}

private fun LazyListScope.liveRows(turn: LiveTurn, calls: CallKeys, folds: Folds, strings: Strings, onAction: (ChatAction) -> Unit) {
    val name = "turn-${turn.id}"
    turn.bubble?.let { row("$name-bubble") { Bubble(it.text, it.attachments, strings) } }
    // The growing reply takes the place it will have once it is complete.
    val parts = turn.parts + listOfNotNull(turn.open)
    parts.forEachIndexed { index, part ->
        val isGrowing = index == turn.parts.size
        val key = if (part is LivePart.Tool) calls.next(part.card.callId) else "$name-part-$index"
        row(key) { LiveRow(part, key, isGrowing, folds, strings, onAction) }
    }
    if (turn.isWaiting) {
        val text = if (turn.phase == TurnPhase.STOPPING) strings.chat.stopping else strings.chat.waiting
        row("$name-waiting") { WaitingRow(text) }
    }
}

@Composable
private fun LiveRow(
    part: LivePart,
    key: String,
    isGrowing: Boolean,
    folds: Folds,
    strings: Strings,
    onAction: (ChatAction) -> Unit,
) {
    when (part) {
        is LivePart.Reply -> ReplyColumn(strings) {
            if (!part.thinking.isEmpty) {
                val isThinking = isGrowing && part.text.isEmpty
                ThinkingCard(part.thinking.text, isThinking, folds.isOpen(key), onToggle = { folds.toggle(key) }, strings)
            }
            if (!part.text.isEmpty) StreamedMarkdown(part.text, strings, onAction)
        }
        is LivePart.Tool -> FoldedTool(part.card, key, part.arguments.text.ifEmpty { part.card.arguments }, folds, strings)
    }
}

@Composable
private fun FoldedTool(tool: ChatItem.Tool, key: String, arguments: String, folds: Folds, strings: Strings) =
    ToolCard(tool, arguments, folds.isOpen(key), onToggle = { folds.toggle(key) }, strings)

/** Only the last block is read again when more comes; not even that, if it has become large. */
@Composable
private fun StreamedMarkdown(text: StreamedText, strings: Strings, onAction: (ChatAction) -> Unit) {
    SelectionContainer {
        Column(verticalArrangement = Arrangement.spacedBy(10.dp)) {
            text.blocks.forEach { Markdown(it, strings, onAction) }
            if (text.open.length >= LARGE_TEXT) {
                PlainText(text.open)
            } else if (text.open.isNotBlank()) {
                Markdown(text.open, strings, onAction)
            }
        }
    }
}

@Composable
private fun ToEndButton(strings: Strings, onClick: () -> Unit, modifier: Modifier) {
    SmallFloatingActionButton(
        onClick,
        modifier,
        containerColor = MaterialTheme.colorScheme.surfaceContainerHighest,
        contentColor = MaterialTheme.colorScheme.onSurface,
        elevation = FloatingActionButtonDefaults.elevation(2.dp),
    ) { Icon(ClawIcons.Down, contentDescription = strings.chat.toEnd) }
}
