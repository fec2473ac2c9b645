//! [`Trial`]: a generator that runs to its end against a server, and what that costs all of them.

use std::time::Duration;

use testbed::Ended;

use crate::generators::generator::{Generator, Programs};
use crate::generators::headworks::{Client, Latency};
use crate::generators::told::Told;
use crate::results::machine::{Processors, Shares};
use crate::servers::server::Server;

/// Time beyond that of the load in which a generator has to end: a request may take 20 s.
const GRACE: Duration = Duration::from_secs(40);

/// A run of a generator.
#[derive(Debug)]
pub(crate) struct Trial<'a> {
    pub(crate) generator: Generator,
    pub(crate) arguments: Vec<String>,
    /// What answers, or is behind a proxy.
    pub(crate) server: &'a Server,
    /// What is in front of it, if anything.
    pub(crate) front: Option<&'a Server>,
    /// Bytes of a response.
    pub(crate) size: usize,
    pub(crate) seconds: u32,
}

/// What came of a run whose generator ended.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) cost: Cost,
    /// What the generator says; or why it cannot be read.
    pub(crate) told: anyhow::Result<Told>,
    /// What `headworks load` says of itself.
    pub(crate) client: Option<Client>,
    /// Of responses, as `headworks load` says it.
    pub(crate) latency: Option<Latency>,
    /// Why there is no figure in it: errors, no requests, or other content than was asked for.
    pub(crate) failure: Option<String>,
}

/// What a run cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// CPU time of the generator in user mode and in the kernel.
    pub(crate) user: Duration,
    pub(crate) system: Duration,
    pub(crate) wall: Duration,
    /// CPU time of the server, and of what is in front of it.
    pub(crate) server: Duration,
    pub(crate) front: Duration,
    /// Ticks of what is in front in user mode and in the kernel.
    pub(crate) front_ticks: [u64; 2],
    /// Of all processors.
    pub(crate) machine: Shares,
    /// Share of all processors that none of them used.
    pub(crate) others: f64,
}

impl Trial<'_> {
    /// The generator's command, as one would type it.
    pub(crate) fn command(&self, programs: &Programs) -> String {
        let program = self.generator.program(programs);
        testbed::quote(&[std::slice::from_ref(&program), &self.arguments[..]].concat())
    }

    /// Runs the generator; `processors` is how many the machine has.
    pub(crate) fn run(&self, programs: &Programs, processors: u32) -> anyhow::Result<Measured> {
        let (ended, cost) = self.account(programs, processors)?;
        let mut measured =
            Measured { cost, told: Ok(Told::default()), client: None, latency: None, failure: None };
        if !self.generator.ended_well(ended.status.code()) {
            let last = ended.stderr.lines().chain(ended.stdout.lines()).rfind(|line| !line.trim().is_empty());
            let why = format!("{}: {}", ended.status, last.unwrap_or("said nothing"));
            measured.told = Err(anyhow::anyhow!(why));
            return Ok(measured);
        }
        if matches!(self.generator, Generator::Headworks | Generator::HeadworksRecord) {
            measured.client = Some(Client::read(&ended.stdout)?);
            measured.latency = Some(Latency::read(&ended.stdout)?);
        }
        measured.told = self.generator.read(&ended.stdout);
        measured.failure = measured.told.as_ref().ok().and_then(|told| told.failure(self.size));
        Ok(measured)
    }

    fn account(&self, programs: &Programs, processors: u32) -> anyhow::Result<(Ended, Cost)> {
        let of_front = || match self.front {
            Some(front) => Ok((front.cpu()?, front.ticks()?)),
            None => Ok::<_, anyhow::Error>((Duration::ZERO, [0; 2])),
        };
        let entrance = self.front.unwrap_or(self.server);
        let mut command = entrance.client(&self.generator.program(programs));
        command.args(&self.arguments);
        let (before, server_before, machine_before) = (of_front()?, self.server.cpu()?, Processors::now()?);
        let ended = testbed::run(&mut command, Duration::from_secs(self.seconds.into()) + GRACE)?;
        let machine = Processors::now()?.since(machine_before);
        let server = self.server.cpu()?.saturating_sub(server_before);
        let after = of_front()?;
        let front = after.0.saturating_sub(before.0);
        let ours = (ended.user + ended.system + server + front).as_secs_f64();
        let all = ended.wall.as_secs_f64() * f64::from(processors);
        let cost = Cost {
            user: ended.user,
            system: ended.system,
            wall: ended.wall,
            server,
            front,
            front_ticks: [0, 1].map(|at| after.1[at].saturating_sub(before.1[at])),
            machine,
            others: (machine.busy - ours / all).max(0.0),
        };
        Ok((ended, cost))
    }
}
