//! [`serve`]: the server of an experiment, alone.

use std::time::Duration;

use testbed::{Stop, Testbed};

use super::experiment::pinning;
use super::options::Options;
use crate::error::Error;
use crate::server::running::LOG;
use crate::server::site::Site;
use crate::server::start;
use crate::spec::experiment::Spec;

/// How often it is looked whether it still runs.
const LOOK: Duration = Duration::from_millis(100);

/// A server that answers.
#[derive(Debug, Clone, Copy)]
pub struct Serving<'a> {
    /// Where.
    pub url: &'a str,
    /// What it is.
    pub version: &'a str,
    /// Why it does not have the processors that the spec gives it, if it has not.
    pub note: Option<&'a str>,
}

/// Starts the server of a spec as its experiments do, tells its URL and its version, and keeps it until an end is asked for.
///
/// # Errors
/// When the spec is wrong, the server cannot be had, or ends.
pub fn serve(options: &Options, stop: &Stop, tell: impl FnOnce(Serving<'_>)) -> Result<(), Error> {
    let spec = Spec::read(&options.spec, &options.settings)?;
    let pinning = pinning(&spec);
    let version = start::check(&spec.server, &options.headworks)?;
    testbed::sweep();
    let testbed = Testbed::build(&spec.resources, &pinning, &spec.server.cpus, &spec.client_cpus, stop)?;
    let site = Site {
        variables: Vec::new(),
        server: &spec.server,
        workload: &spec.workload,
        asked: &spec.asked,
        testbed: &testbed,
        headworks: &options.headworks,
    };
    let directory = testbed::directory()?;
    let mut running = match site.start(&directory.path().join(LOG), stop) {
        Err(Error::Interrupted) => return Ok(()),
        started => started?,
    };
    let url = format!("http://{}", running.authority);
    tell(Serving { url: &url, version: &version, note: pinning.why_not() });
    while stop.pause(LOOK).is_ok() {
        if let Some(error) = running.has_died() {
            return Err(error);
        }
    }
    Ok(())
}
