package com.oneclaw.chat.ui.chat

import androidx.compose.animation.AnimatedVisibility
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.PaddingValues
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.foundation.rememberScrollState
import androidx.compose.foundation.text.selection.SelectionContainer
import androidx.compose.foundation.verticalScroll
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.filled.CheckCircle
import androidx.compose.material.icons.filled.Warning
import androidx.compose.material3.CardDefaults
import androidx.compose.material3.CircularProgressIndicator
import androidx.compose.material3.Icon
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.OutlinedCard
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.remember
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.semantics.clearAndSetSemantics
import androidx.compose.ui.text.style.TextOverflow
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatItem
import com.oneclaw.chat.Strings
import com.oneclaw.chat.fill
import com.oneclaw.chat.ui.common.FoldHeader
import com.oneclaw.chat.ui.markdown.LeftToRight
import com.oneclaw.chat.ui.theme.ClawIcons
import com.oneclaw.chat.ui.theme.codeStyle
import com.oneclaw.core.ToolStatus

private val MAX_BODY = 280.dp

/** A tool at work: what it is and how it went; unfolded, what it was told and what it said. */
@Composable
internal fun ToolCard(tool: ChatItem.Tool, arguments: String, isOpen: Boolean, onToggle: () -> Unit, strings: Strings) {
    OutlinedCard(
        Modifier.fillMaxWidth(),
        colors = CardDefaults.outlinedCardColors(containerColor = MaterialTheme.colorScheme.surfaceContainerLow),
    ) {
        ToolHeader(tool, isOpen, onToggle, strings)
        AnimatedVisibility(isOpen) { ToolBody(tool, arguments, strings) }
    }
}

@Composable
private fun ToolHeader(tool: ChatItem.Tool, isOpen: Boolean, onToggle: () -> Unit, strings: Strings) {
    val duration = tool.durationMs?.let(strings::durationOf)
    val status = listOfNotNull(strings.of(tool.status), duration).joinToString(" · ")
    FoldHeader(
        isOpen,
        onToggle,
        strings,
        PaddingValues(horizontal = 14.dp, vertical = 8.dp),
        label = strings.tools.cardText.fill(tool.name, status),
    ) {
        StatusIcon(tool.status)
        Column(Modifier.weight(1f).clearAndSetSemantics {}) {
            LeftToRight { Text(tool.name, style = codeStyle, maxLines = 1, overflow = TextOverflow.Ellipsis) }
            Text(
                status,
                style = MaterialTheme.typography.labelMedium,
                color = MaterialTheme.colorScheme.onSurfaceVariant,
                maxLines = 1,
                overflow = TextOverflow.Ellipsis,
            )
        }
    }
}

@Composable
private fun StatusIcon(status: ToolStatus) {
    val size = Modifier.size(20.dp)
    when (status) {
        ToolStatus.PENDING -> Icon(ClawIcons.Clock, null, size, tint = MaterialTheme.colorScheme.onSurfaceVariant)
        ToolStatus.EXECUTING -> CircularProgressIndicator(size.clearAndSetSemantics {}, strokeWidth = 2.dp)
        ToolStatus.SUCCESS -> Icon(Icons.Filled.CheckCircle, null, size, tint = MaterialTheme.colorScheme.primary)
        ToolStatus.ERROR -> Icon(Icons.Filled.Warning, null, size, tint = MaterialTheme.colorScheme.error)
        ToolStatus.TIMEOUT -> Icon(ClawIcons.Clock, null, size, tint = MaterialTheme.colorScheme.error)
    }
}

@Composable
private fun ToolBody(tool: ChatItem.Tool, arguments: String, strings: Strings) {
    val output = remember(tool.output) { tool.output?.let(::toolOutput) }
    Column(
        Modifier.padding(start = 14.dp, end = 14.dp, bottom = 14.dp),
        verticalArrangement = Arrangement.spacedBy(6.dp),
    ) {
        if (arguments.isNotBlank()) {
            PartLabel(strings.tools.arguments)
            MachineText(arguments)
        }
        PartLabel(strings.tools.output)
        if (output == null) {
            Text(strings.tools.noOutput, style = MaterialTheme.typography.bodyMedium, color = MaterialTheme.colorScheme.onSurfaceVariant)
        } else {
            output.forEach {
                when (it) {
                    is OutputPart.Text -> MachineText(it.text)
                    is OutputPart.Marker -> Marker(it.text, strings)
                }
            }
        }
        Pictures(tool.attachments, strings)
    }
}

@Composable
private fun PartLabel(text: String) {
    Text(
        text,
        Modifier.padding(top = 4.dp),
        style = MaterialTheme.typography.labelMedium,
        color = MaterialTheme.colorScheme.onSurfaceVariant,
    )
}

@Composable
private fun MachineText(text: String) {
    Surface(
        Modifier.fillMaxWidth(),
        shape = MaterialTheme.shapes.small,
        color = MaterialTheme.colorScheme.surfaceContainerHigh,
    ) {
        Box(Modifier.heightIn(max = MAX_BODY).verticalScroll(rememberScrollState()).padding(10.dp)) {
            LeftToRight { SelectionContainer { Text(text, style = codeStyle) } }
        }
    }
}

/** Says what is missing here. */
@Composable
private fun Marker(text: String, strings: Strings) {
    Surface(
        shape = MaterialTheme.shapes.small,
        color = MaterialTheme.colorScheme.tertiaryContainer,
        contentColor = MaterialTheme.colorScheme.onTertiaryContainer,
    ) {
        Row(
            Modifier.padding(horizontal = 10.dp, vertical = 8.dp),
            verticalAlignment = Alignment.CenterVertically,
            horizontalArrangement = Arrangement.spacedBy(8.dp),
        ) {
            Icon(ClawIcons.Scissors, contentDescription = strings.tools.truncated, Modifier.size(18.dp))
            LeftToRight { Text(text, style = codeStyle) }
        }
    }
}
