package com.oneclaw.chat.ui.settings

import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.fillMaxSize
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.widthIn
import androidx.compose.foundation.rememberScrollState
import androidx.compose.foundation.verticalScroll
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.automirrored.filled.ArrowBack
import androidx.compose.material3.ExperimentalMaterial3Api
import androidx.compose.material3.HorizontalDivider
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Scaffold
import androidx.compose.material3.SegmentedButton
import androidx.compose.material3.SegmentedButtonDefaults
import androidx.compose.material3.SingleChoiceSegmentedButtonRow
import androidx.compose.material3.SnackbarHost
import androidx.compose.material3.SnackbarHostState
import androidx.compose.material3.Text
import androidx.compose.material3.TopAppBar
import androidx.compose.runtime.Composable
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.platform.testTag
import androidx.compose.ui.text.style.TextOverflow
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.Catalogue
import com.oneclaw.chat.ChatAction
import com.oneclaw.chat.SettingsState
import com.oneclaw.chat.Strings
import com.oneclaw.chat.Theme
import com.oneclaw.chat.ui.common.IconAction
import com.oneclaw.chat.ui.common.Loading
import com.oneclaw.chat.ui.common.SectionTitle

/** The tag of what scrolls, for tests. */
const val SETTINGS = "settings"

/** Services with their keys and models, the rules of compaction, and how the app looks. */
@OptIn(ExperimentalMaterial3Api::class)
@Composable
fun SettingsScreen(
    state: SettingsState,
    catalogue: Catalogue,
    strings: Strings,
    onAction: (ChatAction) -> Unit,
    modifier: Modifier = Modifier,
    snackbar: SnackbarHostState? = null,
) {
    Scaffold(
        modifier,
        topBar = {
            TopAppBar(
                title = { Text(strings.settings.title) },
                navigationIcon = {
                    IconAction(Icons.AutoMirrored.Filled.ArrowBack, strings.common.back, onClick = { onAction(ChatAction.Back) })
                },
            )
        },
        snackbarHost = { if (snackbar != null && !state.hasDialog) SnackbarHost(snackbar) },
    ) { padding ->
        Column(
            Modifier.padding(padding).fillMaxSize().testTag(SETTINGS).verticalScroll(rememberScrollState()),
            horizontalAlignment = Alignment.CenterHorizontally,
        ) {
            Column(
                Modifier.widthIn(max = 720.dp).fillMaxWidth().padding(horizontal = 20.dp, vertical = 8.dp),
                verticalArrangement = Arrangement.spacedBy(12.dp),
            ) {
                if (state.isLoading) {
                    Loading(strings.common.loading)
                } else {
                    SettingsContent(state, catalogue, strings, onAction)
                }
            }
        }
    }
    state.provider?.let { ProviderDialog(it, strings, snackbar, onAction) }
    state.model?.let { ModelDialog(it, strings, snackbar, onAction) }
    state.offer?.let { OfferDialog(it, strings, snackbar, onAction) }
    state.removing?.let { RemovalDialog(it, strings, onAction) }
}

/** Whether something stands over the screen, which then shows the Snackbar in its place. */
private val SettingsState.hasDialog: Boolean get() = provider != null || model != null || offer != null

@Composable
private fun SettingsContent(state: SettingsState, catalogue: Catalogue, strings: Strings, onAction: (ChatAction) -> Unit) {
    SectionTitle(strings.settings.providers)
    ProviderList(catalogue, strings, onAction)
    HorizontalDivider()
    SectionTitle(strings.settings.compaction)
    PolicySection(state.policy, catalogue, strings, onAction)
    HorizontalDivider()
    SectionTitle(strings.settings.theme)
    ThemeChoice(state.theme, strings, onAction)
    SectionTitle(strings.settings.language)
    Text(
        strings.settings.languageHint,
        Modifier.padding(bottom = 24.dp),
        style = MaterialTheme.typography.bodyMedium,
        color = MaterialTheme.colorScheme.onSurfaceVariant,
    )
}

@Composable
private fun ThemeChoice(theme: Theme, strings: Strings, onAction: (ChatAction) -> Unit) {
    SingleChoiceSegmentedButtonRow(Modifier.fillMaxWidth()) {
        Theme.entries.forEachIndexed { index, choice ->
            SegmentedButton(
                selected = choice == theme,
                onClick = { onAction(ChatAction.SetTheme(choice)) },
                shape = SegmentedButtonDefaults.itemShape(index, Theme.entries.size),
                icon = {},
            ) { Text(strings.of(choice), maxLines = 1, overflow = TextOverflow.Ellipsis) }
        }
    }
}
