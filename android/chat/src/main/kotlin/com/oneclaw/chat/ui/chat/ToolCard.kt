package com.oneclaw.chat.ui.chat

import androidx.compose.animation.AnimatedVisibility
import androidx.compose.foundation.clickable
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
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
import androidx.compose.material.icons.filled.KeyboardArrowDown
import androidx.compose.material.icons.filled.Warning
import androidx.compose.material3.CardDefaults
import androidx.compose.material3.CircularProgressIndicator
import androidx.compose.material3.Icon
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.OutlinedCard
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.saveable.rememberSaveable
import androidx.compose.runtime.setValue
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.draw.rotate
import androidx.compose.ui.semantics.Role
import androidx.compose.ui.semantics.clearAndSetSemantics
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.semantics.stateDescription
import androidx.compose.ui.text.style.TextOverflow
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatItem
import com.oneclaw.chat.Strings
import com.oneclaw.chat.fill
import com.oneclaw.chat.formatDuration
import com.oneclaw.chat.ui.markdown.LeftToRight
import com.oneclaw.chat.ui.theme.ClawIcons
import com.oneclaw.chat.ui.theme.codeStyle
import com.oneclaw.core.ToolStatus

private val MARKER = Regex("\\s*(\\[\\.\\.\\. content truncated, showing first \\d+ of \\d+ characters \\.\\.\\.])\\s*$")
private const val MARKER_ROOM = 200
private val MAX_BODY = 280.dp

/** What a tool gave back, and the line that says that something is missing, if there is one. */
internal data class ToolOutput(val body: String, val marker: String?)

internal fun toolOutput(output: String): ToolOutput {
    // The line is at the end; looking further would take long in long results.
    val from = (output.length - MARKER_ROOM).coerceAtLeast(0)
    val match = MARKER.find(output, from) ?: return ToolOutput(output, null)
    return ToolOutput(output.substring(0, match.range.first), match.groupValues[1])
}

/** A tool at work: what it is and how it went; unfolded, what it was told and what it said. */
@Composable
internal fun ToolCard(tool: ChatItem.Tool, arguments: String, strings: Strings, modifier: Modifier = Modifier) {
    var isOpen by rememberSaveable { mutableStateOf(false) }
    OutlinedCard(
        modifier.fillMaxWidth(),
        colors = CardDefaults.outlinedCardColors(containerColor = MaterialTheme.colorScheme.surfaceContainerLow),
    ) {
        ToolHeader(tool, isOpen, strings, onClick = { isOpen = !isOpen })
        AnimatedVisibility(isOpen) { ToolBody(tool, arguments, strings) }
    }
}

@Composable
private fun ToolHeader(tool: ChatItem.Tool, isOpen: Boolean, strings: Strings, onClick: () -> Unit) {
    val duration = tool.durationMs?.let(::formatDuration)
    val status = listOfNotNull(strings.of(tool.status), duration).joinToString(" · ")
    val label = strings.tools.cardText.fill(tool.name, status)
    Row(
        Modifier
            .clickable(
                onClickLabel = if (isOpen) strings.common.collapse else strings.common.expand,
                role = Role.Button,
                onClick = onClick,
            )
            .heightIn(min = 48.dp)
            .padding(horizontal = 14.dp, vertical = 8.dp)
            .semantics {
                contentDescription = label
                stateDescription = if (isOpen) strings.common.collapse else strings.common.expand
            },
        verticalAlignment = Alignment.CenterVertically,
        horizontalArrangement = Arrangement.spacedBy(12.dp),
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
        Icon(Icons.Filled.KeyboardArrowDown, contentDescription = null, Modifier.rotate(if (isOpen) 180f else 0f))
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
            if (output.body.isNotBlank()) MachineText(output.body)
            output.marker?.let { Marker(it, strings) }
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

/** Says that the result was longer. */
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
