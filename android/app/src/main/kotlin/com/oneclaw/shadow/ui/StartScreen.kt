package com.oneclaw.shadow.ui

import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.ColumnScope
import androidx.compose.foundation.layout.fillMaxSize
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.safeDrawingPadding
import androidx.compose.foundation.layout.widthIn
import androidx.compose.foundation.rememberScrollState
import androidx.compose.foundation.text.selection.SelectionContainer
import androidx.compose.foundation.verticalScroll
import androidx.compose.material3.Button
import androidx.compose.material3.CircularProgressIndicator
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.OutlinedButton
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.res.stringResource
import androidx.compose.ui.semantics.LiveRegionMode
import androidx.compose.ui.semantics.heading
import androidx.compose.ui.semantics.liveRegion
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.style.TextAlign
import androidx.compose.ui.unit.dp
import com.oneclaw.bridge.Problem
import com.oneclaw.chat.Strings
import com.oneclaw.chat.ui.theme.codeStyle
import com.oneclaw.shadow.R
import com.oneclaw.shadow.start.StartState

private val WIDTH = 480.dp

/** What is shown until there are conversations to show. */
@Composable
internal fun StartScreen(state: StartState, strings: Strings, actions: AppActions) {
    Surface(Modifier.fillMaxSize()) {
        when (state) {
            is StartState.Slow -> Middle {
                CircularProgressIndicator()
                Text(
                    stringResource(R.string.start_slow),
                    Modifier.semantics { liveRegion = LiveRegionMode.Polite },
                    textAlign = TextAlign.Center,
                )
            }
            is StartState.Failed -> Middle { Failed(state.problem, strings, actions) }
            is StartState.Opening, is StartState.Ready -> Unit
        }
    }
}

/** What happened and where, that nothing was deleted, and what can be done. */
@Composable
private fun Failed(problem: Problem, strings: Strings, actions: AppActions) {
    Text(
        stringResource(R.string.start_failed),
        Modifier.semantics { heading() },
        style = MaterialTheme.typography.headlineSmall,
        textAlign = TextAlign.Center,
    )
    Text(stringResource(R.string.start_failed_hint), Modifier.widthIn(max = WIDTH), textAlign = TextAlign.Center)
    // To be sent to whoever helps: of which kind it is, and the core's words, which name the file.
    SelectionContainer {
        Text("${strings.of(problem)}\n${problem.detail}", Modifier.widthIn(max = WIDTH), style = codeStyle)
    }
    Button(onClick = actions.retry) { Text(strings.common.retry) }
    OutlinedButton(onClick = actions.saveCopy) { Text(stringResource(R.string.save_copy)) }
}

@Composable
private fun Middle(content: @Composable ColumnScope.() -> Unit) {
    Column(
        Modifier.fillMaxSize().safeDrawingPadding().verticalScroll(rememberScrollState()).padding(24.dp),
        horizontalAlignment = Alignment.CenterHorizontally,
        verticalArrangement = Arrangement.spacedBy(16.dp, Alignment.CenterVertically),
        content = content,
    )
}
