//! [`Prober`]: makes probes with the generator, and waits for the server to come to rest after those that were
//! too much for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use record::RunDirectory;
use tempfile::TempDir;
use testbed::{Stop, Testbed};

use super::directory::empty;
use crate::error::Error;
use crate::load::backlog::{Backlog, Counted};
use crate::load::generator::{self, Offer};
use crate::load::part::Part;
use crate::search::options::SearchOptions;
use crate::search::probe::{Probe, ProbeOutcome};
use crate::search::schedule::{ProbePlan, RestPlan};
use crate::search::steps::MAX_CLIENTS;
use crate::server::content;

/// How often a probe is made again in which the generator was late, and what else the machine did then is given
/// time to end.
const MAX_ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);
/// Between two looks whether the server is at rest.
const LOOK: Duration = Duration::from_millis(100);
const REST_TIMEOUT: Duration = Duration::from_secs(5);
/// Where the generator had no port left: those of connections that it closed first are free after a minute
/// (`TCP_TIMEWAIT_LEN`, `include/net/tcp.h`).
const REST_OF_PORTS: Duration = Duration::from_secs(61);
/// The name of looks whether the server is at rest, whose records are not kept.
const REST: &str = "rest";

/// Makes probes.
pub(super) struct Prober<'a> {
    pub(super) search: &'a SearchOptions,
    pub(super) testbed: &'a Testbed<'a>,
    pub(super) stop: &'a Stop,
    /// Where records go.
    pub(super) root: PathBuf,
    /// Runs of the generator, for their seeds.
    runs: u64,
    /// Whether the last probe's generator had no port left for some of its connections.
    lacked_ports: bool,
    /// Where records go that are not kept.
    _temporary: Option<TempDir>,
}

impl<'a> Prober<'a> {
    pub(super) fn new(
        search: &'a SearchOptions,
        testbed: &'a Testbed<'a>,
        stop: &'a Stop,
    ) -> Result<Self, Error> {
        let temporary = if search.out.is_none() { Some(testbed::directory()?) } else { None };
        let place = temporary.as_ref().map(|place| place.path().to_owned());
        Ok(Self {
            search,
            testbed,
            stop,
            root: search.out.clone().or(place).unwrap_or_default(),
            runs: 0,
            lacked_ports: false,
            _temporary: temporary,
        })
    }

    /// Makes a probe, again when the generator could not keep up.
    pub(super) fn probe(&mut self, plan: &ProbePlan, name: &str) -> Result<Probe, Error> {
        let mut attempts = 1;
        loop {
            let probe = self.run(plan, Path::new(name))?;
            let is_valid = !matches!(probe.outcome(self.search.precision), ProbeOutcome::NotValid(_));
            self.lacked_ports = probe.summary.client.without_port > 0;
            // Nor would there be ports half a second later.
            if is_valid || self.lacked_ports || attempts == MAX_ATTEMPTS {
                return Ok(probe);
            }
            attempts += 1;
            self.stop.pause(PAUSE)?;
        }
    }

    /// Waits until the server serves a client alone as it did before.
    pub(super) fn rest(&mut self, plan: &RestPlan) -> Result<(), Error> {
        if self.lacked_ports {
            // A client that asks meanwhile takes the few ports that are free again.
            self.stop.pause(REST_OF_PORTS)?;
        }
        let deadline = Instant::now() + REST_TIMEOUT;
        while Instant::now() < deadline {
            match self.run(&plan.look, Path::new(REST)) {
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Ok(probe) if probe.achieved() >= plan.enough => return Ok(()),
                _ => self.stop.pause(LOOK)?,
            }
        }
        Ok(())
    }

    fn run(&mut self, plan: &ProbePlan, name: &Path) -> Result<Probe, Error> {
        self.runs += 1;
        let out = self.root.join(name);
        empty(&out)?;
        if let Some(files) = &self.search.cold {
            content::forget(files)?;
        }
        let ProbePlan { offer, warmup, length, drain, counted } = *plan;
        let mut command = self.command(offer, counted);
        command.arg("--warmup").arg(warmup.to_string());
        command.arg("--duration").arg(length.to_string());
        command.arg("--drain").arg(drain.to_string());
        generator::to_record(&mut command, &out);
        let summary = generator::carry_out(command, &out, warmup + length + drain, self.stop, || ())?;
        self.stop.check()?;
        let mut probe = Probe { offer, summary, growth: None, blind: 0.0, parts: Vec::new() };
        match offer {
            Offer::Rate(_) => {
                let backlog = Backlog::read(&RunDirectory::open(&out)?, counted)?;
                (probe.growth, probe.blind) = (backlog.growth(), backlog.blind());
            }
            Offer::Closed(_) if self.search.crowd.is_some() => {
                probe.parts = Part::read(&out)?.iter().map(|part| part.rate(counted)).collect();
            }
            Offer::Closed(_) => {}
        }
        if name == Path::new(REST) {
            fs::remove_dir_all(&out).map_err(Error::io("remove", &out))?;
        }
        Ok(probe)
    }

    fn command(&self, offer: Offer, counted: Counted) -> Command {
        let search = self.search;
        let mut command = self.testbed.generator(&search.headworks);
        command.arg("load").arg(&search.url).args(&search.load);
        offer.tell(&mut command);
        if matches!(offer, Offer::Closed(_))
            && search.has_option(&["--workload", "-w"])
            && !search.has_option(&["--think"])
        {
            // A client that pauses leaves the server idle.
            command.args(["--think", "0s"]);
        }
        for objective in &search.objectives {
            command.arg("--objective").arg(objective);
        }
        if let Offer::Rate(_) = offer {
            command.arg("--arrivals").arg(&search.arrivals);
            // A request that finds all of them taken waits for one, which counts: more would say no more of the server.
            // Sessions have connections of their own.
            if counted == Counted::Requests {
                command.arg("--connections").arg(MAX_CLIENTS.to_string());
            }
        }
        // As large as a seed of the generator can be.
        command.arg("--seed").arg((search.seed.wrapping_add(self.runs) & i64::MAX as u64).to_string());
        command
    }
}
