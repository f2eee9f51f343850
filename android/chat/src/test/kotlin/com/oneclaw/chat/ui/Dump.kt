package com.oneclaw.chat.ui

import androidx.compose.ui.semantics.SemanticsActions
import androidx.compose.ui.semantics.SemanticsConfiguration
import androidx.compose.ui.semantics.SemanticsNode
import androidx.compose.ui.semantics.SemanticsProperties
import androidx.compose.ui.semantics.SemanticsPropertyKey
import androidx.compose.ui.semantics.getOrNull
import androidx.compose.ui.state.ToggleableState
import androidx.compose.ui.test.SkikoComposeUiTest
import androidx.compose.ui.test.isRoot

/** What a person who listens to the screen finds on it, one line each, indented by nesting. Positions are left out. */
fun SkikoComposeUiTest.dump(): String =
    onAllNodes(isRoot()).fetchSemanticsNodes().joinToString("--\n") { root -> buildString { append(root, depth = 0) } }

private fun StringBuilder.append(node: SemanticsNode, depth: Int) {
    val line = describe(node.config)
    if (line.isNotEmpty()) append("  ".repeat(depth)).append(line).append('\n')
    val children = if (line.isEmpty()) depth else depth + 1
    node.children.forEach { append(it, children) }
}

private fun describe(config: SemanticsConfiguration): String = listOfNotNull(
    config.getOrNull(SemanticsProperties.Role)?.toString(),
    "heading".takeIf { SemanticsProperties.Heading in config },
    "dialog".takeIf { SemanticsProperties.IsDialog in config },
    "popup".takeIf { SemanticsProperties.IsPopup in config },
    "field".takeIf { SemanticsActions.SetText in config },
    "secret".takeIf { SemanticsProperties.Password in config },
    "live".takeIf { SemanticsProperties.LiveRegion in config },
    config.getOrNull(SemanticsProperties.TestTag)?.let { "#$it" },
    config.getOrNull(SemanticsProperties.ContentDescription)?.joinToString()?.let { "($it)" },
    config.getOrNull(SemanticsProperties.Text)?.joinToString(" / ")?.let { quoted(it) },
    config.getOrNull(SemanticsProperties.EditableText)?.let { "=" + quoted(it.text) },
    "on".takeIf { config.getOrNull(SemanticsProperties.ToggleableState) == ToggleableState.On },
    "off".takeIf { config.getOrNull(SemanticsProperties.ToggleableState) == ToggleableState.Off },
    "selected".takeIf { config.getOrNull(SemanticsProperties.Selected) == true },
    "disabled".takeIf { config.has(SemanticsProperties.Disabled) },
    config.getOrNull(SemanticsProperties.Error)?.let { "error" },
    config.getOrNull(SemanticsProperties.StateDescription)?.let { "<$it>" },
    config.getOrNull(SemanticsActions.OnClick)?.let { action -> "click" + action.label?.let { ": $it" }.orEmpty() },
).joinToString(" ")

private fun SemanticsConfiguration.has(key: SemanticsPropertyKey<*>) = key in this

private fun quoted(text: String) = "\"" + text.replace("\n", "⏎") + "\""
