//! [`Template`]: a page for refused clients, with places to fill in.

/// The waiting page of the house. It loads nothing and runs nothing.
pub(crate) const WAITING: &str = include_str!("waiting.html");

/// A page with places to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) pieces: Vec<Piece>,
    /// About how many bytes it has when it is filled in.
    pub(crate) length: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Literal(String),
    Seconds,
    Waiting,
    Refresh,
}

/// The placeholders of a [`Template`].
pub(crate) const PLACEHOLDERS: [&str; 3] = ["refresh", "seconds", "waiting"];

/// A place in a template that cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Misprint {
    #[error("line {line}: {{{{{word}}}}} cannot be filled in")]
    Unknown { line: usize, word: String },
    #[error("line {line}: {{{{ without its }}}}")]
    Open { line: usize },
}

impl Template {
    /// Reads a page with `{{seconds}}`, `{{waiting}}` and `{{refresh}}` in it.
    pub(crate) fn new(text: &str) -> Result<Self, Misprint> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, from)) = rest.split_once("{{") {
            let line = text[..text.len() - from.len()].lines().count().max(1);
            let (word, after) = from.split_once("}}").ok_or(Misprint::Open { line })?;
            pieces.push(Piece::Literal(before.to_owned()));
            pieces.push(match word.trim() {
                "seconds" => Piece::Seconds,
                "waiting" => Piece::Waiting,
                "refresh" => Piece::Refresh,
                word => return Err(Misprint::Unknown { line, word: word.to_owned() }),
            });
            rest = after;
        }
        pieces.push(Piece::Literal(rest.to_owned()));
        Ok(Self { pieces, length: text.len() + 64 })
    }

    /// A page with nothing to fill in.
    pub(crate) fn fixed(text: &str) -> Self {
        Self { pieces: vec![Piece::Literal(text.to_owned())], length: text.len() }
    }

    /// Whether it says the same whenever it is filled in with the same seconds.
    pub(crate) fn is_steady(&self) -> bool {
        !self.pieces.iter().any(|piece| matches!(piece, Piece::Waiting))
    }
}
