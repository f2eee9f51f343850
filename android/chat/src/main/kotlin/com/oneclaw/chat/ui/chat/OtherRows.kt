package com.oneclaw.chat.ui.chat

import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.offset
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.filled.Refresh
import androidx.compose.material.icons.filled.Warning
import androidx.compose.material3.ButtonDefaults
import androidx.compose.material3.CircularProgressIndicator
import androidx.compose.material3.FilledTonalButton
import androidx.compose.material3.HorizontalDivider
import androidx.compose.material3.Icon
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.material3.TextButton
import androidx.compose.runtime.Composable
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.semantics.LiveRegionMode
import androidx.compose.ui.semantics.clearAndSetSemantics
import androidx.compose.ui.semantics.liveRegion
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.style.TextAlign
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Failure
import com.oneclaw.chat.Strings
import com.oneclaw.chat.ui.markdown.Markdown
import com.oneclaw.core.ErrorCode

/** Something went wrong. [onRetry] and [onDismiss] are null where that is not offered. */
@Composable
internal fun FailureRow(title: String, text: String?, strings: Strings, onRetry: (() -> Unit)?, onDismiss: (() -> Unit)? = null) {
    Surface(
        Modifier.fillMaxWidth().semantics { liveRegion = LiveRegionMode.Polite },
        shape = MaterialTheme.shapes.medium,
        color = MaterialTheme.colorScheme.errorContainer,
        contentColor = MaterialTheme.colorScheme.onErrorContainer,
    ) {
        Row(Modifier.padding(14.dp), horizontalArrangement = Arrangement.spacedBy(12.dp)) {
            Icon(Icons.Filled.Warning, contentDescription = null, Modifier.size(20.dp))
            Column(verticalArrangement = Arrangement.spacedBy(4.dp)) {
                Text(title, style = MaterialTheme.typography.titleSmall)
                if (!text.isNullOrBlank() && text != title) Text(text, style = MaterialTheme.typography.bodyMedium)
                Row(horizontalArrangement = Arrangement.spacedBy(8.dp)) {
                    if (onRetry != null) RetryButton(strings, onRetry)
                    if (onDismiss != null) {
                        val colors = ButtonDefaults.textButtonColors(contentColor = MaterialTheme.colorScheme.onErrorContainer)
                        TextButton(onDismiss, if (onRetry == null) Modifier.offset(x = (-12).dp) else Modifier, colors = colors) { Text(strings.common.dismiss) }
                    }
                }
            }
        }
    }
}

@Composable
private fun RetryButton(strings: Strings, onClick: () -> Unit) {
    FilledTonalButton(
        onClick,
        colors = ButtonDefaults.filledTonalButtonColors(
            containerColor = MaterialTheme.colorScheme.error,
            contentColor = MaterialTheme.colorScheme.onError,
        ),
        contentPadding = ButtonDefaults.ButtonWithIconContentPadding,
    ) {
        Icon(Icons.Filled.Refresh, contentDescription = null, Modifier.padding(end = 8.dp).size(18.dp))
        Text(strings.common.retry)
    }
}

/** An error among the messages. The core's words are in English: they follow those of the app, which has none without [code]. */
@Composable
internal fun StoredFailureRow(text: String, code: ErrorCode?, canRetry: Boolean, strings: Strings, onAction: (ChatAction) -> Unit) {
    FailureRow(
        code?.let(strings::of) ?: strings.problems.unknown,
        text,
        strings,
        onRetry = if (canRetry) ({ onAction(ChatAction.Retry) }) else null,
    )
}

/** An error that is not stored among the messages. */
@Composable
internal fun LooseFailureRow(failure: Failure, canRetry: Boolean, strings: Strings, onAction: (ChatAction) -> Unit) {
    val (title, text) = when (failure) {
        is Failure.Reported -> strings.of(failure.code) to failure.text
        is Failure.Refused -> strings.of(failure.problem) to null
    }
    FailureRow(
        title,
        text,
        strings,
        onRetry = if (canRetry) ({ onAction(ChatAction.Retry) }) else null,
        onDismiss = { onAction(ChatAction.DismissFailure) },
    )
}

/** What the app itself has to say. */
@Composable
internal fun NoteRow(text: String, strings: Strings, onAction: (ChatAction) -> Unit) {
    Surface(Modifier.fillMaxWidth(), shape = MaterialTheme.shapes.medium, color = MaterialTheme.colorScheme.surfaceContainer) {
        Markdown(text, strings, onAction, Modifier.padding(14.dp))
    }
}

/** The line below what a summary stands for. It leads to the summary. */
@Composable
internal fun BoundaryRow(strings: Strings, onAction: (ChatAction) -> Unit) {
    Row(verticalAlignment = Alignment.CenterVertically, horizontalArrangement = Arrangement.spacedBy(8.dp)) {
        HorizontalDivider(Modifier.weight(1f))
        TextButton(onClick = { onAction(ChatAction.OpenContext) }) {
            Text(strings.chat.boundary, style = MaterialTheme.typography.labelMedium, textAlign = TextAlign.Center)
        }
        HorizontalDivider(Modifier.weight(1f))
    }
}

@Composable
internal fun EarlierRow(isLoading: Boolean, strings: Strings, onAction: (ChatAction) -> Unit) {
    Box(Modifier.fillMaxWidth(), contentAlignment = Alignment.Center) {
        TextButton(onClick = { onAction(ChatAction.LoadEarlier) }, enabled = !isLoading) {
            if (isLoading) {
                CircularProgressIndicator(Modifier.padding(end = 8.dp).size(16.dp).clearAndSetSemantics {}, strokeWidth = 2.dp)
            }
            Text(if (isLoading) strings.common.loading else strings.chat.loadEarlier)
        }
    }
}

/** Nothing of the reply is there yet. */
@Composable
internal fun WaitingRow(text: String) {
    Row(
        Modifier.padding(vertical = 8.dp),
        verticalAlignment = Alignment.CenterVertically,
        horizontalArrangement = Arrangement.spacedBy(12.dp),
    ) {
        CircularProgressIndicator(Modifier.size(16.dp).clearAndSetSemantics {}, strokeWidth = 2.dp)
        Text(text, style = MaterialTheme.typography.bodyMedium, color = MaterialTheme.colorScheme.onSurfaceVariant)
    }
}
