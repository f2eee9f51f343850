package com.oneclaw.chat.ui.markdown

import androidx.compose.foundation.background
import androidx.compose.foundation.horizontalScroll
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.IntrinsicSize
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxHeight
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.height
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.foundation.layout.width
import androidx.compose.foundation.layout.widthIn
import androidx.compose.foundation.rememberScrollState
import androidx.compose.foundation.shape.RoundedCornerShape
import androidx.compose.foundation.text.selection.DisableSelection
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.filled.Check
import androidx.compose.material3.HorizontalDivider
import androidx.compose.material3.Icon
import androidx.compose.material3.LocalContentColor
import androidx.compose.material3.LocalTextStyle
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.CompositionLocalProvider
import androidx.compose.runtime.remember
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.platform.LocalLayoutDirection
import androidx.compose.ui.semantics.heading
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.TextStyle
import androidx.compose.ui.text.font.FontWeight
import androidx.compose.ui.text.style.TextAlign
import androidx.compose.ui.text.style.TextDirection
import androidx.compose.ui.unit.LayoutDirection
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Strings
import com.oneclaw.chat.ui.LocalPlatform
import com.oneclaw.chat.ui.common.IconAction
import com.oneclaw.chat.ui.theme.ClawIcons
import com.oneclaw.chat.ui.theme.codeStyle

private val BLOCK_GAP = 10.dp
private val MARK_WIDTH = 24.dp

/** A text in Markdown. Read once for each text: a growing one is best given in pieces. A large one is shown in part until then. */
@Composable
fun Markdown(text: String, strings: Strings, onAction: (ChatAction) -> Unit, modifier: Modifier = Modifier) {
    val blocks = rememberBlocks(text) ?: return PlainText(text.take(LARGE_TEXT), modifier)
    Column(modifier, verticalArrangement = Arrangement.spacedBy(BLOCK_GAP)) {
        blocks.forEach { BlockView(it, strings, onAction) }
    }
}

@Composable
private fun BlockView(block: Block, strings: Strings, onAction: (ChatAction) -> Unit) {
    when (block) {
        is Block.Paragraph -> InlineText(block.content, MaterialTheme.typography.bodyLarge, Modifier.fillMaxWidth())
        is Block.Heading -> InlineText(
            block.content,
            headingStyle(block.level),
            Modifier.fillMaxWidth().padding(top = 4.dp).semantics { heading() },
        )
        is Block.Code -> CodeBlock(block, strings, onAction)
        is Block.Items -> Column(verticalArrangement = Arrangement.spacedBy(6.dp)) {
            block.items.forEach { ItemView(it, strings, onAction) }
        }
        is Block.Quote -> QuoteView(block, strings, onAction)
        is Block.Table -> TableView(block)
        is Block.Rule -> HorizontalDivider(Modifier.padding(vertical = 4.dp))
    }
}

@Composable
private fun headingStyle(level: Int): TextStyle {
    val type = MaterialTheme.typography
    val style = when (level) {
        1 -> type.headlineSmall
        2 -> type.titleLarge
        else -> type.titleMedium
    }
    return style.copy(fontWeight = FontWeight.SemiBold)
}

/** The direction follows the words, not the app: an English reply in an Arabic app reads from the left. */
@Composable
internal fun InlineText(content: List<Inline>, style: TextStyle, modifier: Modifier = Modifier, align: TextAlign = TextAlign.Start) {
    val colors = inlineColors()
    val text = remember(content, colors) { annotated(content, colors) }
    Text(text, modifier, style = style.copy(textDirection = TextDirection.Content, textAlign = align))
}

@Composable
private fun ItemView(item: Item, strings: Strings, onAction: (ChatAction) -> Unit) {
    Row {
        Box(Modifier.widthIn(min = MARK_WIDTH).padding(end = 8.dp)) { ItemMark(item) }
        Column(Modifier.weight(1f), verticalArrangement = Arrangement.spacedBy(6.dp)) {
            item.blocks.forEach { BlockView(it, strings, onAction) }
        }
    }
}

@Composable
private fun ItemMark(item: Item) {
    val style = MaterialTheme.typography.bodyLarge
    when {
        item.isDone != null -> Surface(
            Modifier.padding(top = 3.dp).size(18.dp),
            shape = RoundedCornerShape(4.dp),
            color = if (item.isDone) MaterialTheme.colorScheme.primary else MaterialTheme.colorScheme.surfaceContainerHighest,
        ) { if (item.isDone) Icon(Icons.Filled.Check, contentDescription = null, Modifier.padding(2.dp)) }
        item.number != null -> Text(item.number + ".", style = style, color = MaterialTheme.colorScheme.onSurfaceVariant)
        else -> Text("•", style = style, color = MaterialTheme.colorScheme.onSurfaceVariant)
    }
}

@Composable
private fun QuoteView(quote: Block.Quote, strings: Strings, onAction: (ChatAction) -> Unit) {
    Row(Modifier.height(IntrinsicSize.Min)) {
        Box(
            Modifier.width(3.dp).fillMaxHeight()
                .background(MaterialTheme.colorScheme.outlineVariant, RoundedCornerShape(2.dp)),
        )
        CompositionLocalProvider(LocalContentColor provides MaterialTheme.colorScheme.onSurfaceVariant) {
            Column(Modifier.padding(start = 12.dp).weight(1f), verticalArrangement = Arrangement.spacedBy(BLOCK_GAP)) {
                quote.blocks.forEach { BlockView(it, strings, onAction) }
            }
        }
    }
}

@Composable
private fun CodeBlock(code: Block.Code, strings: Strings, onAction: (ChatAction) -> Unit) {
    val platform = LocalPlatform.current
    Surface(
        Modifier.fillMaxWidth(),
        shape = MaterialTheme.shapes.medium,
        color = MaterialTheme.colorScheme.surfaceContainer,
        contentColor = MaterialTheme.colorScheme.onSurface,
    ) {
        Column {
            DisableSelection {
                Row(Modifier.padding(start = 14.dp), verticalAlignment = Alignment.CenterVertically) {
                    Text(
                        code.language,
                        Modifier.weight(1f),
                        style = MaterialTheme.typography.labelMedium,
                        color = MaterialTheme.colorScheme.onSurfaceVariant,
                    )
                    IconAction(
                        ClawIcons.Copy,
                        strings.chat.copyCode,
                        onClick = { if (platform.copy(code.text)) onAction(ChatAction.Copied) },
                        tint = MaterialTheme.colorScheme.onSurfaceVariant,
                        iconSize = 18.dp,
                    )
                }
            }
            LeftToRight { CodeText(code.text, Modifier.padding(bottom = 14.dp)) }
        }
    }
}

/** Lines of code, not wrapped; they scroll to the side. */
@Composable
internal fun CodeText(text: String, modifier: Modifier = Modifier) {
    Box(Modifier.fillMaxWidth().horizontalScroll(rememberScrollState()).then(modifier)) {
        Text(text, Modifier.padding(horizontal = 14.dp), style = codeStyle, softWrap = false)
    }
}

/** Code is written from left to right in every language. */
@Composable
internal fun LeftToRight(content: @Composable () -> Unit) =
    CompositionLocalProvider(LocalLayoutDirection provides LayoutDirection.Ltr) {
        CompositionLocalProvider(LocalTextStyle provides LocalTextStyle.current.copy(textDirection = TextDirection.Ltr), content)
    }
