//! One run: a fresh server, a generator to its end, and what both cost.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use super::case::{Case, Pacing};
use crate::generators::ask::Ask;
use crate::generators::generator::{Generator, Programs};
use crate::generators::headworks::{self, Client, Pace};
use crate::generators::told::Told;
use crate::harness::cell::Repeated;
use crate::harness::trial::{self, Trial};
use crate::results::machine::Shares;
use crate::servers::server::SERVER_CPU;
use crate::servers::site::{Content, Site};

/// What answers, with how many bytes.
#[derive(Debug, Clone, Copy)]
struct Answer<'a> {
    content: Content<'a>,
    size: usize,
}

/// Runs generators one at a time.
#[derive(Debug)]
pub(super) struct Runner {
    pub(super) site: Site,
    pub(super) programs: Programs,
    /// Where records are written, and deleted after the run.
    pub(super) record: PathBuf,
    /// How many processors the machine has.
    pub(super) processors: u32,
}

/// One run as it is kept.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Run {
    pub(super) case: String,
    pub(super) generator: String,
    pub(super) round: u32,
    pub(super) command: String,
    /// Why there is no figure in it.
    pub(super) failure: Option<String>,
    #[serde(flatten)]
    pub(super) cost: Option<Cost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) told: Option<Told>,
    /// What the generator says of itself; only Headworks does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<Client>,
}

/// CPU time in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Cost {
    pub(super) user_s: f64,
    pub(super) system_s: f64,
    pub(super) wall_s: f64,
    pub(super) server_cpu_s: f64,
    /// Of all processors.
    pub(super) machine: Shares,
    /// Share of all processors that neither generator nor server used.
    pub(super) others: f64,
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
    /// Requests done and what they cost, unless the run failed.
    pub(super) fn good(&self) -> Option<(&Told, &Cost)> {
        match self.failure {
            None => self.told.as_ref().zip(self.cost.as_ref()),
            Some(_) => None,
        }
    }

    /// CPU time of the generator per request, us.
    pub(super) fn cpu_us(&self) -> Option<f64> {
        self.good().map(|(told, cost)| (cost.user_s + cost.system_s) * 1e6 / told.requests as f64)
    }

    /// CPU time of the server per request, us.
    pub(super) fn server_us(&self) -> Option<f64> {
        self.good().map(|(told, cost)| cost.server_cpu_s * 1e6 / told.requests as f64)
    }
}

impl Runner {
    /// Runs a generator once against a case.
    pub(super) fn compare(&self, case: Case, peer: Generator, round: u32, seconds: u32) -> Run {
        let Case { size, reuse, connections } = case;
        let answer = Answer { content: Content::Nginx, size };
        self.measure(case.to_string(), round, peer, answer, seconds, |url| {
            peer.arguments(&Ask { url, reuse, connections, seconds, record: &self.record })
        })
    }

    /// Runs Headworks once in an open loop, at so many requests per second, against a server with power to
    /// spare: one that falls behind makes an open loop open connections, and both do something else then.
    pub(super) fn pace(&self, pacing: Pacing, rate: u64, round: u32, seconds: u32) -> Run {
        let program = Generator::Headworks.program(&self.programs);
        let server = Answer { content: Content::Origin(&program), size: Case::FIRST.size };
        self.measure(pacing.to_string(), round, Generator::Headworks, server, seconds, |url| {
            headworks::pace(url, Pace { rate, arrivals: pacing.arrivals, seconds, connections: None })
        })
    }

    /// What fails, fails this run: the others are worth having.
    fn measure(
        &self,
        case: String,
        round: u32,
        generator: Generator,
        server: Answer<'_>,
        seconds: u32,
        arguments: impl FnOnce(&str) -> Vec<String>,
    ) -> Run {
        let mut run = Run {
            case,
            generator: generator.name().to_owned(),
            round,
            command: String::new(),
            failure: None,
            cost: None,
            told: None,
            client: None,
        };
        if let Err(error) = self.fill(&mut run, generator, server, seconds, arguments) {
            run.failure = Some(format!("{error:#}"));
        }
        run
    }

    fn fill(
        &self,
        run: &mut Run,
        generator: Generator,
        Answer { content, size }: Answer<'_>,
        seconds: u32,
        arguments: impl FnOnce(&str) -> Vec<String>,
    ) -> anyhow::Result<()> {
        let server = self.site.serve(content, SERVER_CPU)?;
        let arguments = arguments(&server.url(size));
        let trial = Trial { generator, arguments, server: &server, front: None, size, seconds };
        run.command = trial.command(&self.programs);
        clear(&self.record)?;
        let measured = trial.run(&self.programs, self.processors);
        clear(&self.record)?;
        let measured = measured?;
        run.cost = Some(Cost::of(&measured.cost));
        run.client.clone_from(&measured.client);
        run.failure.clone_from(&measured.failure);
        run.told = Some(measured.told?);
        Ok(())
    }
}

impl Cost {
    fn of(cost: &trial::Cost) -> Self {
        Self {
            user_s: cost.user.as_secs_f64(),
            system_s: cost.system.as_secs_f64(),
            wall_s: cost.wall.as_secs_f64(),
            server_cpu_s: cost.server.as_secs_f64(),
            machine: cost.machine,
            others: cost.others,
        }
    }
}

/// A record is written into a directory that does not exist, and is not kept.
fn clear(record: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(record) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot delete {}", record.display()))
        }
        _ => Ok(()),
    }
}
