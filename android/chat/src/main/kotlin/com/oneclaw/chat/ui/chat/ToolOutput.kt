package com.oneclaw.chat.ui.chat

/** A piece of what a tool gave back. */
internal sealed interface OutputPart {
    data class Text(val text: String) : OutputPart

    /** A line of the core that says what is missing here. */
    data class Marker(val text: String) : OutputPart
}

/**
 * What the core writes where it leaves something out, on a line of its own: the two ways to shorten a result and the hint that
 * follows one of them (rust-core/oneclaw-context/src/truncate.rs), and what its own tools do not show
 * (rust-core/oneclaw-agent/src/tools).
 */
private val FORMS = listOf(
    """content truncated, showing first \d+ of \d+ characters""",
    """\d+ lines / \d+ bytes omitted""",
    """use read_file with offset/limit to see more""",
    """lines \d+-\d+ shown; read on with offset \d+""",
    """line \d+ is too long, only its beginning is shown; read on with offset \d+""",
    """binary content not shown: .*""",
)

/** Only a line feed ends a line, as in the core. */
private val MARKER = Regex("(?dm)^" + """\[\.\.\. (?:${FORMS.joinToString("|")}) \.\.\.]""" + "$")

/** The result of a tool and the lines about what is missing, in order. */
internal fun toolOutput(output: String): List<OutputPart> = buildList {
    var from = 0
    for (match in MARKER.findAll(output)) {
        addText(output.substring(from, match.range.first))
        add(OutputPart.Marker(match.value))
        from = match.range.last + 1
    }
    addText(output.substring(from))
}

/** Without the line breaks that set the markers apart. */
private fun MutableList<OutputPart>.addText(text: String) {
    val trimmed = text.trim('\n')
    if (trimmed.isNotBlank()) add(OutputPart.Text(trimmed))
}
