//! [`Template`]: a page for refused clients, with places to fill in.

/// The waiting page of the house. It loads nothing and runs nothing.
pub const WAITING: &str = include_str!("waiting.html");

/// The forms that what the gate says can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A page for people.
    Page,
    /// Problem details (RFC 9457).
    Problem,
    /// Plain text.
    Text,
}

impl Form {
    /// Its media type.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Page => "text/html; charset=utf-8",
            Self::Problem => "application/problem+json",
            Self::Text => "text/plain; charset=utf-8",
        }
    }
}

/// A page with places to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// What it is made of, in order.
    pub pieces: Vec<Piece>,
    /// About how many bytes it has when it is filled in.
    pub length: usize,
}

/// A piece of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text as it stands.
    Literal(String),
    /// After how many seconds to ask again.
    Seconds,
    /// How many requests wait.
    Waiting,
    /// What makes a browser ask again by itself.
    Refresh,
    /// The number of a visitor in the waiting room.
    Place,
    /// About when its turn is, in words.
    Time,
    /// The same in minutes, as a number.
    Minutes,
}

/// The placeholders of a page for refused clients without a place.
pub const PLACEHOLDERS: [&str; 3] = ["refresh", "seconds", "waiting"];

/// A place in a template that cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misprint {
    /// A name that stands for nothing.
    #[error("line {line}: {{{{{word}}}}} cannot be filled in")]
    Unknown {
        /// Of the page, from 1.
        line: usize,
        /// The name.
        word: String,
    },
    /// The end of a placeholder is missing.
    #[error("line {line}: {{{{ without its }}}}")]
    Open {
        /// Of the page, from 1.
        line: usize,
    },
}

impl Template {
    /// Reads a page with some of `placeholders` in it, as `{{seconds}}`.
    ///
    /// # Errors
    /// When anything else stands between `{{` and `}}`.
    pub fn new(text: &str, placeholders: &[&str]) -> Result<Self, Misprint> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, from)) = rest.split_once("{{") {
            let line = text[..text.len() - from.len()].lines().count().max(1);
            let (word, after) = from.split_once("}}").ok_or(Misprint::Open { line })?;
            pieces.push(Piece::Literal(before.to_owned()));
            let known = Some(word.trim()).filter(|word| placeholders.contains(word));
            pieces.push(match known.unwrap_or_default() {
                "seconds" => Piece::Seconds,
                "waiting" => Piece::Waiting,
                "refresh" => Piece::Refresh,
                "place" => Piece::Place,
                "time" => Piece::Time,
                "minutes" => Piece::Minutes,
                _ => return Err(Misprint::Unknown { line, word: word.trim().to_owned() }),
            });
            rest = after;
        }
        pieces.push(Piece::Literal(rest.to_owned()));
        Ok(Self { pieces, length: text.len() + 64 })
    }

    /// A page with nothing to fill in.
    pub fn fixed(text: &str) -> Self {
        Self { pieces: vec![Piece::Literal(text.to_owned())], length: text.len() }
    }

    /// Whether it says the same whenever it is filled in with the same seconds.
    pub fn is_steady(&self) -> bool {
        !self.pieces.iter().any(|piece| matches!(piece, Piece::Waiting))
    }
}
