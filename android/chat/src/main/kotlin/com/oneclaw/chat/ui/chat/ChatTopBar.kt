package com.oneclaw.chat.ui.chat

import androidx.compose.foundation.Canvas
import androidx.compose.foundation.clickable
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.automirrored.filled.ArrowBack
import androidx.compose.material.icons.filled.Add
import androidx.compose.material.icons.filled.ArrowDropDown
import androidx.compose.material3.ExperimentalMaterial3Api
import androidx.compose.material3.Icon
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Text
import androidx.compose.material3.TopAppBar
import androidx.compose.runtime.Composable
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.draw.clip
import androidx.compose.ui.geometry.Offset
import androidx.compose.ui.geometry.Size
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.graphics.StrokeCap
import androidx.compose.ui.graphics.drawscope.Stroke
import androidx.compose.ui.semantics.Role
import androidx.compose.ui.semantics.clearAndSetSemantics
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.style.TextOverflow
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.Catalogue
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.ChatUiState
import com.oneclaw.chat.Meter
import com.oneclaw.chat.Screen
import com.oneclaw.chat.Strings
import com.oneclaw.chat.fill
import com.oneclaw.chat.formatTokens
import com.oneclaw.chat.ui.common.IconAction
import kotlin.math.roundToInt

private const val PERCENT = 100
private const val CIRCLE = 360f

@OptIn(ExperimentalMaterial3Api::class)
@Composable
internal fun ChatTopBar(state: ChatUiState, catalogue: Catalogue, hasBack: Boolean, strings: Strings, onAction: (ChatAction) -> Unit) {
    TopAppBar(
        title = { Title(state, catalogue, strings, onAction) },
        navigationIcon = {
            if (hasBack) {
                IconAction(
                    Icons.AutoMirrored.Filled.ArrowBack,
                    strings.sessions.title,
                    onClick = { onAction(ChatAction.ShowScreen(Screen.SESSIONS)) },
                )
            }
        },
        actions = {
            if (state.session != null) state.meter?.let { MeterChip(it, strings, onAction) }
            if (hasBack) IconAction(Icons.Filled.Add, strings.sessions.new, onClick = { onAction(ChatAction.NewSession) })
        },
    )
}

/** The name of the conversation, and the model that answers next, which can be changed here. */
@Composable
private fun Title(state: ChatUiState, catalogue: Catalogue, strings: Strings, onAction: (ChatAction) -> Unit) {
    val isUnknown = state.isLoading && state.session == null
    val model = catalogue.model(state.model)?.displayName ?: state.model?.modelId ?: strings.models.none.takeUnless { isUnknown }
    val name = state.session?.let { strings.titleOf(it.title) }
        ?: if (isUnknown) strings.common.loading else strings.sessions.new
    Column(
        Modifier
            .clip(MaterialTheme.shapes.small)
            .clickable(onClickLabel = strings.models.title, role = Role.Button) { onAction(ChatAction.OpenPicker) }
            .heightIn(min = 48.dp)
            .padding(horizontal = 8.dp),
        verticalArrangement = Arrangement.Center,
    ) {
        Text(name, style = MaterialTheme.typography.titleMedium, maxLines = 1, overflow = TextOverflow.Ellipsis)
        if (model == null) return@Column
        Row(verticalAlignment = Alignment.CenterVertically) {
            Text(
                model,
                Modifier.weight(1f, fill = false),
                style = MaterialTheme.typography.bodySmall,
                color = MaterialTheme.colorScheme.onSurfaceVariant,
                maxLines = 1,
                overflow = TextOverflow.Ellipsis,
            )
            Icon(Icons.Filled.ArrowDropDown, contentDescription = null, Modifier.size(18.dp))
        }
    }
}

/** How full the window is. A tap shows the details. */
@Composable
private fun MeterChip(meter: Meter, strings: Strings, onAction: (ChatAction) -> Unit) {
    val share = meter.share
    val used = formatTokens(meter.expected)
    val label = meter.window?.let { strings.context.usedText.fill(used, formatTokens(it)) }
        ?: (strings.context.sizeText.fill(used) + " · " + strings.models.windowUnknown)
    val isNearEnd = share != null && share >= (meter.triggerShare ?: 1f)
    val color = if (isNearEnd) MaterialTheme.colorScheme.error else MaterialTheme.colorScheme.primary
    Row(
        Modifier
            .clip(MaterialTheme.shapes.extraLarge)
            .clickable(role = Role.Button) { onAction(ChatAction.OpenContext) }
            .heightIn(min = 48.dp)
            .padding(horizontal = 10.dp)
            .semantics { contentDescription = strings.context.title + ": " + label },
        verticalAlignment = Alignment.CenterVertically,
        horizontalArrangement = Arrangement.spacedBy(8.dp),
    ) {
        if (share != null) Ring(share, color, MaterialTheme.colorScheme.surfaceContainerHighest)
        Text(
            share?.let { "${(it * PERCENT).roundToInt()}%" } ?: "$used / ?",
            Modifier.clearAndSetSemantics {},
            style = MaterialTheme.typography.labelLarge,
            maxLines = 1,
        )
    }
}

@Composable
private fun Ring(share: Float, color: Color, track: Color) {
    Canvas(Modifier.size(20.dp)) {
        val stroke = Stroke(3.dp.toPx(), cap = StrokeCap.Round)
        val inset = stroke.width / 2
        val size = Size(size.width - stroke.width, size.height - stroke.width)
        drawArc(track, 0f, CIRCLE, useCenter = false, topLeft = Offset(inset, inset), size = size, style = stroke)
        drawArc(color, -CIRCLE / 4, CIRCLE * share, useCenter = false, topLeft = Offset(inset, inset), size = size, style = stroke)
    }
}
