//! One run: a fresh server with its subject, a generator to its end, and what it got.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::case::{CONNECTIONS, Case, SIZE};
use super::subject::{Place, Subject};
use crate::generators::ask::Ask;
use crate::generators::generator::{Generator, Programs};
use crate::generators::told::Told;
use crate::harness::cell::Repeated;
use crate::harness::trial::Trial;
use crate::results::machine::Shares;
use crate::servers::site::Site;

/// Runs one thing at a time.
#[derive(Debug)]
pub(super) struct Runner {
    pub(super) site: Site,
    pub(super) place: Place,
    pub(super) headworks: PathBuf,
    /// How many processors the machine has.
    pub(super) processors: u32,
}

/// One run as it is kept.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Run {
    pub(super) case: String,
    pub(super) subject: String,
    pub(super) round: u32,
    pub(super) commands: Vec<String>,
    /// Why there is no figure in it.
    pub(super) failure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) told: Option<Told>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost: Option<Cost>,
}

/// CPU time in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Cost {
    /// Of what stands before or under the server, but for what runs in the server itself.
    pub(super) subject_cpu_s: f64,
    pub(super) wall_s: f64,
    /// Of all processors.
    pub(super) machine: Shares,
}

impl Repeated for Run {
    fn round(&self) -> u32 {
        self.round
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

impl Run {
    /// Requests per second.
    pub(super) fn rate(&self) -> Option<f64> {
        Some(self.told.as_ref()?.rate)
    }

    /// CPU time of the subject per request, us.
    pub(super) fn cpu_us(&self) -> Option<f64> {
        Some(self.cost?.subject_cpu_s * 1e6 / self.told.as_ref()?.requests as f64)
    }
}

impl Runner {
    /// Runs the generator as fast as it can. What fails, fails this run: the others are worth having.
    pub(super) fn saturate(&self, case: Case, subject: Subject, round: u32, seconds: u32) -> Run {
        let mut run = Run {
            case: case.to_string(),
            subject: subject.name().to_owned(),
            round,
            commands: Vec::new(),
            failure: None,
            told: None,
            cost: None,
        };
        if let Err(error) = self.fill(&mut run, case, subject, seconds) {
            run.failure = Some(format!("{error:#}"));
        }
        run
    }

    fn fill(&self, run: &mut Run, case: Case, subject: Subject, seconds: u32) -> anyhow::Result<()> {
        let started = self.place.start(&self.site, case, subject)?;
        run.commands.extend(started.command);
        let is_before = matches!(subject, Subject::Gate | Subject::Haproxy);
        let entrance = started.beside.as_ref().filter(|_| is_before).unwrap_or(&started.server);
        let url = format!("http://127.0.0.1:{}/{SIZE}", entrance.port());
        let record = Path::new("");
        let ask = Ask { url: &url, reuse: case.reuse, connections: CONNECTIONS, seconds, record };
        let programs = Programs { headworks: self.headworks.clone(), shb: PathBuf::new() };
        let trial = Trial {
            generator: Generator::Wrk,
            arguments: Generator::Wrk.arguments(&ask),
            server: &started.server,
            front: started.beside.as_ref(),
            size: SIZE,
            seconds,
        };
        run.commands.push(trial.command(&programs));
        let measured = trial.run(&programs, self.processors)?;
        run.cost = Some(Cost {
            subject_cpu_s: measured.cost.front.as_secs_f64(),
            wall_s: measured.cost.wall.as_secs_f64(),
            machine: measured.cost.machine,
        });
        run.told = Some(measured.told?);
        run.failure = measured.failure;
        Ok(())
    }
}
