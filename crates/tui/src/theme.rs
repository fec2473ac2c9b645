//! Colours, and whether there are any.

use ratatui::style::{Color, Modifier, Style};

/// How a view looks.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
    /// Names of things, and what matters less.
    pub label: Style,
    /// What is looked for first.
    pub strong: Style,
    /// What is as it should be.
    pub good: Style,
    /// What is not.
    pub bad: Style,
    /// Lines of charts and bars.
    pub line: Style,
}

impl Theme {
    /// With colours or, for terminals and users without, in bold and reversed letters.
    pub const fn new(colour: bool) -> Self {
        let plain = Style::new();
        // Dim rather than grey, which some palettes make the colour of the ground.
        let strong = plain.add_modifier(Modifier::BOLD).remove_modifier(Modifier::DIM);
        if !colour {
            let bad = strong.add_modifier(Modifier::REVERSED);
            return Self { label: plain, strong, good: plain, bad, line: plain };
        }
        Self {
            label: plain.add_modifier(Modifier::DIM),
            strong,
            good: plain.fg(Color::Green),
            bad: strong.fg(Color::Red),
            line: plain.fg(Color::Cyan),
        }
    }
}

/// Whether the terminal knows no more than letters and the end of a line.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term == "dumb")
}

/// <https://no-color.org>: not when `NO_COLOR` is set, and not to nothing.
pub fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
