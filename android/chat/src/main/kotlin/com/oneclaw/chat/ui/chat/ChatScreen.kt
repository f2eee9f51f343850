package com.oneclaw.chat.ui.chat

import androidx.compose.animation.AnimatedVisibility
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxSize
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.imePadding
import androidx.compose.foundation.layout.navigationBarsPadding
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.material3.CircularProgressIndicator
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.SnackbarHost
import androidx.compose.material3.SnackbarHostState
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.key
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.semantics.LiveRegionMode
import androidx.compose.ui.semantics.clearAndSetSemantics
import androidx.compose.ui.semantics.liveRegion
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.Catalogue
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ChatUiState
import com.oneclaw.chat.Strings
import com.oneclaw.chat.ui.common.EmptyState
import com.oneclaw.chat.ui.common.Loading
import com.oneclaw.chat.ui.theme.ClawIcons

/**
 * A conversation: from top to bottom its name and model, the messages with the Snackbar over their end, the line that says that
 * the context is being compacted, and the field for the next message. Nothing covers the last two.
 *
 * @param hasBack whether the list of conversations is another screen
 * @param wantsFocus whether the keyboard is to go to the field; [onFocused] reports that it does
 */
@Composable
fun ChatScreen(
    state: ChatUiState,
    catalogue: Catalogue,
    strings: Strings,
    onAction: (ChatAction) -> Unit,
    modifier: Modifier = Modifier,
    hasBack: Boolean = true,
    snackbar: SnackbarHostState? = null,
    wantsFocus: Boolean = false,
    onFocused: () -> Unit = {},
) {
    Surface(modifier.fillMaxSize()) {
        Column {
            ChatTopBar(state, catalogue, hasBack, strings, onAction)
            Box(Modifier.weight(1f)) {
                key(state.session?.id) { Messages(state, strings, onAction) }
                if (snackbar != null) SnackbarHost(snackbar, Modifier.align(Alignment.BottomCenter))
            }
            Column(Modifier.navigationBarsPadding().imePadding()) {
                AnimatedVisibility(state.isCompacting) { CompactingLine(strings) }
                Composer(state, strings, onAction, wantsFocus = wantsFocus, onFocused = onFocused)
            }
        }
    }
}

@Composable
private fun Messages(state: ChatUiState, strings: Strings, onAction: (ChatAction) -> Unit) {
    when {
        state.isLoading && state.items.isEmpty() && state.turns.isEmpty() -> Loading(strings.common.loading, Modifier.fillMaxSize())
        state.isEmpty -> EmptyState(ClawIcons.Chat, strings.chat.empty, strings.chat.emptyHint)
        else -> MessageList(state, strings, onAction, Modifier.fillMaxSize())
    }
}

/** Shown from the beginning of a compaction to its end. */
@Composable
private fun CompactingLine(strings: Strings) {
    Surface(color = MaterialTheme.colorScheme.secondaryContainer, contentColor = MaterialTheme.colorScheme.onSecondaryContainer) {
        Row(
            Modifier.fillMaxWidth().padding(horizontal = 20.dp, vertical = 8.dp).semantics { liveRegion = LiveRegionMode.Polite },
            verticalAlignment = Alignment.CenterVertically,
            horizontalArrangement = Arrangement.spacedBy(12.dp),
        ) {
            CircularProgressIndicator(Modifier.size(16.dp).clearAndSetSemantics {}, strokeWidth = 2.dp)
            Text(strings.chat.compacting, style = MaterialTheme.typography.bodyMedium)
        }
    }
}
