//! [`Style`]: colours where they are wanted (<https://no-color.org>).

/// Whether to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Coloured,
}

impl Style {
    pub(super) fn choose() -> Self {
        match std::env::var_os("NO_COLOR") {
            Some(value) if !value.is_empty() => Self::Plain,
            _ => Self::Coloured,
        }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Green for what is served, yellow for what suffers, red for what is lost.
    pub(super) fn share(self, share: f64, text: &str) -> String {
        self.with(
            match share {
                0.99.. => "32",
                0.5.. => "33",
                _ => "31",
            },
            text,
        )
    }

    pub(super) fn warning(self, text: &str) -> String {
        self.with("33", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Coloured => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}
