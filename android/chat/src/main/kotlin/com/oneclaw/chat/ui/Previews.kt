package com.oneclaw.chat.ui

import androidx.compose.runtime.Composable
import androidx.compose.ui.tooling.preview.Preview
import com.oneclaw.chat.AppUiState
import com.oneclaw.chat.ENGLISH
import com.oneclaw.chat.SampleData
import com.oneclaw.chat.Samples

// The three screens in an editor. Every other state is a sample away.

@Preview
@Composable
private fun SessionsPreview() = Sample(Samples.sessions)

@Preview
@Composable
private fun ChatPreview() = Sample(Samples.chat)

@Preview
@Composable
private fun SettingsPreview() = Sample(Samples.settings)

@Composable
private fun Sample(state: AppUiState) =
    OneClawApp(state, ENGLISH, Platform(copy = { true }, decode = { _, _ -> null }), SampleData.readAttachment, onAction = {})
