//! What stands between clients and server in a test.

use std::path::Path;

use testbed::Testbed;

use super::gate::Gate;
use super::proxy::Proxy;
use crate::error::Error;

/// A gate or another proxy that runs.
#[derive(Debug)]
pub(crate) enum Front {
    Gate(Gate),
    Proxy(Proxy),
}

impl Front {
    /// Host and port for clients; those of the server without it.
    pub(crate) fn authority(&self) -> Option<&String> {
        match self {
            Self::Gate(gate) => gate.authority.as_ref(),
            Self::Proxy(proxy) => Some(&proxy.authority),
        }
    }

    /// How it ended, when it should not have.
    pub(crate) fn has_died(&mut self) -> Option<Error> {
        match self {
            Self::Gate(gate) => gate.has_died(),
            Self::Proxy(proxy) => proxy.has_died(),
        }
    }

    /// Keeps an eye on it while clients are served.
    pub(crate) fn look(&mut self, testbed: &Testbed) {
        if let Self::Gate(gate) = self {
            gate.look(testbed);
        }
    }

    /// Keeps what it counted, if it counts.
    pub(crate) fn keep_metrics(&self, testbed: &Testbed, directory: &Path) -> Result<(), Error> {
        match self {
            Self::Gate(gate) => gate.keep_metrics(testbed, directory),
            Self::Proxy(_) => Ok(()),
        }
    }
}
