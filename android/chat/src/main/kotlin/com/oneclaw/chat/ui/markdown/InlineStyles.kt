package com.oneclaw.chat.ui.markdown

import androidx.compose.material3.MaterialTheme
import androidx.compose.runtime.Composable
import androidx.compose.runtime.Immutable
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.text.AnnotatedString
import androidx.compose.ui.text.LinkAnnotation
import androidx.compose.ui.text.SpanStyle
import androidx.compose.ui.text.TextLinkStyles
import androidx.compose.ui.text.buildAnnotatedString
import androidx.compose.ui.text.font.FontFamily
import androidx.compose.ui.text.font.FontStyle
import androidx.compose.ui.text.font.FontWeight
import androidx.compose.ui.text.style.TextDecoration
import androidx.compose.ui.text.withLink
import androidx.compose.ui.text.withStyle
import androidx.compose.ui.unit.em

@Immutable
internal data class InlineColors(val link: Color, val codeBackground: Color)

@Composable
internal fun inlineColors() =
    InlineColors(MaterialTheme.colorScheme.primary, MaterialTheme.colorScheme.surfaceContainerHighest)

internal fun annotated(content: List<Inline>, colors: InlineColors): AnnotatedString =
    buildAnnotatedString { content.forEach { append(it, colors) } }

private fun AnnotatedString.Builder.append(inline: Inline, colors: InlineColors) {
    when (inline) {
        is Inline.Text -> append(inline.text)
        is Inline.Code -> withStyle(codeSpan(colors)) { append(inline.text) }
        is Inline.Styled -> withStyle(spanOf(inline.style)) { inline.content.forEach { append(it, colors) } }
        is Inline.Link -> withLink(LinkAnnotation.Url(inline.url, linkStyles(colors))) {
            inline.content.forEach { append(it, colors) }
        }
        is Inline.Break -> append('\n')
    }
}

private fun codeSpan(colors: InlineColors) =
    SpanStyle(fontFamily = FontFamily.Monospace, fontSize = 0.9.em, background = colors.codeBackground)

private fun linkStyles(colors: InlineColors) =
    TextLinkStyles(SpanStyle(color = colors.link, textDecoration = TextDecoration.Underline))

private fun spanOf(style: Style): SpanStyle = when (style) {
    Style.EMPHASIS -> SpanStyle(fontStyle = FontStyle.Italic)
    Style.STRONG -> SpanStyle(fontWeight = FontWeight.Bold)
    Style.STRIKE -> SpanStyle(textDecoration = TextDecoration.LineThrough)
}
