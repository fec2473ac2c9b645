//! [`Complaint`]: something to mend.

use std::fmt;

/// Something to mend: shown as `place: what; mend`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complaint {
    /// The file, relative to the workspace.
    pub file: String,
    /// The line, where there is one.
    pub line: Option<usize>,
    /// What is wrong, and what to do about it.
    pub what: String,
}

impl Complaint {
    pub(super) fn of_file(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, what: what.into() }
    }

    pub(super) fn at(file: impl Into<String>, line: usize, what: impl Into<String>) -> Self {
        Self { file: file.into(), line: Some(line), what: what.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, what } = self;
        match line {
            Some(line) => write!(f, "{file}:{line}: {what}"),
            None => write!(f, "{file}: {what}"),
        }
    }
}
