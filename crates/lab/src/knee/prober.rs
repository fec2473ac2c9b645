//! [`Prober`]: makes probes with the generator, and waits for the server to come to rest after those that were
//! too much for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use record::RunDirectory;
use record::search::Tried;
use units::{Rate, Span};

use super::backlog::Backlog;
use super::probe::{self, Outcome, Probe};
use super::{Crowd, Search, tried};
use crate::load::{self, Offer};
use testbed::Stop;
use testbed::Testbed;

use crate::{Error, server, test};

/// A closed loop shows what it does sooner than an open one.
const CLOSED: Span = Span::from_secs(1);
const LIGHT: Span = Span::from_millis(1500);
/// Over the time that one alone takes: warm-up, to open connections and fill caches; the shortest window; how
/// long what is under way is followed at the end.
const WARMUP: u64 = 3;
const WINDOW: u64 = 10;
const DRAIN: u64 = 3;
const SHORTEST_WARMUP: Span = Span::from_millis(300);
const SHORTEST_DRAIN: Span = Span::from_secs(1);
/// However slow the server is.
const LONGEST: Span = Span::from_secs(20);
/// How often a probe is made again in which the generator was late, and what else the machine did then is given
/// time to end.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);
/// A server is at rest when somebody alone gets this share of the responses that he got at first.
const AT_REST: f64 = 0.7;
/// In so many times of the time that one alone takes; the last response may come just after it.
const AGAIN: u64 = 5;
const LOOK: Span = Span::from_millis(100);
const LONGEST_REST: Duration = Duration::from_secs(5);
/// Where the generator had no port left: those of connections that it closed first are free after a minute
/// (`TCP_TIMEWAIT_LEN`, `include/net/tcp.h`).
const REST_OF_PORTS: Duration = Duration::from_secs(61);

/// Makes probes, and keeps what they found.
pub(crate) struct Prober<'a> {
    pub(crate) search: &'a Search,
    pub(crate) testbed: &'a Testbed<'a>,
    pub(crate) root: PathBuf,
    pub(crate) stop: &'a Stop,
    /// What somebody alone achieves per second.
    pub(crate) alone: Option<f64>,
    /// Whether rates are of sessions.
    pub(crate) of_sessions: bool,
    pub(crate) tried: Vec<Tried>,
    pub(crate) each: &'a mut dyn FnMut(&Tried),
    /// Runs of the generator, for their names and seeds.
    pub(crate) runs: u64,
    /// Whether the last probe's generator had no port left for some of its connections.
    pub(crate) lacked_ports: bool,
}

