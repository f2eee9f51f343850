package com.oneclaw.chat.ui.chat

import androidx.compose.foundation.clickable
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.ColumnScope
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.offset
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.foundation.layout.widthIn
import androidx.compose.foundation.shape.RoundedCornerShape
import androidx.compose.foundation.text.selection.SelectionContainer
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.filled.Edit
import androidx.compose.material.icons.filled.MoreVert
import androidx.compose.material.icons.filled.Refresh
import androidx.compose.material3.DropdownMenu
import androidx.compose.material3.DropdownMenuItem
import androidx.compose.material3.Icon
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
import androidx.compose.ui.graphics.vector.ImageVector
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.isTraversalGroup
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.style.TextDirection
import androidx.compose.ui.text.style.TextOverflow
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ChatItem
import com.oneclaw.chat.Strings
import com.oneclaw.chat.fill
import com.oneclaw.chat.formatTokens
import com.oneclaw.chat.ui.LocalPlatform
import com.oneclaw.chat.ui.common.IconAction
import com.oneclaw.chat.ui.markdown.Markdown
import com.oneclaw.chat.ui.theme.ClawIcons
import com.oneclaw.core.Attachment
import com.oneclaw.core.Usage

private val BUBBLE = RoundedCornerShape(topStart = 20.dp, topEnd = 20.dp, bottomStart = 20.dp, bottomEnd = 6.dp)
private val MAX_BUBBLE = 520.dp

/** What can be done with a message. Each has an icon and a word, and is shown as either. */
internal class MessageAction(val icon: ImageVector, val label: String, val isEnabled: Boolean = true, val onClick: () -> Unit)

@Composable
internal fun actionsOf(item: ChatItem.Written, isQuiet: Boolean, strings: Strings, onAction: (ChatAction) -> Unit): List<MessageAction> {
    val copy = LocalPlatform.current.copy
    val copying = MessageAction(ClawIcons.Copy, strings.common.copy) {
        if (copy(item.text)) onAction(ChatAction.Copied)
    }
    val pinning = if (item.isPinned) {
        MessageAction(ClawIcons.Pin, strings.chat.unpin) { onAction(ChatAction.Unpin(item.messageId)) }
    } else {
        MessageAction(ClawIcons.PinOutline, strings.chat.pin) { onAction(ChatAction.Pin(item.messageId)) }
    }
    val again = when (item) {
        is ChatItem.User -> MessageAction(Icons.Filled.Edit, strings.common.edit, isQuiet) { onAction(ChatAction.StartEdit(item.messageId)) }
        is ChatItem.Reply -> MessageAction(Icons.Filled.Refresh, strings.chat.regenerate, isQuiet) {
            onAction(ChatAction.Regenerate(item.messageId))
        }
    }
    // The core answers only the newest message anew.
    return listOfNotNull(copying, again.takeIf { item.isNewest }, pinning)
}

/** What the user wrote. A tap shows what can be done with it. */
@Composable
internal fun UserRow(item: ChatItem.User, isQuiet: Boolean, strings: Strings, onAction: (ChatAction) -> Unit) {
    var isMenuOpen by remember { mutableStateOf(false) }
    Column(Modifier.fillMaxWidth(), horizontalAlignment = Alignment.End, verticalArrangement = Arrangement.spacedBy(4.dp)) {
        Box {
            Bubble(item.text, item.attachments, strings, onClick = { isMenuOpen = true })
            MessageMenu(isMenuOpen, actionsOf(item, isQuiet, strings, onAction), onClose = { isMenuOpen = false })
        }
        if (item.isPinned) PinnedLabel(strings)
    }
}

@Composable
internal fun Bubble(text: String, attachments: List<Attachment>, strings: Strings, onClick: (() -> Unit)? = null) {
    val click = if (onClick == null) Modifier else Modifier.clickable(onClickLabel = strings.chat.actions, onClick = onClick)
    // The author is read out together with the text.
    val author = Modifier.semantics(mergeDescendants = true) { contentDescription = strings.chat.you }
    Box(Modifier.fillMaxWidth().padding(start = 48.dp), contentAlignment = Alignment.CenterEnd) {
        Surface(
            Modifier.widthIn(max = MAX_BUBBLE),
            shape = BUBBLE,
            color = MaterialTheme.colorScheme.primaryContainer,
            contentColor = MaterialTheme.colorScheme.onPrimaryContainer,
        ) {
            Column(
                click.then(author).heightIn(min = 48.dp).padding(horizontal = 16.dp, vertical = 12.dp),
                verticalArrangement = Arrangement.spacedBy(8.dp, Alignment.CenterVertically),
            ) {
                Pictures(attachments, strings)
                if (text.isNotEmpty()) {
                    Text(text, style = MaterialTheme.typography.bodyLarge.copy(textDirection = TextDirection.Content))
                }
            }
        }
    }
}

