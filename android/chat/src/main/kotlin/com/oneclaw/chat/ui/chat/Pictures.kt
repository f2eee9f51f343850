package com.oneclaw.chat.ui.chat

import androidx.compose.foundation.Image
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
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
import androidx.compose.runtime.getValue
import androidx.compose.runtime.produceState
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.graphics.ImageBitmap
import androidx.compose.ui.layout.ContentScale
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.style.TextOverflow
import androidx.compose.ui.unit.Dp
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.Strings
import com.oneclaw.chat.fill
import com.oneclaw.chat.ui.LocalPlatform
import com.oneclaw.chat.ui.theme.ClawIcons
import com.oneclaw.core.Attachment
import java.util.Base64
import kotlinx.coroutines.CancellationException

private val PICTURE_SIZE = 152.dp

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

/** One picture in a square. While it is read, and if it cannot be, its name stands there. */
@Composable
internal fun Picture(attachment: Attachment, strings: Strings, size: Dp, modifier: Modifier = Modifier) {
    val decode = LocalPlatform.current.decode
    val picture by produceState<Decoded?>(null, attachment.data) { value = Decoded(decoded(attachment.data, decode)) }
    val label = strings.common.pictureText.fill(attachment.name)
    Surface(
        modifier.size(size).semantics { contentDescription = label },
        shape = MaterialTheme.shapes.medium,
        color = MaterialTheme.colorScheme.surfaceContainerHighest,
        contentColor = MaterialTheme.colorScheme.onSurfaceVariant,
    ) {
        val bitmap = picture?.bitmap
        if (bitmap != null) {
            Image(bitmap, contentDescription = null, Modifier.fillMaxSize(), contentScale = ContentScale.Crop)
        } else if (picture != null) {
            Placeholder(attachment.name)
        }
    }
}

@Composable
private fun Placeholder(name: String) {
    Box(contentAlignment = Alignment.Center) {
        Column(Modifier.padding(8.dp), horizontalAlignment = Alignment.CenterHorizontally) {
            Icon(ClawIcons.Picture, contentDescription = null)
            Text(name, style = MaterialTheme.typography.labelSmall, maxLines = 1, overflow = TextOverflow.Ellipsis)
        }
    }
}

/** What came of reading a picture; null: nothing. */
@Immutable
private class Decoded(val bitmap: ImageBitmap?)

private suspend fun decoded(data: String?, decode: suspend (ByteArray) -> ImageBitmap?): ImageBitmap? {
    if (data == null) return null
    return try {
        decode(Base64.getDecoder().decode(data))
    } catch (cancelled: CancellationException) {
        throw cancelled
    } catch (_: Exception) {
        null
    } catch (_: OutOfMemoryError) {
        null
    }
}
