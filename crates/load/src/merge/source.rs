//! [`Source`]: one of the records that are put together.

use std::path::{Path, PathBuf};

use record::{Kind, RunDirectory, RunInfo, Summary};

use crate::merge::error::MergeError;

/// The tool that makes such records.
const TOOL: &str = "load";

/// One record.
pub(super) struct Source {
    /// As it was given.
    pub(super) given: PathBuf,
    /// Where it really is.
    pub(super) path: PathBuf,
    pub(super) run: RunDirectory,
    pub(super) info: RunInfo,
    pub(super) summary: Summary,
}

impl Source {
    pub(super) fn open(given: &Path) -> Result<Self, MergeError> {
        let not = || MergeError::NotOfLoad(given.to_owned());
        let path = given.canonicalize().map_err(|_| not())?;
        if Kind::of(&path) != Some(Kind::Run) {
            return Err(not());
        }
        let run = RunDirectory::open(&path)?;
        let info = run.info()?;
        if info.tool != TOOL {
            return Err(not());
        }
        let summary = run.summary()?;
        Ok(Self { given: given.to_owned(), path, run, info, summary })
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> String {
        self.given.display().to_string()
    }

    pub(super) fn has_sessions(&self) -> bool {
        !self.summary.sessions.by_class.is_empty()
    }

    /// Whether a schedule, rather than its clients, said when requests begin.
    pub(super) fn is_open(&self) -> bool {
        self.info.spec.contains_key("rate")
    }

    /// When its window opened and closed, by its host's clock, in nanoseconds since 1970.
    pub(super) fn on_the_calendar(&self) -> (i128, i128) {
        let started = self.info.started.as_nanosecond();
        (started + i128::from(self.info.window.from_ns), started + i128::from(self.info.window.to_ns))
    }
}
