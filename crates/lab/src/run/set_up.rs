//! Everything that a test needs, started anew, so that no test inherits the queues of the one before.

use std::path::Path;

use record::Environment;
use record::experiment::{MeasuredCapacity, TestState};

use super::directory::SERVER;
use super::plan::Planned;
use super::runner::Runner;
use crate::contender::front::Front;
use crate::contender::gate::Gate;
use crate::error::Error;
use crate::server::running::{LOG, Running};
use crate::server::site::Site;

/// What came of a test.
pub(super) struct TestOutcome {
    /// Whether its figures can be used.
    pub(super) state: TestState,
    /// What a search found.
    pub(super) capacity: Option<MeasuredCapacity>,
    /// What is to be said of them.
    pub(super) why: Vec<String>,
}

/// What a test is measured on.
pub(super) struct SetUp<'a> {
    pub(super) server: &'a Running,
    pub(super) front: &'a mut Option<Front>,
    /// Host and port for clients.
    pub(super) authority: &'a str,
}

/// Starts all that a test needs, measures, and keeps what was counted meanwhile. The record of the experiment is in
/// `record`, that of the test in `out`.
pub(super) fn with_all_set_up<T>(
    runner: &Runner,
    planned: &Planned,
    record: &Path,
    out: &Path,
    measure: impl FnOnce(SetUp) -> Result<T, Error>,
) -> Result<T, Error> {
    let under = runner.under(planned, out)?;
    let variables = under.as_ref().map(Gate::variables).unwrap_or_default();
    let mut server = Site { variables, ..runner.site() }.start(&out.join(LOG), runner.stop)?;
    describe(&server, record, out)?;
    let mut front = match under {
        Some(gate) => Some(Front::Gate(gate)),
        None => runner.front(planned, &server.authority, out)?,
    };
    let authority = &front.as_ref().and_then(Front::authority).unwrap_or(&server.authority).to_owned();
    let measured = measure(SetUp { server: &server, front: &mut front, authority });
    // A generator that broke off is told by the server that did so first.
    if let Some(error) = server.has_died().or_else(|| front.as_mut().and_then(Front::has_died)) {
        return Err(error);
    }
    let kept = front.as_ref().map_or(Ok(()), |front| front.keep_metrics(runner.testbed, out));
    // A generator that broke off left a record to which nothing can be added.
    let measured = measured?;
    kept?;
    Ok(measured)
}

/// Records the machine and the server as it was started, once in `record`, and of each test the server in `out`: it
/// may be another one at another level.
pub(super) fn describe(server: &Running, record: &Path, out: &Path) -> Result<(), Error> {
    record::write_json(&out.join(SERVER), &server.environment)?;
    let file = record.join(Environment::FILE);
    if file.exists() {
        return Ok(());
    }
    let environment = Environment { server: Some(server.environment.clone()), ..Environment::capture() };
    Ok(environment.save(&file)?)
}
