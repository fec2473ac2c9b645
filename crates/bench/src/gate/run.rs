//! One run: a fresh server, a fresh proxy before it, a generator to its end, and what that cost.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::case::{Answer, CONNECTIONS, Case};
use super::hold::Held;
use super::plan::GatePlan;
use super::protocol::Protocol;
use super::proxy::{Proxy, ProxyFiles};
use crate::generators::ask::Ask;
use crate::generators::generator::{Generator, Programs};
use crate::generators::headworks::{self, Client, Latency, Pace};
use crate::generators::{h2load, told::Told};
use crate::harness::cell::Repeated;
use crate::harness::trial::{self, Trial};
use crate::results::machine::Shares;
use crate::servers::server::{GENERATOR_CPU, Server};
use crate::servers::site::{Content, Site};

/// Runs one thing at a time.
#[derive(Debug)]
pub(super) struct Runner {
    pub(super) site: Site,
    pub(super) place: ProxyFiles,
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

    /// In the place of a proxy's name, without a proxy.
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
            let url = format!("{scheme}://127.0.0.1:{}{}", entrance.port(), case.path());
            let record = Path::new("");
            let ask = Ask { url: &url, reuse: case.reuse, connections: case.connections(), seconds, record };
            match case.protocol {
                Protocol::Http2 => (Generator::H2load, h2load::multiplexed(&ask)),
                Protocol::Http1 | Protocol::Tls => (Generator::Wrk, Generator::Wrk.arguments(&ask)),
            }
        })
    }

    /// Asks for so many requests per second, through a proxy or directly.
    pub(super) fn pace(&self, proxy: Option<Proxy>, rate: u64, round: u32, seconds: u32) -> Run {
        let run = Run::new(GatePlan::LATENCY.to_owned(), proxy, round);
        self.measure(run, proxy, Case::FIRST, seconds, |entrance| {
            let pace = Pace { rate, arrivals: "poisson", seconds, connections: Some(CONNECTIONS) };
            (Generator::Headworks, headworks::pace(&entrance.url(Case::FIRST.size), pace))
        })
    }

    /// Weighs a proxy before and after so many connections were opened to it.
    pub(super) fn weigh(&self, proxy: Proxy, connections: u32, round: u32) -> Run {
        let mut run = Run::new(GatePlan::IDLE.to_owned(), Some(proxy), round);
        let weigh = || {
            let server = self.serve(Answer::Served)?;
            let (proxy, _) = self.place.start(proxy, &server, Case::FIRST)?;
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
    pub(super) fn serve(&self, answer: Answer) -> anyhow::Result<Server> {
        let program = &self.headworks.display().to_string();
        let content = match answer {
            Answer::Served => Content::Origin(program),
            Answer::Refused => Content::Workers(program, 4),
        };
        self.site.serve(content, GENERATOR_CPU)
    }

    /// What fails, fails this run: the others are worth having.
    fn measure(
        &self,
        mut run: Run,
        proxy: Option<Proxy>,
        case: Case,
        seconds: u32,
        ask: impl FnOnce(&Server) -> (Generator, Vec<String>),
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
        ask: impl FnOnce(&Server) -> (Generator, Vec<String>),
    ) -> anyhow::Result<()> {
        let server = self.serve(case.answer)?;
        let mut front = None;
        if let Some(proxy) = proxy {
            let (started, command) = self.place.start(proxy, &server, case)?;
            run.commands.push(command);
            front = Some(started);
        }
        let (generator, arguments) = ask(front.as_ref().unwrap_or(&server));
        let programs = Programs { headworks: self.headworks.clone(), shb: PathBuf::new() };
        let front = front.as_ref();
        let trial = Trial { generator, arguments, server: &server, front, size: case.size, seconds };
        run.commands.push(trial.command(&programs));
        let measured = trial.run(&programs, self.processors)?;
        run.cost = Some(Cost::of(&measured.cost));
        if generator == Generator::Headworks {
            run.client.clone_from(&measured.client);
            run.latency = measured.latency;
        }
        let mut told = measured.told?;
        run.failure = match case.answer {
            Answer::Served => measured.failure,
            Answer::Refused => {
                told.count_refusals();
                told.failure(0)
            }
        };
        run.told = Some(told);
        Ok(())
    }
}

impl Cost {
    fn of(cost: &trial::Cost) -> Self {
        let [user, system] = cost.front_ticks.map(|ticks| ticks as f64);
        Self {
            proxy_cpu_s: cost.front.as_secs_f64(),
            kernel: system / (user + system).max(1.0),
            server_cpu_s: cost.server.as_secs_f64(),
            generator_cpu_s: (cost.user + cost.system).as_secs_f64(),
            wall_s: cost.wall.as_secs_f64(),
            machine: cost.machine,
            others: cost.others,
        }
    }
}