@Composable
private fun MessageMenu(isOpen: Boolean, actions: List<MessageAction>, onClose: () -> Unit) {
    DropdownMenu(isOpen, onDismissRequest = onClose) {
        actions.forEach { action ->
            DropdownMenuItem(
                text = { Text(action.label) },
                onClick = {
                    onClose()
                    action.onClick()
                },
                leadingIcon = { Icon(action.icon, contentDescription = null) },
                enabled = action.isEnabled,
            )
        }
    }
}

/**
 * What the model wrote, over the whole width.
 *
 * @param isStep whether tools follow: then the turn is not over, and a menu takes the place of the row of icons
 */
@Composable
internal fun ReplyRow(
    item: ChatItem.Reply,
    isStep: Boolean,
    isQuiet: Boolean,
    folds: Folds,
    strings: Strings,
    onAction: (ChatAction) -> Unit,
) {
    val actions = actionsOf(item, isQuiet, strings, onAction)
    ReplyColumn(strings) {
        item.thinking?.let {
            ThinkingCard(it, isGrowing = false, folds.isOpen(item.key), onToggle = { folds.toggle(item.key) }, strings)
        }
        if (item.text.isNotBlank()) {
            Row {
                SelectionContainer(Modifier.weight(1f)) { Markdown(item.text, strings, onAction) }
                if (isStep) StepMenu(actions, strings)
            }
        }
        if (item.isInterrupted) InterruptedLabel(strings)
        if (item.isPinned) PinnedLabel(strings)
        if (!isStep) ReplyActions(item, actions, strings)
    }
}

/** What belongs to one reply. It has many parts, so who wrote it is read out once, before them. */
@Composable
internal fun ReplyColumn(strings: Strings, content: @Composable ColumnScope.() -> Unit) {
    val author = Modifier.semantics {
        isTraversalGroup = true
        contentDescription = strings.chat.assistant
    }
    Column(Modifier.fillMaxWidth().then(author), verticalArrangement = Arrangement.spacedBy(8.dp), content = content)
}

@Composable
private fun StepMenu(actions: List<MessageAction>, strings: Strings) {
    var isOpen by remember { mutableStateOf(false) }
    Box {
        IconAction(
            Icons.Filled.MoreVert,
            strings.chat.actions,
            onClick = { isOpen = true },
            tint = MaterialTheme.colorScheme.onSurfaceVariant,
            iconSize = 18.dp,
        )
        MessageMenu(isOpen, actions, onClose = { isOpen = false })
    }
}

@Composable
private fun ReplyActions(item: ChatItem.Reply, actions: List<MessageAction>, strings: Strings) {
    // The first icon stands where the text begins.
    Row(Modifier.offset(x = (-14).dp), verticalAlignment = Alignment.CenterVertically) {
        actions.forEach {
            IconAction(
                it.icon,
                it.label,
                it.onClick,
                enabled = it.isEnabled,
                tint = MaterialTheme.colorScheme.onSurfaceVariant,
                iconSize = 18.dp,
            )
        }
        val tokens = item.usage?.let { strings.context.sizeText.fill(formatTokens(it.all)) }
        Text(
            listOfNotNull(item.model, tokens).joinToString(" · "),
            Modifier.weight(1f).padding(start = 8.dp),
            style = MaterialTheme.typography.labelSmall,
            color = MaterialTheme.colorScheme.onSurfaceVariant,
            maxLines = 1,
            overflow = TextOverflow.Ellipsis,
        )
    }
}

private val Usage.all: Long get() = input + cacheRead + cacheWrite + output

@Composable
private fun PinnedLabel(strings: Strings) = SmallLabel(ClawIcons.Pin, strings.chat.pinned)

@Composable
private fun InterruptedLabel(strings: Strings) = SmallLabel(ClawIcons.Stop, strings.chat.interrupted)

@Composable
private fun SmallLabel(icon: ImageVector, text: String) {
    Surface(
        shape = MaterialTheme.shapes.small,
        color = MaterialTheme.colorScheme.surfaceContainerHigh,
        contentColor = MaterialTheme.colorScheme.onSurfaceVariant,
    ) {
        Row(
            Modifier.padding(horizontal = 8.dp, vertical = 4.dp),
            verticalAlignment = Alignment.CenterVertically,
            horizontalArrangement = Arrangement.spacedBy(4.dp),
        ) {
            Icon(icon, contentDescription = null, Modifier.size(14.dp))
            Text(text, style = MaterialTheme.typography.labelMedium)
        }
    }
}
