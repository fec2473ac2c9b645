//! [`Source`]: a file's text and name, kept so that errors can point into it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Error, Place};

/// The text of one configuration file and the name to call it by in errors.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    text: String,
    directory: PathBuf,
}

impl Source {
    /// Text that did not come from a file; `name` stands in errors.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), directory: PathBuf::new() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read or is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => {
                let directory = path.parent().map(Path::to_owned).unwrap_or_default();
                Ok(Self { name, text, directory })
            }
            Err(why) => {
                Err(Error { file: name, line: None, what: format!("cannot read it: {why}"), mend: None })
            }
        }
    }

    /// The file's text as it was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where files are looked for that it names: beside it, or in the present directory if it is not a file itself.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// An error at a byte range of the text, as [`toml::Spanned`] gives it.
    pub fn error(&self, span: Range<usize>, what: impl Into<String>) -> Error {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        Error { file: self.name.clone(), line: Some(line), what: what.into(), mend: None }
    }

    /// The place of a byte range, for errors that are found when the file is no longer at hand.
    pub fn place(&self, span: Range<usize>) -> Place {
        let Error { file, line, .. } = self.error(span, "");
        Place { file, line }
    }

    /// The file as a whole, as a place.
    pub fn whole(&self) -> Place {
        Place { file: self.name.clone(), line: None }
    }

    /// An error about the file as a whole: something that ought to stand in it and does not.
    pub fn missing(&self, what: impl Into<String>) -> Error {
        Error { file: self.name.clone(), line: None, what: what.into(), mend: None }
    }
}
