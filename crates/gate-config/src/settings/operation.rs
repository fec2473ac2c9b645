//! `[operation]`: how the gate runs as a service.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use config::{Error, Source, Spanned, quantity};
use schemars::JsonSchema;
use serde::Deserialize;
use units::Span;

use crate::settings::listener::NamedFile;

/// The table as people write it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    /// The socket by which the next gate takes over.
    pub(super) control: Option<Spanned<String>>,
    /// Whom to become when the ports are taken.
    pub(super) user: Option<Spanned<String>>,
    /// Instead of the user's own group.
    pub(super) group: Option<Spanned<String>>,
    /// A file, or `stdout`.
    pub(super) access_log: Option<Spanned<String>>,
    /// How long clients are still accepted after the gate was told to stop.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    pub(super) drain_delay: Option<Span>,
}

/// How the gate runs as a service.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Operation {
    /// The socket by which the next gate takes the listeners over.
    pub control: Option<NamedFile>,
    /// Whom to become when the ports are taken. Looked up at the start: the file may be checked on
    /// another machine.
    pub user: Option<String>,
    /// Instead of the user's own group.
    pub group: Option<String>,
    /// Where the access log goes, if there is one.
    pub access_log: Option<LogTo>,
    /// How long clients are still accepted after the gate was told to stop, for balancers to see
    /// that it is not ready any more.
    pub drain_delay: Duration,
}

/// Where a log goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogTo {
    /// Standard output.
    Stdout,
    /// A file.
    File(PathBuf),
}

impl fmt::Display for LogTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("standard output"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Paths are relative to `directory`.
pub(super) fn resolve(source: &Source, directory: &Path, file: &File) -> Result<Operation, Error> {
    let given = |text: &Option<Spanned<String>>, what| match text {
        Some(text) if text.get_ref().trim().is_empty() => {
            Err(source.error(text.span(), format!("{what} is empty")).mend("name one, or leave the line out"))
        }
        text => Ok(text.as_ref().map(|text| text.get_ref().clone())),
    };
    if let (None, Some(group)) = (&file.user, &file.group) {
        return Err(source
            .error(group.span(), "a group is given, but no user")
            .mend("add user: only together do they take root's rights away"));
    }
    let access_log = given(&file.access_log, "access-log")?.map(|text| match text.as_str() {
        "stdout" => LogTo::Stdout,
        path => LogTo::File(directory.join(path)),
    });
    let control = given(&file.control, "control")?.zip(file.control.as_ref());
    let control = control
        .map(|(path, text)| NamedFile { path: directory.join(path), place: source.place(text.span()) });
    Ok(Operation {
        control,
        user: given(&file.user, "user")?,
        group: given(&file.group, "group")?,
        access_log,
        drain_delay: file.drain_delay.map_or(Duration::ZERO, Duration::from),
    })
}

impl Operation {
    /// What `gate check` says.
    pub(super) fn describe(&self) -> Vec<(&'static str, String)> {
        let none = || "none".to_owned();
        let log = self.access_log.as_ref().map_or_else(none, LogTo::to_string);
        let control = self.control.as_ref().map_or_else(none, |file| file.path.display().to_string());
        let user = match (&self.user, &self.group) {
            (Some(user), Some(group)) => format!("{user}, group {group}"),
            (Some(user), None) => user.clone(),
            (None, _) => "as started".to_owned(),
        };
        vec![
            ("access log", log),
            ("control", control),
            ("user", user),
            ("drain delay", Span::from(self.drain_delay).to_string()),
        ]
    }
}
