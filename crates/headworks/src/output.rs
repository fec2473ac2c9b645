//! What goes to standard output.

use std::fmt::Display;
use std::io::Write as _;

use anyhow::Context as _;
use serde::Serialize;

use crate::exit::Failure;

/// The heading of options that are about what a command prints and writes.
pub(crate) const HEADING: &str = "Output";

/// Writes a result to standard output: at once, and without a panic where the reader has read enough
/// and closed the pipe (`headworks gate check FILE | head`).
pub(crate) fn print(what: impl Display) -> Result<(), Failure> {
    let text = what.to_string();
    let written = std::io::stdout().write_all(text.as_bytes());
    written.context("cannot write to standard output").map_err(Failure::Failed)
}

/// Prints a result as a person reads it, or as one JSON object.
pub(crate) fn show(what: &(impl Serialize + Display), json: bool) -> Result<(), Failure> {
    if json {
        let text = serde_json::to_string(what).map_err(|why| Failure::Failed(why.into()))?;
        print(text + "\n")
    } else {
        print(what)
    }
}
