//! The one error type of everything a person configures.

use std::fmt;

use crate::suggest::did_you_mean;

/// What is wrong with a file: place, thing, mend.
///
/// Shown as `gate.toml:14: class "premum" is not defined; did you mean "premium"?`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    pub(crate) file: String,
    pub(crate) line: Option<usize>,
    pub(crate) what: String,
    pub(crate) mend: Option<String>,
}

/// A place in a file, kept for what turns out to be wrong later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub(crate) file: String,
    pub(crate) line: Option<usize>,
}

impl Place {
    /// What did not come from a file; `name` stands in errors.
    pub fn outside(name: impl Into<String>) -> Self {
        Self { file: name.into(), line: None }
    }

    /// A line, from 1, of a file of another kind.
    pub fn of_line(file: impl Into<String>, line: usize) -> Self {
        Self { file: file.into(), line: Some(line) }
    }

    /// An error at this place.
    pub fn error(&self, what: impl Into<String>) -> Error {
        Error { file: self.file.clone(), line: self.line, what: what.into(), mend: None }
    }
}

impl fmt::Display for Place {
    /// File and line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

impl Error {
    /// Adds how to put it right, as a clause without a full stop.
    #[must_use]
    pub fn mend(mut self, mend: impl Into<String>) -> Self {
        self.mend = Some(mend.into());
        self
    }

    /// Adds `did you mean "…"?` when one of `candidates` is close to `word`, else lists them.
    #[must_use]
    pub fn suggest<'a>(self, word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        let candidates: Vec<&str> = candidates.into_iter().collect();
        match did_you_mean(word, candidates.iter().copied()) {
            Some(near) => self.mend(format!("did you mean \"{near}\"?")),
            None if candidates.is_empty() => self,
            None => self.mend(format!("expected one of {}", candidates.join(", "))),
        }
    }

    /// The line it stands on, from 1, where one is known.
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.what)?;
        if let Some(mend) = &self.mend {
            write!(f, "; {mend}")?;
        }
        Ok(())
    }
}
