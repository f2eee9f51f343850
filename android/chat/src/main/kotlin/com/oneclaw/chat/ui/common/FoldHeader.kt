package com.oneclaw.chat.ui.common

import androidx.compose.foundation.clickable
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.PaddingValues
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.RowScope
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.filled.KeyboardArrowDown
import androidx.compose.material3.Icon
import androidx.compose.material3.MaterialTheme
import androidx.compose.runtime.Composable
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.draw.rotate
import androidx.compose.ui.semantics.Role
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.semantics.stateDescription
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.Strings

private const val HALF_TURN = 180f

/**
 * The line that unfolds what is below it and folds it again. Who listens hears what the line is, how it stands, and what a tap
 * does.
 *
 * @param padding between the line, all of which can be tapped, and what stands in it
 * @param label what the line is, where its texts do not say it
 */
@Composable
internal fun FoldHeader(
    isOpen: Boolean,
    onToggle: () -> Unit,
    strings: Strings,
    padding: PaddingValues,
    modifier: Modifier = Modifier,
    label: String? = null,
    content: @Composable RowScope.() -> Unit,
) {
    val words = strings.common
    Row(
        modifier
            .clickable(onClickLabel = if (isOpen) words.collapse else words.expand, role = Role.Button, onClick = onToggle)
            .heightIn(min = 48.dp)
            .padding(padding)
            .semantics {
                stateDescription = if (isOpen) words.expanded else words.collapsed
                if (label != null) contentDescription = label
            },
        verticalAlignment = Alignment.CenterVertically,
        horizontalArrangement = Arrangement.spacedBy(10.dp),
    ) {
        content()
        Icon(
            Icons.Filled.KeyboardArrowDown,
            contentDescription = null,
            Modifier.size(20.dp).rotate(if (isOpen) HALF_TURN else 0f),
            tint = MaterialTheme.colorScheme.onSurfaceVariant,
        )
    }
}
