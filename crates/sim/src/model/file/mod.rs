//! Model files: a [`Model`] as TOML, read with the place of each error and written with
//! a comment on where each number comes from.

mod entries;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use self::write::{NoText, Notes};

use std::path::Path;

use config::{Error, Source};

use super::Model;
use crate::draw::Arrivals;

impl Model {
    /// Reads a model file. What it leaves out is as in [`Model::default`]; files that it names are
    /// looked for beside it.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line: an unknown key, a value out of its range, a
    /// model that cannot be simulated.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::parse(&Source::read(path)?, path.parent().unwrap_or(Path::new(".")))
    }

    /// Reads the text of a model file; files that it names are looked for in `directory`.
    ///
    /// # Errors
    /// As [`Model::read`].
    pub fn parse(source: &Source, directory: &Path) -> Result<Self, Error> {
        read::parse(source, directory)
    }

    /// The text of a model file, with `notes` as comments.
    ///
    /// # Errors
    /// When the model's arrivals were observed: a file names the trace that they come from, which
    /// the model does not know.
    pub fn to_toml(&self, notes: &Notes) -> Result<String, NoText> {
        match self.arrivals {
            Arrivals::Observed(_) => Err(NoText),
            Arrivals::Renewal(_) | Arrivals::Mmpp(_) => Ok(write::to_toml(self, notes, "")),
        }
    }

    /// The same without notes, and with observed arrivals in the file `trace`, which is for the caller
    /// to write.
    pub(crate) fn to_toml_beside(&self, trace: &str) -> String {
        write::to_toml(self, &Notes::new(), trace)
    }
}
