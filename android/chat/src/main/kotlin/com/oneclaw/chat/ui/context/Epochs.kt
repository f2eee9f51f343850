package com.oneclaw.chat.ui.context

import androidx.compose.animation.AnimatedVisibility
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.PaddingValues
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.foundation.text.selection.SelectionContainer
import androidx.compose.material3.Icon
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.OutlinedCard
import androidx.compose.material3.Text
import androidx.compose.material3.TextButton
import androidx.compose.runtime.Composable
import androidx.compose.ui.Modifier
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ContextSheetState
import com.oneclaw.chat.Strings
import com.oneclaw.chat.fill
import com.oneclaw.chat.formatTokens
import com.oneclaw.chat.ui.LocalPlatform
import com.oneclaw.chat.ui.common.FoldHeader
import com.oneclaw.chat.ui.markdown.Markdown
import com.oneclaw.chat.ui.theme.ClawIcons
import com.oneclaw.core.EpochInfo

/** The compactions so far, the newest first; that one can be undone. */
@Composable
internal fun Epochs(
    state: ContextSheetState,
    epochs: List<EpochInfo>,
    isQuiet: Boolean,
    strings: Strings,
    onAction: (ChatAction) -> Unit,
) {
    Column(verticalArrangement = Arrangement.spacedBy(8.dp)) {
        epochs.asReversed().forEach { epoch ->
            OutlinedCard {
                Header(epoch, isOpen = state.openEpoch == epoch.number, strings, onAction)
                AnimatedVisibility(state.openEpoch == epoch.number) {
                    SelectionContainer {
                        Markdown(epoch.summary, strings, onAction, Modifier.padding(start = 14.dp, end = 14.dp, bottom = 14.dp))
                    }
                }
                if (epoch.number == state.undoable) {
                    TextButton(
                        onClick = { onAction(ChatAction.UndoCompaction) },
                        Modifier.padding(start = 2.dp),
                        enabled = isQuiet,
                    ) {
                        Icon(ClawIcons.Undo, contentDescription = null, Modifier.padding(end = 8.dp).size(18.dp))
                        Text(strings.context.undo)
                    }
                }
            }
        }
    }
}

@Composable
private fun Header(epoch: EpochInfo, isOpen: Boolean, strings: Strings, onAction: (ChatAction) -> Unit) {
    val details = listOfNotNull(
        sizesOf(epoch, strings),
        epoch.reason?.let(strings::of),
        epoch.strategy?.let(strings::of),
        epoch.model,
        strings.context.fallback.takeIf { epoch.isFallback },
        LocalPlatform.current.formatTime(epoch.createdAt),
    )
    FoldHeader(
        isOpen,
        onToggle = { onAction(ChatAction.ToggleEpoch(epoch.number)) },
        strings,
        PaddingValues(horizontal = 14.dp, vertical = 10.dp),
    ) {
        Column(Modifier.weight(1f)) {
            Text(strings.context.epochText.fill(epoch.number, epoch.messages), style = MaterialTheme.typography.titleSmall)
            Text(
                details.joinToString(" · "),
                style = MaterialTheme.typography.bodySmall,
                color = MaterialTheme.colorScheme.onSurfaceVariant,
            )
        }
    }
}

private fun sizesOf(epoch: EpochInfo, strings: Strings): String? {
    val before = epoch.tokensBefore ?: return null
    val after = epoch.tokensAfter ?: return null
    return strings.context.sizesText.fill(formatTokens(before), formatTokens(after))
}
