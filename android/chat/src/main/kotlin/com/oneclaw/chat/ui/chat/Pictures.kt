package com.oneclaw.chat.ui.chat

import androidx.compose.foundation.Image
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.ColumnScope
import androidx.compose.foundation.layout.FlowRow
import androidx.compose.foundation.layout.fillMaxSize
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.material3.Icon
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.Immutable
import androidx.compose.runtime.LaunchedEffect
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.setValue
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.graphics.ImageBitmap
import androidx.compose.ui.layout.ContentScale
import androidx.compose.ui.platform.LocalDensity
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.style.TextAlign
import androidx.compose.ui.text.style.TextOverflow
import androidx.compose.ui.unit.Dp
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.Strings
import com.oneclaw.chat.fill
import com.oneclaw.chat.ui.LocalPictures
import com.oneclaw.chat.ui.theme.ClawIcons
import com.oneclaw.core.Attachment
import com.oneclaw.core.AttachmentContent

private val PICTURE_SIZE = 152.dp

/** A square is filled: a picture up to so many times as long as wide is still sharp then. */
private const val SHARP = 2

/** The pictures of a message. */
@Composable
internal fun Pictures(attachments: List<Attachment>, strings: Strings, modifier: Modifier = Modifier) {
    if (attachments.isEmpty()) return
    FlowRow(
        modifier,
        horizontalArrangement = Arrangement.spacedBy(8.dp),
        verticalArrangement = Arrangement.spacedBy(8.dp),
    ) { attachments.forEach { Picture(it, strings, PICTURE_SIZE) } }
}

/** One picture in a square. Until it is there its name stands in it, and if it cannot be read, that it cannot. */
@Composable
internal fun Picture(attachment: Attachment, strings: Strings, size: Dp, modifier: Modifier = Modifier) {
    val isPicture = attachment.mime.startsWith("image/")
    Surface(
        modifier.size(size).semantics {
            contentDescription = if (isPicture) strings.common.pictureText.fill(attachment.name) else attachment.name
        },
        shape = MaterialTheme.shapes.medium,
        color = MaterialTheme.colorScheme.surfaceContainerHighest,
        contentColor = MaterialTheme.colorScheme.onSurfaceVariant,
    ) {
        val loaded = if (isPicture) rememberLoaded(attachment.content, size) else null
        when {
            loaded == null -> Placeholder(attachment.name)
            loaded.bitmap == null -> Unreadable(attachment.name, strings)
            else -> Image(loaded.bitmap, contentDescription = null, Modifier.fillMaxSize(), contentScale = ContentScale.Crop)
        }
    }
}

/** What came of reading a picture; [bitmap] is null if it cannot be read. */
@Immutable
private class Loaded(val bitmap: ImageBitmap?)

/** The picture for a square of [size]; null: it is being read. */
@Composable
private fun rememberLoaded(content: AttachmentContent, size: Dp): Loaded? {
    val pictures = LocalPictures.current
    val pixels = with(LocalDensity.current) { (size * SHARP).roundToPx() }
    var loaded by remember(pictures, content, pixels) { mutableStateOf(pictures.kept(content, pixels)?.let(::Loaded)) }
    LaunchedEffect(pictures, content, pixels) {
        if (loaded == null) loaded = Loaded(pictures.load(content, pixels))
    }
    return loaded
}

@Composable
private fun Placeholder(name: String) = InTheMiddle {
    Icon(ClawIcons.Picture, contentDescription = null)
    Name(name)
}

@Composable
private fun Unreadable(name: String, strings: Strings) = InTheMiddle {
    Name(name)
    Text(
        strings.common.pictureUnreadable,
        color = MaterialTheme.colorScheme.error,
        style = MaterialTheme.typography.labelSmall,
        textAlign = TextAlign.Center,
        maxLines = 2,
        overflow = TextOverflow.Ellipsis,
    )
}

@Composable
private fun InTheMiddle(content: @Composable ColumnScope.() -> Unit) = Box(contentAlignment = Alignment.Center) {
    Column(Modifier.padding(8.dp), horizontalAlignment = Alignment.CenterHorizontally, content = content)
}

@Composable
private fun Name(name: String) =
    Text(name, style = MaterialTheme.typography.labelSmall, maxLines = 1, overflow = TextOverflow.Ellipsis)
