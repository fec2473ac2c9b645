//! One run: a fresh server, a fresh proxy before it, a generator to its end, and what that cost.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::bail;
use serde::Serialize;

use super::case::{CONNECTIONS, Case, Plan, Protocol};
use super::hold::Held;
use super::proxy::{Place, Proxy};
use crate::cell::Repeated;
use crate::machine::{Processors, Shares};
use crate::peers::{self, Ask, Client, Latency, Pace, Peer, Programs, Told};
use crate::server::{GENERATOR_CPU, Server};
use crate::site::{Content, Site};
use testbed::Ended;

/// Time beyond that of the load in which a generator has to end: a request may take 20 s.
const GRACE: Duration = Duration::from_secs(40);

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
    /// `direct` without one.
    pub(super) proxy: String,
    pub(super) round: u32,
    pub(super) commands: Vec<String>,
    /// Why there is no figure in it.
    pub(super) failure: Option<String>,
    #[serde(flatten)]
    pub(super) cost: Option<Cost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) told: Option<Told>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) latency: Option<Latency>,
    /// What the generator says of itself, in an open loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<Client>,
    /// Resident bytes of the proxy for each idle connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) per_connection: Option<f64>,
}

/// CPU time in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Cost {
    pub(super) proxy_cpu_s: f64,
    /// Share of it that is the kernel's.
    pub(super) kernel: f64,
    pub(super) server_cpu_s: f64,
    pub(super) generator_cpu_s: f64,
    pub(super) wall_s: f64,
    /// Of all processors.
    pub(super) machine: Shares,
    /// Share of all processors that neither of the three used.
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
    fn new(case: String, proxy: Option<Proxy>, round: u32) -> Self {
        Self {
            case,
            proxy: proxy.map_or(Self::DIRECT, Proxy::name).to_owned(),
            round,
            commands: Vec::new(),
            failure: None,
            cost: None,
            told: None,
            latency: None,
            client: None,
            per_connection: None,
        }
    }

    /// In the place of a proxy's name, when there is none.
    pub(super) const DIRECT: &str = "direct";

    /// Requests done and what they cost, unless the run failed.
    pub(super) fn good(&self) -> Option<(&Told, &Cost)> {
        match self.failure {
            None => self.told.as_ref().zip(self.cost.as_ref()),
            Some(_) => None,
        }
    }

    /// CPU time of the proxy per request, us.
    pub(super) fn cpu_us(&self) -> Option<f64> {
        self.good().map(|(told, cost)| cost.proxy_cpu_s * 1e6 / told.requests as f64)
    }

    /// Requests per second.
    pub(super) fn rate(&self) -> Option<f64> {
        self.good().map(|(told, _)| told.rate)
    }

    /// Share of its processor that the proxy used.
    pub(super) fn load(&self) -> Option<f64> {
        self.good().map(|(_, cost)| cost.proxy_cpu_s / cost.wall_s)
    }
}

impl Runner {
    /// Runs a generator as fast as it can against a proxy.
    pub(super) fn saturate(&self, case: Case, proxy: Proxy, round: u32, seconds: u32) -> Run {
        let run = Run::new(case.to_string(), Some(proxy), round);
        self.measure(run, Some(proxy), case, seconds, |entrance| {
            let scheme = if case.protocol == Protocol::Http1 { "http" } else { "https" };
            let url = format!("{scheme}://127.0.0.1:{}/{}", entrance.port(), case.size);
            let record = Path::new("");
            let ask = Ask { url: &url, reuse: case.reuse, connections: CONNECTIONS, seconds, record };
            match case.protocol {
                Protocol::Http2 => (Peer::H2load, peers::multiplexed(&ask)),
                Protocol::Http1 | Protocol::Tls => (Peer::Wrk, Peer::Wrk.arguments(&ask)),
            }
        })
    }

    /// Asks for so many requests per second, through a proxy or directly.
    pub(super) fn pace(&self, proxy: Option<Proxy>, rate: u64, round: u32, seconds: u32) -> Run {
        let run = Run::new(Plan::LATENCY.to_owned(), proxy, round);
        self.measure(run, proxy, Case::FIRST, seconds, |entrance| {
            let pace = Pace { rate, arrivals: "poisson", seconds, connections: Some(CONNECTIONS) };
            (Peer::Headworks, peers::pace(&entrance.url(Case::FIRST.size), pace))
        })
    }

