//! [`import`]: which kind of file it is, and what becomes of it.

use std::str::FromStr;

use config::{Error, Source};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::draft::Draft;
use super::{har, openapi, place, write};
use crate::workload::Workload;

/// A kind of file that a workload can be made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A recording of a browser or proxy: HTTP Archive 1.2.
    Har,
    /// A description of an interface: OpenAPI 3.0 and 3.1, Swagger 2.0; JSON or YAML.
    OpenApi,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "har" => Ok(Self::Har),
            "openapi" => Ok(Self::OpenApi),
            _ => Err("there are har and openapi".to_owned()),
        }
    }
}

/// What is to be taken of a file.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which kind of file it is; `None` for what its content says.
    pub format: Option<Format>,
    /// Of a recording: the server, as `HOST` or `HOST:PORT`; `None` for that of the first document.
    pub host: Option<String>,
    /// Of a recording: leave out pauses.
    pub no_think: bool,
    /// Of a recording: keep `Authorization`, `Cookie` and their like.
    pub secrets: bool,
    /// Of a description: operations with one of these tags only.
    pub tags: Vec<String>,
    /// Of a description: operations whose path begins so only.
    pub path: Option<String>,
    /// Of a description: also what changes or deletes what the session has not made.
    pub all: bool,
}

/// A workload file, and what there is to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The text of the workload file.
    pub text: String,
    /// What was taken, left out and why, line by line.
    pub notes: Vec<String>,
}

/// Why there is no workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The file is wrong, or has nothing that could be taken.
    #[error(transparent)]
    File(#[from] Error),
    /// An option is for the other kind of file.
    #[error("{option} is for {kind}; leave it out, or say with --from what the file is")]
    Option {
        /// The option.
        option: &'static str,
        /// What it is for.
        kind: &'static str,
    },
    /// What was written cannot be read.
    #[error("internal error: what was made of the file is not a workload: {0}")]
    Internal(Error),
}

/// Makes a workload file of a recording or a description; the same file and options give the same text.
///
/// # Errors
/// What is wrong with the file, with its line where there is one.
pub fn import(source: &Source, options: &Options) -> Result<Imported, ImportError> {
    let format = match options.format {
        Some(format) => format,
        None => recognized(source)?,
    };
    check(options, format)?;
    let draft = match format {
        Format::Har => har::draft(source, options)?,
        Format::OpenApi => openapi::draft(source, options)?,
    };
    finish(draft)
}

fn finish(draft: Draft) -> Result<Imported, ImportError> {
    let text = write::workload(&draft);
    Workload::parse(&Source::new("workload", text.as_str())).map_err(ImportError::Internal)?;
    Ok(Imported { text, notes: draft.notes.into_lines() })
}

fn check(options: &Options, format: Format) -> Result<(), ImportError> {
    let of_recordings = [
        ("--host", options.host.is_some()),
        ("--no-think", options.no_think),
        ("--secrets", options.secrets),
    ];
    let of_descriptions =
        [("--tag", !options.tags.is_empty()), ("--path", options.path.is_some()), ("--all", options.all)];
    let (others, kind) = match format {
        Format::Har => (of_descriptions, "OpenAPI descriptions"),
        Format::OpenApi => (of_recordings, "HAR files"),
    };
    match others.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(ImportError::Option { option, kind }),
        None => Ok(()),
    }
}

/// The keys by which kinds of file can be told.
#[derive(Deserialize)]
struct Keys {
    log: Option<IgnoredAny>,
    openapi: Option<IgnoredAny>,
    swagger: Option<IgnoredAny>,
}

fn recognized(source: &Source) -> Result<Format, Error> {
    let text = place::text(source);
    if !text.trim_start().starts_with(['{', '[']) {
        let is_key = |line: &str| {
            ["openapi", "swagger"].iter().any(|key| {
                let line = line.trim_start_matches(['"', '\'']);
                line.strip_prefix(key)
                    .is_some_and(|rest| rest.trim_start_matches(['"', '\'', ' ']).starts_with(':'))
            })
        };
        return if text.lines().any(is_key) { Ok(Format::OpenApi) } else { Err(unknown(source)) };
    }
    let keys: Keys = serde_json::from_str(text).map_err(|why| place::of_json(source, &why))?;
    match keys {
        Keys { log: Some(_), .. } => Ok(Format::Har),
        Keys { openapi: Some(_), .. } | Keys { swagger: Some(_), .. } => Ok(Format::OpenApi),
        _ => Err(unknown(source)),
    }
}

fn unknown(source: &Source) -> Error {
    source.missing("it is neither a HAR file (\"log\") nor an OpenAPI description (\"openapi\")").mend(
        "export a HAR file from the network panel of a browser, or give the description of the interface",
    )
}
