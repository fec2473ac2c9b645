//! Texts on the screen.

use ratatui::Frame;
use ratatui::layout::Constraint;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};

use crate::Theme;

/// How many rows `lines` take when words are not cut.
pub fn wrapped(lines: &[Line<'_>], width: u16) -> usize {
    let width = usize::from(width);
    let rows = |line: &Line<'_>| {
        let (mut rows, mut column) = (1, 0);
        for word in line.to_string().split_inclusive(' ').map(|word| word.chars().count()) {
            if column > 0 && column + word > width + 1 {
                (rows, column) = (rows + 1, 0);
            }
            column += word;
        }
        rows
    };
    lines.iter().map(rows).sum()
}

/// Draws `help` in a box over the middle of the frame.
pub fn draw_help(frame: &mut Frame<'_>, theme: Theme, help: &str) {
    let length = |count: usize| Constraint::Length(u16::try_from(count + 2).unwrap_or(u16::MAX));
    let widest = help.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let area = frame.area().centered(length(widest), length(help.lines().count()));
    frame.render_widget(Clear, area);
    frame.render_widget(
        Paragraph::new(help).block(Block::bordered().title(" keys and words ").style(theme.strong)),
        area,
    );
}
