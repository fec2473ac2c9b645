//! One run: a fresh server, a generator to its end, and what both cost.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Serialize;

use super::case::{Case, Pacing};
use crate::cell::Repeated;
use crate::machine::{Processors, Shares};
use crate::peers::{self, Ask, Client, Pace, Peer, Programs, Told};
use crate::server::{SERVER_CPU, Server};
use crate::site::{Content, Site};
use testbed::Ended;

/// Time beyond that of the load in which a generator has to end: a request may take 20 s.
const GRACE: Duration = Duration::from_secs(40);

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
    pub(super) fn compare(&self, case: Case, peer: Peer, round: u32, seconds: u32) -> Run {
        let Case { size, reuse, connections } = case;
        self.measure((case.to_string(), round), peer, (Content::Nginx, size), seconds, |url| {
            peer.arguments(&Ask { url, reuse, connections, seconds, record: &self.record })
        })
    }

    /// Runs Headworks once in an open loop, at so many requests per second, against a server with power to
    /// spare: one that falls behind makes an open loop open connections, and both do something else then.
    pub(super) fn pace(&self, pacing: Pacing, rate: u64, round: u32, seconds: u32) -> Run {
        let program = Peer::Headworks.program(&self.programs);
        let server = (Content::Origin(&program), Case::FIRST.size);
        self.measure((pacing.to_string(), round), Peer::Headworks, server, seconds, |url| {
            peers::pace(url, Pace { rate, arrivals: pacing.arrivals, seconds, connections: None })
        })
    }

    /// What fails, fails this run: the others are worth having.
    fn measure(
        &self,
        (case, round): (String, u32),
        peer: Peer,
        server: (Content<'_>, usize),
        seconds: u32,
        arguments: impl FnOnce(&str) -> Vec<String>,
    ) -> Run {
        let mut run = Run {
            case,
            generator: peer.name().to_owned(),
            round,
            command: String::new(),
            failure: None,
            cost: None,
            told: None,
            client: None,
        };
        if let Err(error) = self.fill(&mut run, peer, server, seconds, arguments) {
            run.failure = Some(format!("{error:#}"));
        }
        run
    }

    fn fill(
        &self,
        run: &mut Run,
        peer: Peer,
        (software, size): (Content<'_>, usize),
        seconds: u32,
        arguments: impl FnOnce(&str) -> Vec<String>,
    ) -> anyhow::Result<()> {
        let server = self.site.serve(software, SERVER_CPU)?;
        let program = peer.program(&self.programs);
        let arguments = arguments(&server.url(size));
        let words: Vec<_> = [&program].into_iter().chain(&arguments).collect();
        run.command = testbed::quote(&words);
        clear(&self.record)?;
        let outcome = self.account(server.client(&program).args(&arguments), &server, seconds);
        clear(&self.record)?;
        let (ended, cost) = outcome?;
        run.cost = Some(cost);
        if !peer.ended_well(ended.status.code()) {
            let last = ended.stderr.lines().chain(ended.stdout.lines()).rfind(|line| !line.trim().is_empty());
            bail!("{}: {}", ended.status, last.unwrap_or("said nothing"));
        }
        if matches!(peer, Peer::Headworks | Peer::HeadworksRecord) {
            run.client = Some(Client::read(&ended.stdout)?);
        }
        let told = peer.read(&ended.stdout)?;
        run.failure = told.failure(size);
        run.told = Some(told);
        Ok(())
    }

    fn account(&self, command: &mut Command, server: &Server, seconds: u32) -> anyhow::Result<(Ended, Cost)> {
        let (server_before, machine_before) = (server.cpu()?, Processors::now()?);
        let ended = testbed::run(command, Duration::from_secs(seconds.into()) + GRACE)?;
        let machine = Processors::now()?.since(machine_before);
        let server_cpu = server.cpu()?.saturating_sub(server_before);
        let ours = (ended.user + ended.system + server_cpu).as_secs_f64();
        let all = ended.wall.as_secs_f64() * f64::from(self.processors);
        let cost = Cost {
            user_s: ended.user.as_secs_f64(),
            system_s: ended.system.as_secs_f64(),
            wall_s: ended.wall.as_secs_f64(),
            server_cpu_s: server_cpu.as_secs_f64(),
            machine,
            others: (machine.busy - ours / all).max(0.0),
        };
        Ok((ended, cost))
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
