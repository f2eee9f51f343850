package com.oneclaw.chat.ui.markdown

/** All that is there to read, without marks. */
fun plainText(blocks: List<Block>): String = buildString { blocks.forEach { appendBlock(it) } }

private fun StringBuilder.appendBlock(block: Block) {
    when (block) {
        is Block.Paragraph -> appendLine(plainText(block.content))
        is Block.Heading -> appendLine(plainText(block.content))
        is Block.Code -> appendLine(block.info).appendLine(block.text)
        is Block.Items -> block.items.forEach { item ->
            item.number?.let { append(it).append(". ") }
            item.isDone?.let { append(if (it) "[x] " else "[ ] ") }
            append(plainText(item.blocks))
        }
        is Block.Quote -> append(plainText(block.blocks))
        is Block.Table -> (listOf(block.header) + block.rows).forEach { row ->
            appendLine(row.joinToString(" | ") { plainText(it.content) })
        }
        is Block.Rule -> appendLine()
    }
}

@JvmName("plainInline")
internal fun plainText(content: List<Inline>): String = buildString {
    content.forEach { inline ->
        when (inline) {
            is Inline.Text -> append(inline.text)
            is Inline.Code -> append(inline.text)
            is Inline.Styled -> append(plainText(inline.content))
            is Inline.Link -> {
                val label = plainText(inline.content)
                append(label)
                if (label != inline.url) append(' ').append(inline.url)
            }
            is Inline.Break -> append('\n')
        }
    }
}
