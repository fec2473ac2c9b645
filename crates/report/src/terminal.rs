//! Columns of text for a terminal.

/// Columns as wide as their widest cell: the first so many flush left, figures flush right. The
/// cells of the first so many rows may be wider: they stand over the following columns too.
pub(crate) fn aligned(rows: &[Vec<String>], flush_left: usize, spanning: usize) -> String {
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
    for row in rows {
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
