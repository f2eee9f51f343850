package com.oneclaw.chat.ui.sessions

import androidx.compose.foundation.clickable
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.filled.MoreVert
import androidx.compose.material3.CircularProgressIndicator
import androidx.compose.material3.DropdownMenu
import androidx.compose.material3.DropdownMenuItem
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.setValue
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.style.TextDirection
import androidx.compose.ui.text.style.TextOverflow
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Strings
import com.oneclaw.chat.fill
import com.oneclaw.chat.ui.LocalPlatform
import com.oneclaw.chat.ui.common.IconAction
import com.oneclaw.core.Session

@Composable
internal fun SessionRow(
    session: Session,
    isOpen: Boolean,
    isBusy: Boolean,
    strings: Strings,
    onAction: (ChatAction) -> Unit,
    modifier: Modifier = Modifier,
) {
    Surface(
        modifier,
        shape = MaterialTheme.shapes.large,
        color = if (isOpen) MaterialTheme.colorScheme.secondaryContainer else Color.Transparent,
    ) {
        Row(
            // A deleted conversation is not opened by accident: it has to be brought back first.
            (if (session.isDeleted) Modifier else Modifier.clickable { onAction(ChatAction.OpenSession(session.id)) })
                .padding(start = 12.dp, top = 10.dp, bottom = 10.dp),
            verticalAlignment = Alignment.CenterVertically,
        ) {
            Column(Modifier.weight(1f), verticalArrangement = Arrangement.spacedBy(2.dp)) {
                TitleLine(session, isBusy, strings)
                Text(
                    session.preview ?: strings.sessions.messagesText.fill(session.messageCount),
                    style = MaterialTheme.typography.bodyMedium.copy(textDirection = TextDirection.Content),
                    color = MaterialTheme.colorScheme.onSurfaceVariant,
                    maxLines = 1,
                    overflow = TextOverflow.Ellipsis,
                )
            }
            SessionMenu(session, strings, onAction)
        }
    }
}

@Composable
private fun TitleLine(session: Session, isBusy: Boolean, strings: Strings) {
    Row(verticalAlignment = Alignment.CenterVertically, horizontalArrangement = Arrangement.spacedBy(8.dp)) {
        // A title in the other direction still begins where the row begins.
        Box(Modifier.weight(1f)) {
            Text(
                strings.titleOf(session.title),
                style = MaterialTheme.typography.titleMedium.copy(textDirection = TextDirection.Content),
                maxLines = 1,
                overflow = TextOverflow.Ellipsis,
            )
        }
        if (isBusy) {
            CircularProgressIndicator(
                Modifier.size(14.dp).semantics { contentDescription = strings.sessions.answering },
                strokeWidth = 2.dp,
            )
        }
        Text(
            LocalPlatform.current.formatTime(session.updatedAt),
            style = MaterialTheme.typography.labelSmall,
            color = MaterialTheme.colorScheme.onSurfaceVariant,
            maxLines = 1,
        )
    }
}

@Composable
private fun SessionMenu(session: Session, strings: Strings, onAction: (ChatAction) -> Unit) {
    var isOpen by remember { mutableStateOf(false) }
    val entries = if (session.isDeleted) {
        listOf(
            strings.sessions.restore to ChatAction.RestoreSession(session.id),
            strings.sessions.purge to ChatAction.StartPurge(session),
        )
    } else {
        listOf(
            strings.sessions.rename to ChatAction.StartRename(session),
            strings.common.delete to ChatAction.DeleteSession(session),
        )
    }
    Box {
        IconAction(
            Icons.Filled.MoreVert,
            strings.common.more,
            onClick = { isOpen = true },
            tint = MaterialTheme.colorScheme.onSurfaceVariant,
        )
        DropdownMenu(isOpen, onDismissRequest = { isOpen = false }) {
            entries.forEach { (label, action) ->
                DropdownMenuItem(
                    text = { Text(label) },
                    onClick = {
                        isOpen = false
                        onAction(action)
                    },
                )
            }
        }
    }
}
