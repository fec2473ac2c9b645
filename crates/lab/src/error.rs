//! Why an experiment could not be done.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// What stopped the lab; every message names the thing, the place and, where there is one, the mend.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The spec or the workload is wrong.
    #[error(transparent)]
    Spec(#[from] config::Error),
    /// A `--set` is wrong.
    #[error("--set {setting}: {why}")]
    Setting {
        /// As it was given.
        setting: String,
        /// What is wrong with it.
        why: String,
    },
    /// `--cpus` is wrong.
    #[error("--cpus {cpus}: {why}")]
    Cpus {
        /// As they were given.
        cpus: String,
        /// What is wrong with them.
        why: String,
    },
    /// Levels of factors that do not go together.
    #[error("{levels}: {why}")]
    Levels {
        /// Which.
        levels: String,
        /// What is wrong with them.
        why: String,
    },
    /// Two records have nothing in common.
    #[error("{} and {} have no figure in common that was measured in both", before.display(), after.display())]
    Incomparable {
        /// The first.
        before: PathBuf,
        /// The second.
        after: PathBuf,
    },
    /// A record that is not of one search alone.
    #[error(
        "{} is not an experiment with one search that found a capacity, which is what can be confirmed; make one with `headworks lab run`",
        path.display()
    )]
    NotOneSearch {
        /// The directory.
        path: PathBuf,
    },
    /// The lab can change nothing of what is to be relieved.
    #[error("the spec of {} has nothing that the lab could change to relieve {}; docs/lab.md, \"Confirming it\", has what it can", path.display(), resource.name())]
    NoLever {
        /// The directory.
        path: PathBuf,
        /// What is to be relieved.
        resource: record::search::Resource,
    },
    /// What was watched is of another time than the search.
    #[error(
        "nothing in {} was sampled while {} was made: it is of another time, or the clocks of both machines differ",
        watch.display(),
        search.display()
    )]
    NotWatched {
        /// The record of the monitor.
        watch: PathBuf,
        /// That of the search.
        search: PathBuf,
    },
    /// A series of records that says nothing of how they differ by chance.
    #[error(
        "{} has {found} experiments or runs, and {fewest} at least are needed to know how they differ by chance; add what was measured before",
        path.display()
    )]
    ShortSeries {
        /// Where they are.
        path: PathBuf,
        /// How many there are.
        found: usize,
        /// How many there have to be.
        fewest: usize,
    },
    /// The gate refuses the spec's `[gate]`.
    #[error("the gate refuses the settings of [gate]: {0}")]
    Gate(String),
    /// The server refuses the spec's `server.directives`.
    #[error("{name} refuses its configuration: {said}")]
    Directives {
        /// `apache` or `nginx`.
        name: &'static str,
        /// What it says of it.
        said: String,
    },
    /// The output directory holds an experiment that is finished, or another one.
    #[error("{} already holds an experiment{why}; give another directory with --out", path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
        /// Why it cannot be gone on with.
        why: &'static str,
    },
    /// The output directory of a search holds something.
    #[error("{} is not empty; give another directory with --out", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// A program is not installed, or did not do what it should, or what it should run on cannot be had.
    #[error(transparent)]
    Testbed(testbed::Error),
    /// The program of `server.command` is not there.
    #[error(
        "server.command: there is no program \"{0}\"; give one that is on the path, or its place, from here"
    )]
    NoProgram(String),
    /// A server went into the background, where it cannot be ended, or something else answers in its place.
    #[error(
        "server ended ({status}) while something answers on {authority}; it has to stay in the foreground, and what it left there is yours to end"
    )]
    Background {
        /// How it ended.
        status: ExitStatus,
        /// Address and port.
        authority: String,
    },
    /// The generator refuses what it is asked to do.
    #[error("headworks load: {0}")]
    Refused(String),
    /// The simulator says nothing that could be used.
    #[error("prediction: {0}")]
    Prediction(String),
    /// The capacity could not be found.
    #[error("the capacity was not found: {0}")]
    Capacity(String),
    /// The server kept up with all rates that it was to be tried with, up to this one, per second.
    #[error("the capacity was not found: the server kept up with all rates, up to {0:.0}/s")]
    KeptUp(f64),
    /// The generator could not keep up, so its figures are not the server's.
    #[error("the generator could not keep up, and what it found is its own: {0}")]
    NotTheServers(String),
    /// A record could not be written or read.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// Such as `create`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Its reason.
        source: io::Error,
    },
    /// The caller wants it to end.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Whether it would be the same again: something is wrong with what was asked for, or is not there.
    pub(crate) fn is_lasting(&self) -> bool {
        match self {
            Self::Testbed(error) => error.is_lasting(),
            Self::Background { .. } => true,
            other => other.is_usage(),
        }
    }

    /// Whether the command line or a file that a person wrote is at fault.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Spec(_)
                | Self::Setting { .. }
                | Self::Levels { .. }
                | Self::Cpus { .. }
                | Self::Gate(_)
                | Self::Directives { .. }
                | Self::NoProgram(_)
                | Self::Occupied { .. }
                | Self::NotEmpty { .. }
                | Self::Refused(_)
                | Self::Incomparable { .. }
                | Self::NotOneSearch { .. }
                | Self::NoLever { .. }
                | Self::NotWatched { .. }
                | Self::ShortSeries { .. }
                | Self::Record(record::Error::NotARecord { .. })
        )
    }

    /// Whether a server found its port taken by another program.
    pub(crate) fn is_address_taken(&self) -> bool {
        matches!(self, Self::Testbed(error) if error.is_address_taken())
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}

impl From<testbed::Error> for Error {
    fn from(error: testbed::Error) -> Self {
        match error {
            testbed::Error::Interrupted => Self::Interrupted,
            other => Self::Testbed(other),
        }
    }
}
