package com.oneclaw.chat.ui.markdown

import androidx.compose.foundation.background
import androidx.compose.foundation.border
import androidx.compose.foundation.horizontalScroll
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.rememberScrollState
import androidx.compose.material3.MaterialTheme
import androidx.compose.runtime.Composable
import androidx.compose.ui.Modifier
import androidx.compose.ui.draw.clip
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.layout.Layout
import androidx.compose.ui.layout.Measurable
import androidx.compose.ui.platform.LocalLayoutDirection
import androidx.compose.ui.text.font.FontWeight
import androidx.compose.ui.text.style.TextAlign
import androidx.compose.ui.unit.Constraints
import androidx.compose.ui.unit.LayoutDirection
import androidx.compose.ui.unit.dp

private val MAX_COLUMN = 220.dp

/** More rows than this are not laid out: the message can be copied. */
private const val MAX_ROWS = 200

/** A table; wider than the screen, it scrolls to the side. */
@Composable
internal fun TableView(table: Block.Table) {
    Box(Modifier.fillMaxWidth().horizontalScroll(rememberScrollState())) {
        val shape = MaterialTheme.shapes.small
        Box(Modifier.clip(shape).border(1.dp, MaterialTheme.colorScheme.outlineVariant, shape)) {
            Grid(table.columns) {
                Cells(table, table.header, MaterialTheme.colorScheme.surfaceContainerHigh, isHeader = true)
                table.rows.take(MAX_ROWS).forEachIndexed { index, row ->
                    val isStriped = index % 2 == 1
                    Cells(table, row, if (isStriped) MaterialTheme.colorScheme.surfaceContainerLow else Color.Transparent)
                }
            }
        }
    }
}

@Composable
private fun Cells(table: Block.Table, row: List<Cell>, background: Color, isHeader: Boolean = false) {
    val style = MaterialTheme.typography.bodyMedium
        .let { if (isHeader) it.copy(fontWeight = FontWeight.SemiBold) else it }
    repeat(table.columns) { column ->
        Box(Modifier.background(background).padding(horizontal = 12.dp, vertical = 8.dp)) {
            val align = alignOf(table.alignments.getOrNull(column), LocalLayoutDirection.current)
            InlineText(row.getOrNull(column)?.content.orEmpty(), style, Modifier.fillMaxWidth(), align)
        }
    }
}

/** A column has one edge, whatever the script of its cells: where a text begins would differ from cell to cell. */
private fun alignOf(alignment: Alignment?, direction: LayoutDirection): TextAlign {
    val isLeft = (alignment == Alignment.END) == (direction == LayoutDirection.Rtl)
    return when {
        alignment == Alignment.CENTER -> TextAlign.Center
        isLeft -> TextAlign.Left
        else -> TextAlign.Right
    }
}

/** Cells in rows: a column is as wide as its widest cell, a row as high as its highest. */
@Composable
private fun Grid(columns: Int, content: @Composable () -> Unit) {
    Layout(content) { cells, _ ->
        val rows = cells.chunked(columns.coerceAtLeast(1))
        val widths = List(columns) { column ->
            rows.maxOf { it[column].maxIntrinsicWidth(Constraints.Infinity) }.coerceAtMost(MAX_COLUMN.roundToPx())
        }
        val heights = rows.map { row -> heightOf(row, widths) }
        val placed = rows.mapIndexed { y, row -> row.mapIndexed { x, cell -> cell.measure(Constraints.fixed(widths[x], heights[y])) } }
        layout(widths.sum(), heights.sum()) {
            var top = 0
            placed.forEachIndexed { y, row ->
                var start = 0
                row.forEachIndexed { x, cell ->
                    cell.placeRelative(start, top)
                    start += widths[x]
                }
                top += heights[y]
            }
        }
    }
}

private fun heightOf(row: List<Measurable>, widths: List<Int>): Int =
    row.mapIndexed { column, cell -> cell.maxIntrinsicHeight(widths[column]) }.max()
