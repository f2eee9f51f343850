package com.oneclaw.chat.ui.context

import androidx.compose.foundation.Canvas
import androidx.compose.foundation.background
import androidx.compose.foundation.border
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.height
import androidx.compose.foundation.layout.size
import androidx.compose.foundation.shape.CircleShape
import androidx.compose.material3.ColorScheme
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.geometry.CornerRadius
import androidx.compose.ui.geometry.Offset
import androidx.compose.ui.geometry.RoundRect
import androidx.compose.ui.geometry.Size
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.graphics.Path
import androidx.compose.ui.graphics.drawscope.DrawScope
import androidx.compose.ui.graphics.drawscope.clipPath
import androidx.compose.ui.platform.LocalLayoutDirection
import androidx.compose.ui.semantics.clearAndSetSemantics
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.unit.LayoutDirection
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.Meter
import com.oneclaw.chat.Part
import com.oneclaw.chat.Segment
import com.oneclaw.chat.Strings
import com.oneclaw.chat.fill
import com.oneclaw.chat.formatTokens

/** The window of the model as a bar of its parts, with a mark where a compaction begins, and what the colours mean. */
@Composable
internal fun ContextMeter(meter: Meter, strings: Strings) {
    val used = formatTokens(meter.expected)
    val window = meter.window
    val title = if (window == null) strings.context.sizeText.fill(used) else strings.context.usedText.fill(used, formatTokens(window))
    Column(verticalArrangement = Arrangement.spacedBy(10.dp)) {
        Text(title, style = MaterialTheme.typography.headlineSmall)
        Bar(meter, title)
        meter.trigger?.let { trigger ->
            Row(verticalAlignment = Alignment.CenterVertically, horizontalArrangement = Arrangement.spacedBy(8.dp)) {
                Box(Modifier.size(width = 2.dp, height = 14.dp).background(MaterialTheme.colorScheme.error))
                SmallText(strings.context.triggerText.fill(formatTokens(trigger)))
            }
        }
        Legend(meter.segments.filterNot { window == null && it.part == Part.FREE }, strings)
    }
}

@Composable
private fun SmallText(text: String) =
    Text(text, style = MaterialTheme.typography.bodyMedium, color = MaterialTheme.colorScheme.onSurfaceVariant)

@Composable
private fun Bar(meter: Meter, label: String) {
    val colors = MaterialTheme.colorScheme
    val isRtl = LocalLayoutDirection.current == LayoutDirection.Rtl
    Canvas(Modifier.fillMaxWidth().height(28.dp).clearAndSetSemantics { contentDescription = label }) {
        val shape = Path().apply { addRoundRect(RoundRect(0f, 0f, size.width, size.height, CornerRadius(8.dp.toPx()))) }
        clipPath(shape) { drawSegments(meter.segments, colors, isRtl) }
        meter.triggerShare?.let { drawMark(it, colors.error, isRtl) }
    }
}

private fun DrawScope.drawSegments(segments: List<Segment>, colors: ColorScheme, isRtl: Boolean) {
    var start = 0f
    for (segment in segments) {
        val width = segment.share * size.width
        val left = if (isRtl) size.width - start - width else start
        drawRect(colors.of(segment.part), Offset(left, 0f), Size(width, size.height))
        start += width
    }
}

private fun DrawScope.drawMark(share: Float, color: Color, isRtl: Boolean) {
    val x = size.width * if (isRtl) 1 - share else share
    drawLine(color, Offset(x, -4.dp.toPx()), Offset(x, size.height + 4.dp.toPx()), 2.dp.toPx())
}

@Composable
private fun Legend(segments: List<Segment>, strings: Strings) {
    Column(verticalArrangement = Arrangement.spacedBy(6.dp)) {
        segments.forEach { segment ->
            Row(verticalAlignment = Alignment.CenterVertically, horizontalArrangement = Arrangement.spacedBy(10.dp)) {
                Box(
                    Modifier.size(12.dp)
                        .background(MaterialTheme.colorScheme.of(segment.part), CircleShape)
                        .border(1.dp, MaterialTheme.colorScheme.outlineVariant, CircleShape),
                )
                Text(strings.of(segment.part), Modifier.weight(1f), style = MaterialTheme.typography.bodyMedium)
                Text(formatTokens(segment.tokens), style = MaterialTheme.typography.bodyMedium)
            }
        }
    }
}

private fun ColorScheme.of(part: Part): Color = when (part) {
    Part.SYSTEM -> inversePrimary
    Part.TOOLS -> secondary
    Part.SUMMARY -> tertiary
    Part.MESSAGES -> primary
    Part.FREE -> surfaceContainerHighest
}
