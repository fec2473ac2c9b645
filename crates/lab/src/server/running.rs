//! [`Running`]: a server that answers.

use std::path::PathBuf;

use record::ServerEnvironment;
use testbed::Process;

use super::content;
use crate::error::Error;

/// What a server writes, in a test's directory.
pub(crate) const LOG: &str = "server.log";

/// A server that answers. Its processes end, and its directory goes, when it is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    /// Host and port.
    pub(crate) authority: String,
    /// What runs, for the record.
    pub(crate) environment: ServerEnvironment,
    /// Nothing of one that was there before the lab.
    pub(super) server: Option<testbed::Server>,
    /// What computes its pages, if it does not itself.
    pub(super) behind: Option<Process>,
    /// What else runs on its processors.
    pub(super) neighbour: Option<Process>,
}

impl Running {
    /// Where its files are, if they are the lab's.
    pub(crate) fn content(&self) -> Option<PathBuf> {
        Some(self.server.as_ref()?.root()?.join(content::DIRECTORY))
    }

    /// Its processes, unless it was there before the lab.
    pub(crate) fn has_died(&mut self) -> Option<Error> {
        let died = self.server.as_mut().and_then(testbed::Server::has_died);
        let beside =
            || [&mut self.behind, &mut self.neighbour].into_iter().flatten().find_map(Process::has_died);
        died.or_else(beside).map(Error::from)
    }
}
