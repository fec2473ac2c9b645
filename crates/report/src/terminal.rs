//! Tables as columns of text, for a terminal.

use crate::cell::Cell;

/// How a table is laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// So many columns on the left hold words, flush left; the others hold figures, flush right.
    pub(crate) flush_left: usize,
    /// The cells of so many rows at the top may be wider than their columns: they stand over the following ones too.
    pub(crate) spanning: usize,
    /// What stands where nothing was measured.
    pub(crate) nothing: &'static str,
}

/// Columns as wide as their widest cell.
pub(crate) fn aligned(rows: &[Vec<Cell>], layout: Layout) -> String {
    let Layout { flush_left, spanning, nothing } = layout;
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| written(cell, nothing)).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .skip(spanning)
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let cell =
                if column < flush_left { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
            line += &cell;
            line += "   ";
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn written(cell: &Cell, nothing: &str) -> String {
    match cell {
        Cell::Quantity(quantity) => quantity.to_string(),
        Cell::Text(words) => words.clone(),
        Cell::Nothing => nothing.to_owned(),
    }
}