impl Prober<'_> {
    /// So many clients, each with one request or session after the other.
    pub(crate) fn closed(&mut self, clients: u32) -> Result<Probe, Error> {
        self.probe(Offer::Closed(clients), CLOSED.max(self.times(WINDOW)), None)
    }

    /// The same for a given time.
    pub(crate) fn crowd(&mut self, crowd: Crowd) -> Result<Probe, Error> {
        self.probe(Offer::Closed(crowd.clients.get()), crowd.hold, crowd.warmup)
    }

    /// What the last probe left.
    pub(crate) fn last(&self) -> &Tried {
        &self.tried[self.tried.len() - 1]
    }

    /// One client, who has to be answered; what he gets says how long all else has to take.
    pub(crate) fn alone(&mut self) -> Result<f64, Error> {
        let mut probe = self.closed(1)?;
        if probe.achieved() * CLOSED.as_secs_f64() < WINDOW as f64 {
            probe = self.probe(Offer::Closed(1), LONGEST / 2, None)?;
        }
        self.of_sessions = probe.summary.sessions.started > 0;
        let achieved = probe.achieved();
        if achieved <= 0.0 || probe.wrong() > 0.5 {
            let why = probe.complaints();
            return Err(Error::Capacity(if self.of_sessions && why.is_empty() {
                "a single session takes longer than 10 s, too long for a search; `headworks lab run` has the time".to_owned()
            } else {
                format!("a single client was not served as he should be{why}")
            }));
        }
        self.alone = Some(achieved);
        Ok(achieved)
    }

    /// So many per second, whatever becomes of them.
    pub(crate) fn open(&mut self, rate: Rate) -> Result<Outcome, Error> {
        let length = match &self.search.ramp {
            Some(ramp) => ramp.hold(),
            None => probe::length(rate, self.search.precision).max(self.times(WINDOW)),
        };
        self.hold(rate, length)
    }

    /// Less than the server can do, to see what it does then.
    pub(crate) fn light(&mut self, rate: Rate) -> Result<Outcome, Error> {
        self.hold(rate, LIGHT.max(self.times(WINDOW)))
    }

    fn hold(&mut self, rate: Rate, length: Span) -> Result<Outcome, Error> {
        let outcome = self.probe(Offer::Rate(rate), length, None)?.outcome(self.search.precision);
        if outcome != Outcome::KeptUp {
            self.rest()?;
        }
        Ok(outcome)
    }

    /// Waits until the server serves somebody alone as it did before.
    pub(crate) fn rest(&mut self) -> Result<(), Error> {
        let Some(alone) = self.alone else { return Ok(()) };
        if self.lacked_ports {
            // Whoever asks meanwhile takes the few ports that are free again.
            self.stop.pause(REST_OF_PORTS)?;
        }
        let deadline = Instant::now() + LONGEST_REST;
        while Instant::now() < deadline {
            let look = LOOK.max(self.times(AGAIN));
            match self.run(Offer::Closed(1), look, Span::ZERO, Path::new("rest")) {
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Ok(probe) if probe.achieved() >= alone * AT_REST => return Ok(()),
                _ => self.stop.pause(LOOK.into())?,
            }
        }
        Ok(())
    }

    /// A multiple of the time that one alone takes.
    fn times(&self, multiple: u64) -> Span {
        let alone = self.alone.map_or(Span::ZERO, |rate| Span::from_secs_f64(1.0 / rate));
        (alone * multiple).min(LONGEST)
    }

    /// A probe in which the generator could not keep up is made again.
    fn probe(&mut self, offer: Offer, length: Span, warmup: Option<Span>) -> Result<Probe, Error> {
        let mut attempts = 1;
        loop {
            let warmup = warmup.unwrap_or_else(|| SHORTEST_WARMUP.max(self.times(WARMUP)));
            let name = format!("probes/{:02}-{}", self.tried.len() + 1, offer.name());
            let probe = self.run(offer, length, warmup, Path::new(&name))?;
            let is_valid = !matches!(probe.outcome(self.search.precision), Outcome::NotValid(_));
            self.lacked_ports = probe.summary.client.without_port > 0;
            // Nor would there be ports half a second later.
            if is_valid || self.lacked_ports || attempts == ATTEMPTS {
                let tried = tried::of(&probe, name, self.search.precision);
                (self.each)(&tried);
                self.tried.push(tried);
                return Ok(probe);
            }
            attempts += 1;
            self.stop.pause(PAUSE)?;
        }
    }

    fn run(&mut self, offer: Offer, length: Span, warmup: Span, name: &Path) -> Result<Probe, Error> {
        self.runs += 1;
        let out = self.root.join(name);
        test::empty(&out)?;
        if let Some(files) = &self.search.cold {
            server::forget(files)?;
        }
        let drain = SHORTEST_DRAIN.max(self.times(DRAIN));
        let mut command = self.command(offer);
        command.arg("--warmup").arg(warmup.to_string());
        command.arg("--duration").arg(length.to_string());
        command.arg("--drain").arg(drain.to_string());
        load::to_record(&mut command, &out);
        let summary = load::carry_out(command, &out, warmup + length + drain, self.stop, || ())?;
        self.stop.check()?;
        let (growth, blind) = match offer {
            Offer::Rate(_) => {
                let backlog = Backlog::read(&RunDirectory::open(&out)?, self.of_sessions)?;
                (backlog.growth(), backlog.blind())
            }
            Offer::Closed(_) => (None, 0.0),
        };
        if !name.starts_with("probes") {
            fs::remove_dir_all(&out).map_err(Error::io("remove", &out))?;
        }
        Ok(Probe { offer, summary, growth, blind })
    }

    fn command(&self, offer: Offer) -> Command {
        let search = self.search;
        let mut command = self.testbed.generator(&search.headworks);
        command.arg("load").arg(&search.url).args(&search.load);
        offer.tell(&mut command);
        if matches!(offer, Offer::Closed(_))
            && search.has_option(&["--workload", "-w"])
            && !search.has_option(&["--think"])
        {
            // Somebody who pauses leaves the server idle.
            command.args(["--think", "0s"]);
        }
        for objective in &search.objectives {
            command.arg("--objective").arg(objective);
        }
        if let Offer::Rate(_) = offer {
            command.arg("--arrivals").arg(&search.arrivals);
            // Who finds all of them taken waits for one, which counts: more would say no more of the server.
            command.arg("--connections").arg(super::MOST_CLIENTS.to_string());
        }
        // As large as a seed of the generator can be.
        command.arg("--seed").arg((search.seed.wrapping_add(self.runs) & i64::MAX as u64).to_string());
        command
    }
}
