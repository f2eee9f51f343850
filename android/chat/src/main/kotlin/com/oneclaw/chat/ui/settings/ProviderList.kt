package com.oneclaw.chat.ui.settings

import androidx.compose.foundation.clickable
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.FlowRow
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.filled.Add
import androidx.compose.material.icons.filled.Check
import androidx.compose.material.icons.filled.Edit
import androidx.compose.material.icons.filled.Lock
import androidx.compose.material.icons.filled.Search
import androidx.compose.material.icons.filled.Warning
import androidx.compose.material3.CardDefaults
import androidx.compose.material3.HorizontalDivider
import androidx.compose.material3.Icon
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.OutlinedButton
import androidx.compose.material3.OutlinedCard
import androidx.compose.material3.Text
import androidx.compose.material3.TextButton
import androidx.compose.runtime.Composable
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.graphics.vector.ImageVector
import androidx.compose.ui.text.style.TextOverflow
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.Catalogue
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.Strings
import com.oneclaw.chat.facts
import com.oneclaw.chat.ui.models.ModelDetails
import com.oneclaw.chat.ui.models.ModelName
import com.oneclaw.core.Model
import com.oneclaw.core.Provider

/** Each service in a card, with its models. */
@Composable
internal fun ProviderList(catalogue: Catalogue, strings: Strings, onAction: (ChatAction) -> Unit) {
    catalogue.providers.forEach { provider ->
        OutlinedCard(colors = CardDefaults.outlinedCardColors(containerColor = MaterialTheme.colorScheme.surfaceContainerLow)) {
            ProviderHeader(provider, catalogue, strings, onAction)
            HorizontalDivider()
            catalogue.modelsOf(provider.id).forEach { ModelLine(it, strings, onAction) }
            FlowRow(Modifier.padding(horizontal = 4.dp)) {
                LineButton(Icons.Filled.Add, strings.settings.addModel) { onAction(ChatAction.AddModel(provider.id)) }
                LineButton(Icons.Filled.Search, strings.settings.listModels) { onAction(ChatAction.OpenOffer(provider.id)) }
            }
        }
    }
    OutlinedButton(onClick = { onAction(ChatAction.AddProvider) }) {
        Icon(Icons.Filled.Add, contentDescription = null, Modifier.padding(end = 8.dp).size(18.dp))
        Text(strings.settings.addProvider)
    }
}

@Composable
private fun ProviderHeader(provider: Provider, catalogue: Catalogue, strings: Strings, onAction: (ChatAction) -> Unit) {
    Row(
        Modifier
            .fillMaxWidth()
            .clickable(onClickLabel = strings.common.edit) { onAction(ChatAction.EditProvider(provider)) }
            .padding(horizontal = 16.dp, vertical = 12.dp),
        verticalAlignment = Alignment.CenterVertically,
    ) {
        Column(Modifier.weight(1f), verticalArrangement = Arrangement.spacedBy(2.dp)) {
            Text(provider.name, style = MaterialTheme.typography.titleMedium)
            Text(
                provider.baseUrl,
                style = MaterialTheme.typography.bodySmall,
                color = MaterialTheme.colorScheme.onSurfaceVariant,
                maxLines = 1,
                overflow = TextOverflow.Ellipsis,
            )
            KeyLine(provider, catalogue, strings)
        }
        Icon(Icons.Filled.Edit, contentDescription = null, tint = MaterialTheme.colorScheme.onSurfaceVariant)
    }
}

@Composable
private fun KeyLine(provider: Provider, catalogue: Catalogue, strings: Strings) {
    val colors = MaterialTheme.colorScheme
    when {
        provider.id in catalogue.keys -> KeyLine(Icons.Filled.Lock, strings.settings.keySet, colors.primary)
        catalogue.lacksKey(provider) -> KeyLine(Icons.Filled.Warning, strings.settings.keyMissing, colors.tertiary)
        else -> KeyLine(icon = null, strings.settings.keyless, colors.onSurfaceVariant)
    }
}

@Composable
private fun KeyLine(icon: ImageVector?, text: String, color: Color) {
    Row(verticalAlignment = Alignment.CenterVertically, horizontalArrangement = Arrangement.spacedBy(4.dp)) {
        if (icon != null) Icon(icon, contentDescription = null, Modifier.size(14.dp), tint = color)
        Text(text, style = MaterialTheme.typography.labelMedium, color = color)
    }
}

@Composable
private fun ModelLine(model: Model, strings: Strings, onAction: (ChatAction) -> Unit) {
    Row(
        Modifier
            .fillMaxWidth()
            .clickable(onClickLabel = strings.common.edit) { onAction(ChatAction.EditModel(model)) }
            .heightIn(min = 48.dp)
            .padding(horizontal = 16.dp, vertical = 6.dp),
        verticalAlignment = Alignment.CenterVertically,
        horizontalArrangement = Arrangement.spacedBy(8.dp),
    ) {
        Column(Modifier.weight(1f)) {
            ModelName(model.displayName, model.isSwitchedOff)
            ModelDetails(model.facts, strings)
        }
        if (model.isDefault && !model.isSwitchedOff) {
            Icon(Icons.Filled.Check, contentDescription = strings.models.default, Modifier.size(18.dp), MaterialTheme.colorScheme.primary)
        }
    }
}

@Composable
private fun LineButton(icon: ImageVector, text: String, onClick: () -> Unit) {
    TextButton(onClick) {
        Icon(icon, contentDescription = null, Modifier.padding(end = 8.dp).size(18.dp))
        Text(text)
    }
}
