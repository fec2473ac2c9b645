//! [`Template`]: a text with places for what is different in each session.

use std::ops::RangeInclusive;
use std::sync::Arc;

/// A text in which `${NAME}` stands for what a session knows by that name.
///
/// | in the text | what is sent |
/// | --- | --- |
/// | `${NAME}` | a column of the session's row of data, or what was taken from a response |
/// | `${random}`, `${random:1:6}` | a whole number, drawn anew each time: from 0 to 999 999 999, or from 1 to 6 |
/// | `${uuid}` | a random UUID (RFC 9562, version 4), drawn anew each time |
/// | `${session}` | the number of the session, from 0 |
/// | `$${` | `${` |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: Arc<str>,
    pub(super) parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(Arc<str>),
    /// Number of a column of the data.
    Column(usize),
    /// Number of something that is taken from responses.
    Taken(usize),
    Random(RangeInclusive<u64>),
    Uuid,
    Session,
}

/// What a `${..}` can stand for.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    pub(super) columns: Vec<String>,
    /// In the order in which they are first taken.
    pub(super) taken: Vec<String>,
}

/// Names that say what is drawn or counted.
const DRAWN: [&str; 3] = ["random", "uuid", "session"];

/// What is wrong with a text: what, and how to mend it.
pub(super) type Wrong = (String, String);

impl Template {
    /// Reads a text.
    pub(super) fn parse(text: &str, names: &Names) -> Result<Self, Wrong> {
        let mut parts: Vec<Part> = Vec::new();
        let mut fixed = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, after) = rest.split_at(at);
            if let Some(before) = before.strip_suffix('$') {
                fixed += before;
                fixed += "${";
                rest = &after[2..];
                continue;
            }
            fixed += before;
            let Some((name, after)) = after[2..].split_once('}') else {
                return Err((
                    "\"${\" has no \"}\"".to_owned(),
                    "write ${NAME}, or $${ where it is meant as it stands".to_owned(),
                ));
            };
            if !fixed.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut fixed).into()));
            }
            parts.push(names.find(name)?);
            rest = after;
        }
        fixed += rest;
        if !fixed.is_empty() || parts.is_empty() {
            parts.push(Part::Text(fixed.into()));
        }
        Ok(Self { text: text.into(), parts })
    }

    /// The text as it was written.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// What is sent each time, where that never changes.
    pub fn fixed(&self) -> Option<&Arc<str>> {
        match &self.parts[..] {
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text that it begins with, whatever follows.
    pub(super) fn start(&self) -> Option<&str> {
        match self.parts.first() {
            Some(Part::Text(text)) => Some(text),
            _ => None,
        }
    }
}

impl Names {
    fn find(&self, name: &str) -> Result<Part, Wrong> {
        if let Some(range) = name.strip_prefix("random:") {
            let range = range.split_once(':').and_then(|(least, most)| {
                let (least, most) = (least.trim().parse().ok()?, most.trim().parse().ok()?);
                (least <= most).then_some(least..=most)
            });
            let wrong = || (format!("${{{name}}} is not a range"), "write it as ${random:1:6}".to_owned());
            return range.map(Part::Random).ok_or_else(wrong);
        }
        let position = |names: &[String]| names.iter().position(|other| other == name);
        if let Some(number) = position(&self.taken) {
            return Ok(Part::Taken(number));
        }
        if let Some(number) = position(&self.columns) {
            return Ok(Part::Column(number));
        }
        match name {
            "random" => Ok(Part::Random(0..=999_999_999)),
            "uuid" => Ok(Part::Uuid),
            "session" => Ok(Part::Session),
            _ => Err(self.unknown(name)),
        }
    }

    fn unknown(&self, name: &str) -> Wrong {
        let known = || self.columns.iter().chain(&self.taken).map(String::as_str).chain(DRAWN);
        let mend = match config::did_you_mean(name, known()) {
            Some(near) => format!("did you mean ${{{near}}}?"),
            None => format!(
                "there are {} here",
                known().map(|name| format!("${{{name}}}")).collect::<Vec<_>>().join(", ")
            ),
        };
        (format!("nothing is called \"{name}\" when this is sent"), mend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names { columns: vec!["user".to_owned(), "mail".to_owned()], taken: vec!["token".to_owned()] }
    }

    fn text(text: &str) -> Part {
        Part::Text(text.into())
    }

    #[test]
    fn texts_are_taken_apart() {
        let parts = |text: &str| Template::parse(text, &names()).unwrap().parts;
        assert_eq!(parts("/a?b=$c{d}"), [text("/a?b=$c{d}")]);
        assert_eq!(parts(""), [text("")]);
        assert_eq!(parts("/${mail}/${token}"), [text("/"), Part::Column(1), text("/"), Part::Taken(0)]);
        assert_eq!(parts("${uuid}${session}"), [Part::Uuid, Part::Session]);
        assert_eq!(parts("a$${b}${random:1:6}"), [text("a${b}"), Part::Random(1..=6)]);
        assert_eq!(parts("${random}"), [Part::Random(0..=999_999_999)]);
    }

    #[test]
    fn what_cannot_be_sent_is_refused_with_a_mend() {
        let wrong = |text: &str| Template::parse(text, &names()).unwrap_err();
        assert_eq!(wrong("/${usr}").1, "did you mean ${user}?");
        assert!(wrong("/${x-y-z}").1.starts_with("there are ${user}, ${mail}, ${token}, ${random}"));
        assert!(wrong("/${user").0.contains("has no"));
        for range in ["${random:6:1}", "${random:1}", "${random:a:b}"] {
            assert_eq!(wrong(range).1, "write it as ${random:1:6}");
        }
    }
}
