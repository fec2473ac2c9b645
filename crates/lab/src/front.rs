//! What stands between clients and server in a test.

use std::path::Path;

use crate::Error;
use crate::gate::Gate;
use crate::peer::{Peer, Place};
use crate::plan::Planned;
use crate::run::Lab;
use crate::server::Site;
use crate::spec::Subject;
use testbed::Testbed;

/// A running one.
#[derive(Debug)]
pub(crate) enum Front {
    Gate(Gate),
    Peer(Peer),
}

impl Front {
    /// Host and port for clients.
    pub(crate) fn authority(&self) -> &str {
        match self {
            Self::Gate(gate) => &gate.authority,
            Self::Peer(peer) => &peer.authority,
        }
    }

    /// How it ended, when it should not have.
    pub(crate) fn has_died(&mut self) -> Option<Error> {
        match self {
            Self::Gate(gate) => gate.has_died(),
            Self::Peer(peer) => peer.has_died(),
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
            Self::Peer(_) => Ok(()),
        }
    }
}

impl Lab<'_> {
    /// Starts what this test has in front of the server at `upstream`; its files go into `out`.
    pub(crate) fn front(
        &self,
        test: &Planned,
        site: &Site,
        upstream: &str,
        out: &Path,
    ) -> Result<Option<Front>, Error> {
        let &Site { testbed, server, .. } = site;
        if let (Subject::Gate, Some(settings)) = (test.subject, self.spec.gate_with(&test.settings)) {
            let headworks = &self.options.headworks;
            let gate = Gate::start(headworks, &settings, upstream, testbed, out, self.stop)?;
            return Ok(Some(Front::Gate(gate)));
        }
        let (Some(kind), Some(peers)) = (test.subject.peer(), &self.spec.peers) else { return Ok(None) };
        let place = Place { peers, server, upstream, testbed, directory: out };
        Ok(Some(Front::Peer(Peer::start(kind, &place, self.stop)?)))
    }
}