    /// Weighs a proxy before and after so many connections were opened to it.
    pub(super) fn weigh(&self, proxy: Proxy, connections: u32, round: u32) -> Run {
        let mut run = Run::new(Plan::IDLE.to_owned(), Some(proxy), round);
        let weigh = || {
            let server = self.serve()?;
            let (proxy, _) = self.place.start(proxy, &server, Case::FIRST.protocol)?;
            let before = proxy.resident()?;
            let held = Held::open(&proxy, connections, Case::FIRST.size, &self.place.file("held.log"))?;
            let after = proxy.resident()?;
            drop(held);
            Ok::<f64, anyhow::Error>((after as f64 - before as f64) / f64::from(connections))
        };
        match weigh() {
            Ok(bytes) => run.per_connection = Some(bytes),
            Err(error) => run.failure = Some(format!("{error:#}")),
        }
        run
    }

    /// The server behind: it has the processor that the proxy has not.
    pub(super) fn serve(&self) -> anyhow::Result<Server> {
        self.site.serve(Content::Origin(&self.headworks.display().to_string()), GENERATOR_CPU)
    }

    /// What fails, fails this run: the others are worth having.
    fn measure(
        &self,
        mut run: Run,
        proxy: Option<Proxy>,
        case: Case,
        seconds: u32,
        ask: impl FnOnce(&Server) -> (Peer, Vec<String>),
    ) -> Run {
        if let Err(error) = self.fill(&mut run, proxy, case, seconds, ask) {
            run.failure = Some(format!("{error:#}"));
        }
        run
    }

    fn fill(
        &self,
        run: &mut Run,
        proxy: Option<Proxy>,
        case: Case,
        seconds: u32,
        ask: impl FnOnce(&Server) -> (Peer, Vec<String>),
    ) -> anyhow::Result<()> {
        let server = self.serve()?;
        let mut front = None;
        if let Some(proxy) = proxy {
            let (started, command) = self.place.start(proxy, &server, case.protocol)?;
            run.commands.push(command);
            front = Some(started);
        }
        let entrance = front.as_ref().unwrap_or(&server);
        let (peer, arguments) = ask(entrance);
        let programs = Programs { headworks: self.headworks.clone(), shb: PathBuf::new() };
        let program = peer.program(&programs);
        run.commands.push(testbed::quote(&[std::slice::from_ref(&program), &arguments[..]].concat()));
        let mut command = entrance.client(&program);
        let (ended, cost) = self.account(command.args(&arguments), front.as_ref(), &server, seconds)?;
        run.cost = Some(cost);
        if !peer.ended_well(ended.status.code()) {
            let last = ended.stderr.lines().chain(ended.stdout.lines()).rfind(|line| !line.trim().is_empty());
            bail!("{}: {}", ended.status, last.unwrap_or("said nothing"));
        }
        if peer == Peer::Headworks {
            run.client = Some(Client::read(&ended.stdout)?);
            run.latency = Some(Latency::read(&ended.stdout)?);
        }
        let told = peer.read(&ended.stdout)?;
        run.failure = told.failure(case.size);
        run.told = Some(told);
        Ok(())
    }

    fn account(
        &self,
        command: &mut Command,
        front: Option<&Server>,
        server: &Server,
        seconds: u32,
    ) -> anyhow::Result<(Ended, Cost)> {
        let of_front = || match front {
            Some(front) => Ok((front.cpu()?, front.ticks()?)),
            None => Ok::<_, anyhow::Error>((Duration::ZERO, [0; 2])),
        };
        let (before, server_before, machine_before) = (of_front()?, server.cpu()?, Processors::now()?);
        let ended = testbed::run(command, Duration::from_secs(seconds.into()) + GRACE)?;
        let machine = Processors::now()?.since(machine_before);
        let server_cpu = server.cpu()?.saturating_sub(server_before);
        let after = of_front()?;
        let proxy_cpu = after.0.saturating_sub(before.0);
        let [user, system] = [0, 1].map(|at| after.1[at].saturating_sub(before.1[at]) as f64);
        let generator = ended.user + ended.system;
        let ours = (generator + server_cpu + proxy_cpu).as_secs_f64();
        let all = ended.wall.as_secs_f64() * f64::from(self.processors);
        let cost = Cost {
            proxy_cpu_s: proxy_cpu.as_secs_f64(),
            kernel: system / (user + system).max(1.0),
            server_cpu_s: server_cpu.as_secs_f64(),
            generator_cpu_s: generator.as_secs_f64(),
            wall_s: ended.wall.as_secs_f64(),
            machine,
            others: (machine.busy - ours / all).max(0.0),
        };
        Ok((ended, cost))
    }
}
