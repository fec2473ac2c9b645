//! [`Error`]: why something could not be started, or did not do what it should.

use std::io;
use std::path::{Path, PathBuf};

/// What went wrong; every message names the thing, the place and, where there is one, the mend.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program or a part of one is not installed.
    #[error("{program} is not installed; install it with: apt-get install {package}")]
    Missing {
        /// The program or file that was looked for.
        program: String,
        /// The Debian packages that have it.
        package: &'static str,
    },
    /// A program that was started did not do what it should.
    #[error("{name} {what}{}", quote(said))]
    Process {
        /// `apache`, `gate`, `load`, ..
        name: &'static str,
        /// What it did or did not do.
        what: String,
        /// The end of what it wrote, empty when it wrote nothing.
        said: String,
    },
    /// A network, a control group or a setting of the kernel cannot be had.
    #[error("testbed: {0}")]
    Unavailable(String),
    /// A processor cannot be used.
    #[error("processor {0} is not there, or not for this process")]
    NoProcessor(usize),
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
    /// The caller wants it to end; see [`Stop`](crate::Stop).
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Whether a second attempt would fail for the same reason.
    pub fn is_lasting(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::Unavailable(_) | Self::NoProcessor(_))
    }

    /// Whether a server found its port taken by another program.
    pub fn is_address_taken(&self) -> bool {
        matches!(self, Self::Process { said, .. } if said.contains("ddress already in use"))
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}

fn quote(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; it said: {said}") }
}
