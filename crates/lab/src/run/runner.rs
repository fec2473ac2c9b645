//! [`Runner`]: what a test is carried out with.

use std::path::{Path, PathBuf};

use testbed::{Stop, Testbed};

use super::plan::Planned;
use crate::contender::front::Front;
use crate::contender::gate::Gate;
use crate::contender::proxy::{Placement, Proxy};
use crate::error::Error;
use crate::load::generator::Generator;
use crate::monitor::Monitor;
use crate::progress::Progress;
use crate::server::running::Running;
use crate::server::site::Site;
use crate::spec::experiment::Spec;
use crate::spec::subject::Subject;

/// What a test is carried out with: its spec, what it is set up on, and whom it tells how far it is.
pub(super) struct Runner<'a> {
    /// With what is this test's own.
    pub(super) spec: &'a Spec,
    pub(super) testbed: &'a Testbed<'a>,
    /// The `headworks` program, which is server, gate, generator and monitor.
    pub(super) headworks: &'a PathBuf,
    pub(super) stop: &'a Stop,
    pub(super) progress: &'a dyn Progress,
}

impl Runner<'_> {
    /// What the server is started with.
    pub(super) fn site(&self) -> Site<'_> {
        Site {
            server: &self.spec.server,
            workload: &self.spec.workload,
            asked: &self.spec.asked,
            testbed: self.testbed,
            headworks: self.headworks,
            variables: Vec::new(),
        }
    }

    /// The gate that the server of this test is to be attached to, if it is to be.
    pub(super) fn under(&self, planned: &Planned, out: &Path) -> Result<Option<Gate>, Error> {
        let Self { spec, testbed, stop, headworks, .. } = *self;
        let settings = spec.gate_with(&planned.settings).filter(|_| planned.subject == Subject::Attach);
        settings.map(|settings| Gate::start_under(headworks, &settings, testbed, out, stop)).transpose()
    }

    pub(super) fn generator(&self) -> Generator<'_> {
        Generator { headworks: self.headworks, testbed: self.testbed, workload: &self.spec.workload }
    }

    /// Begins to look at the server while it is asked, if that is wanted and possible.
    pub(super) fn monitor(&self, server: &Running, out: &Path) -> Option<Monitor> {
        let url = format!("http://{}/", server.authority);
        Monitor::begin(self.headworks, &url, self.spec.sampling?, self.testbed, out, self.stop)
    }

    /// Starts what this test has in front of the server at `upstream`; its files go into `out`.
    pub(super) fn front(
        &self,
        planned: &Planned,
        upstream: &str,
        out: &Path,
    ) -> Result<Option<Front>, Error> {
        let Self { spec, testbed, stop, .. } = *self;
        if let (Subject::Gate, Some(settings)) = (planned.subject, spec.gate_with(&planned.settings)) {
            let gate = Gate::start(self.headworks, &settings, upstream, testbed, out, stop)?;
            return Ok(Some(Front::Gate(gate)));
        }
        let (Some(kind), Some(settings)) = (planned.subject.contender(), &spec.contenders) else {
            return Ok(None);
        };
        let place = Placement { settings, server: &spec.server, upstream, testbed, directory: out };
        Ok(Some(Front::Proxy(Proxy::start(kind, &place, stop)?)))
    }
}
