package com.oneclaw.chat.ui.sessions

import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.PaddingValues
import androidx.compose.foundation.layout.fillMaxSize
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.lazy.LazyColumn
import androidx.compose.foundation.lazy.items
import androidx.compose.foundation.lazy.rememberLazyListState
import androidx.compose.foundation.text.input.TextFieldLineLimits
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.automirrored.filled.ArrowBack
import androidx.compose.material.icons.filled.Add
import androidx.compose.material.icons.filled.Close
import androidx.compose.material.icons.filled.Delete
import androidx.compose.material.icons.filled.Search
import androidx.compose.material.icons.filled.Settings
import androidx.compose.material3.ExperimentalMaterial3Api
import androidx.compose.material3.ExtendedFloatingActionButton
import androidx.compose.material3.Icon
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.OutlinedButton
import androidx.compose.material3.Scaffold
import androidx.compose.material3.SnackbarHost
import androidx.compose.material3.SnackbarHostState
import androidx.compose.material3.Text
import androidx.compose.material3.TextField
import androidx.compose.material3.TextFieldDefaults
import androidx.compose.material3.TopAppBar
import androidx.compose.runtime.Composable
import androidx.compose.runtime.LaunchedEffect
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.platform.testTag
import androidx.compose.ui.semantics.LiveRegionMode
import androidx.compose.ui.semantics.liveRegion
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.style.TextAlign
import androidx.compose.ui.text.style.TextOverflow
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Screen
import com.oneclaw.chat.SessionListState
import com.oneclaw.chat.Strings
import com.oneclaw.chat.ui.common.EmptyState
import com.oneclaw.chat.ui.common.IconAction
import com.oneclaw.chat.ui.common.Loading
import com.oneclaw.chat.ui.common.rememberSyncedField
import com.oneclaw.chat.ui.theme.ClawIcons
import com.oneclaw.core.Shelf

/** The tag of the list, for tests. */
const val SESSIONS = "sessions"

/**
 * The conversations, the latest first; or those that were deleted.
 *
 * @param openId the conversation shown beside the list; null where it is another screen
 * @param busy those that are being answered
 */
@Composable
fun SessionListScreen(
    state: SessionListState,
    strings: Strings,
    onAction: (ChatAction) -> Unit,
    modifier: Modifier = Modifier,
    openId: String? = null,
    busy: Set<String> = emptySet(),
    snackbar: SnackbarHostState? = null,
) {
    val isTrash = state.shelf == Shelf.DELETED
    Scaffold(
        modifier,
        topBar = { SessionsTopBar(isTrash, strings, onAction) },
        snackbarHost = { if (snackbar != null) SnackbarHost(snackbar) },
        floatingActionButton = {
            if (!isTrash) {
                ExtendedFloatingActionButton(
                    onClick = { onAction(ChatAction.NewSession) },
                    // The text is not read out here, only the icon's words are.
                    icon = { Icon(Icons.Filled.Add, contentDescription = strings.sessions.new) },
                    text = { Text(strings.sessions.new, maxLines = 1, overflow = TextOverflow.Ellipsis) },
                )
            }
        },
    ) { padding ->
        Column(Modifier.padding(padding).fillMaxSize()) {
            SearchField(state.search, strings, onAction)
            SessionRows(state, openId, busy, strings, onAction)
        }
    }
    SessionDialogs(state, strings, onAction)
}

@OptIn(ExperimentalMaterial3Api::class)
@Composable
private fun SessionsTopBar(isTrash: Boolean, strings: Strings, onAction: (ChatAction) -> Unit) {
    TopAppBar(
        title = {
            Text(if (isTrash) strings.sessions.trash else strings.sessions.title, maxLines = 1, overflow = TextOverflow.Ellipsis)
        },
        navigationIcon = {
            if (isTrash) {
                IconAction(
                    Icons.AutoMirrored.Filled.ArrowBack,
                    strings.sessions.open,
                    onClick = { onAction(ChatAction.ShowShelf(Shelf.OPEN)) },
                )
            }
        },
        actions = {
            if (!isTrash) {
                IconAction(
                    Icons.Filled.Delete,
                    strings.sessions.trash,
                    onClick = { onAction(ChatAction.ShowShelf(Shelf.DELETED)) },
                )
            }
            IconAction(
                Icons.Filled.Settings,
                strings.settings.title,
                onClick = { onAction(ChatAction.ShowScreen(Screen.SETTINGS)) },
            )
        },
    )
}

