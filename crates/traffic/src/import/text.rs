//! [`Text`]: what is sent, with places for values that differ from session to session.

use std::fmt::Write as _;

use crate::url;

/// Text that is sent as it stands, and names of values between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Name(String),
}

impl Text {
    /// What is sent as it stands.
    pub(super) fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        Self(if text.is_empty() { Vec::new() } else { vec![Piece::Literal(text)] })
    }

    /// A value.
    pub(super) fn name(name: impl Into<String>) -> Self {
        Self(vec![Piece::Name(name.into())])
    }

    /// Adds what is sent as it stands.
    pub(super) fn push(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Piece::Literal(last)) => *last += text,
            _ if text.is_empty() => {}
            _ => self.0.push(Piece::Literal(text.to_owned())),
        }
    }

    /// Adds another text.
    pub(super) fn append(&mut self, other: Self) {
        for piece in other.0 {
            match piece {
                Piece::Literal(text) => self.push(&text),
                name @ Piece::Name(_) => self.0.push(name),
            }
        }
    }

    /// Whether it is the same in each session.
    pub(super) fn is_literal(&self) -> bool {
        !self.0.iter().any(|piece| matches!(piece, Piece::Name(_)))
    }

    /// What is sent as it stands, without the values.
    pub(super) fn literals(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Literal(text) => Some(text.as_str()),
            Piece::Name(_) => None,
        })
    }

    /// The names of the values.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Literal(_) => None,
            Piece::Name(name) => Some(name.as_str()),
        })
    }

    /// The text with what is sent as it stands written in another way.
    #[must_use]
    pub(super) fn map(self, write: impl Fn(&str) -> String) -> Self {
        let pieces = self.0.into_iter().map(|piece| match piece {
            Piece::Literal(text) => Piece::Literal(write(&text)),
            name @ Piece::Name(_) => name,
        });
        Self(pieces.collect())
    }

    /// Puts a value in the place of each occurrence of `what` that `may` be replaced, given what stands before and behind
    /// it; says how many there were.
    ///
    /// One behind a `$` stays: `$${` is how a workload writes `${`.
    pub(super) fn replace(&mut self, what: &str, name: &str, may: impl Fn(&str, &str) -> bool) -> usize {
        let mut replaced = 0;
        let mut pieces = Self::default();
        for piece in std::mem::take(&mut self.0) {
            let Piece::Literal(text) = piece else {
                pieces.0.push(piece);
                continue;
            };
            let mut kept = 0;
            for (at, _) in text.match_indices(what) {
                let (before, after) = (&text[..at], &text[at + what.len()..]);
                if at >= kept && !before.ends_with('$') && may(before, after) {
                    pieces.push(&text[kept..at]);
                    pieces.0.push(Piece::Name(name.to_owned()));
                    kept = at + what.len();
                    replaced += 1;
                }
            }
            pieces.push(&text[kept..]);
        }
        *self = pieces;
        replaced
    }

    /// As a workload has it.
    pub(super) fn written(&self) -> String {
        let mut written = String::new();
        for piece in &self.0 {
            let _ = match piece {
                Piece::Literal(text) => write!(written, "{}", text.replace("${", "$${")),
                Piece::Name(name) => write!(written, "${{{name}}}"),
            };
        }
        written
    }
}

/// `application/x-www-form-urlencoded`.
pub(super) fn form<'p>(parameters: impl IntoIterator<Item = (&'p str, &'p str)>) -> String {
    let pairs = parameters
        .into_iter()
        .map(|(name, value)| format!("{}={}", url::value(name), url::value(value)).replace("%20", "+"));
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_place_of_what_was_recorded() {
        let mut text = Text::literal("/a/t-1/b?x=t-1&y=$t-1&z=${z}");
        assert_eq!(text.replace("t-1", "token", |_, _| true), 2);
        assert_eq!(text.written(), "/a/${token}/b?x=${token}&y=$t-1&z=$${z}");
        assert!(!text.is_literal());
        assert_eq!(text.literals().next(), Some("/a/"));
    }

    #[test]
    fn forms_are_encoded() {
        assert_eq!(form([("a b", "c&d"), ("e", "ü")]), "a+b=c%26d&e=%C3%BC");
    }
}
