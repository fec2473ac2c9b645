//! [`Fact`] and [`Source`]: how figures were made, for a reader who wants to doubt or to repeat them.

use serde::Serialize;

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Fact {
    /// What it is about.
    pub label: String,
    /// The fact.
    pub value: String,
    /// Whether the value is a command line.
    pub command: bool,
}

/// A text that an experiment was made by, such as its spec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Source {
    /// The file's name.
    pub name: String,
    /// Its text.
    pub text: String,
}

pub(crate) fn fact(label: &str, value: String) -> Fact {
    Fact { label: label.to_owned(), value, command: false }
}

pub(crate) fn command(label: &str, arguments: &[String]) -> Fact {
    Fact { label: label.to_owned(), value: arguments.join(" "), command: true }
}