@OptIn(ExperimentalMaterial3Api::class)
@Composable
private fun SearchField(search: String, strings: Strings, onAction: (ChatAction) -> Unit) {
    val field = rememberSyncedField(search) { onAction(ChatAction.Search(it)) }
    TextField(
        state = field.state,
        modifier = Modifier.fillMaxWidth().padding(horizontal = 16.dp, vertical = 8.dp),
        placeholder = { Text(strings.sessions.search, maxLines = 1, overflow = TextOverflow.Ellipsis) },
        leadingIcon = { Icon(Icons.Filled.Search, contentDescription = null) },
        trailingIcon = if (search.isEmpty()) {
            null
        } else {
            { IconAction(Icons.Filled.Close, strings.sessions.clearSearch, onClick = { onAction(ChatAction.Search("")) }) }
        },
        lineLimits = TextFieldLineLimits.SingleLine,
        shape = MaterialTheme.shapes.extraLarge,
        colors = TextFieldDefaults.colors(
            focusedIndicatorColor = Color.Transparent,
            unfocusedIndicatorColor = Color.Transparent,
            focusedContainerColor = MaterialTheme.colorScheme.surfaceContainerHigh,
            unfocusedContainerColor = MaterialTheme.colorScheme.surfaceContainerHigh,
        ),
    )
}

@Composable
private fun SessionRows(
    state: SessionListState,
    openId: String?,
    busy: Set<String>,
    strings: Strings,
    onAction: (ChatAction) -> Unit,
) {
    if (state.isEmpty) return NoSessions(state, strings)
    val list = rememberLazyListState()
    LazyColumn(
        Modifier.fillMaxSize().testTag(SESSIONS),
        state = list,
        // The last row can be scrolled out from under the button.
        contentPadding = PaddingValues(start = 8.dp, end = 8.dp, bottom = 96.dp),
    ) {
        items(state.sessions, key = { it.id }) { session ->
            SessionRow(session, isOpen = session.id == openId, isBusy = session.id in busy, strings, onAction, Modifier.animateItem())
        }
        if (state.canRetry) {
            // What was read is read again; then the list goes on from where it ends.
            item("failed") { FailedRow(strings, onRetry = { onAction(ChatAction.Search(state.search)) }) }
        } else if (state.isLoading || state.hasMore) {
            item("more") {
                Box { Loading(strings.common.loading) }
                // Not while the list is read: that would be left aside, and not asked for again.
                if (state.hasMore && !state.isLoading) LaunchedEffect(state.next) { onAction(ChatAction.LoadMoreSessions) }
            }
        }
    }
}

@Composable
private fun FailedRow(strings: Strings, onRetry: () -> Unit) {
    Column(
        Modifier.fillMaxWidth().padding(16.dp).semantics { liveRegion = LiveRegionMode.Polite },
        horizontalAlignment = Alignment.CenterHorizontally,
        verticalArrangement = Arrangement.spacedBy(8.dp),
    ) {
        Text(strings.sessions.failed, textAlign = TextAlign.Center, color = MaterialTheme.colorScheme.error)
        OutlinedButton(onRetry) { Text(strings.common.retry) }
    }
}

@Composable
private fun NoSessions(state: SessionListState, strings: Strings) {
    val isSearch = state.search.isNotBlank()
    val title = when {
        isSearch -> strings.sessions.nothingFound
        state.shelf == Shelf.DELETED -> strings.sessions.trashEmpty
        else -> strings.sessions.empty
    }
    val hint = strings.sessions.emptyHint.takeUnless { isSearch || state.shelf == Shelf.DELETED }
    val icon = if (isSearch) Icons.Filled.Search else if (state.shelf == Shelf.DELETED) Icons.Filled.Delete else ClawIcons.Chat
    EmptyState(icon, title, hint, Modifier.padding(bottom = 64.dp))
}
