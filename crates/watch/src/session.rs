//! [`Watch`]: a watch from its beginning to its end, whoever shows what it sees.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use units::{Span, Time};

use crate::requests::{Budget, Classes, Demands, Following, Requests, Server, find};
use crate::{Error, Look, Mechanism, Monitor, Recording, Summary, clock, costs, processes, requests};

/// What is to be watched.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names of programs; none for those that listen on the ports.
    pub programs: Vec<String>,
    /// Ports; none for those that the programs listen on.
    pub ports: Vec<u16>,
    /// Requests by the size of their responses.
    pub classes: Classes,
    /// What following requests may cost.
    pub budget: Budget,
    /// Of the random places of windows.
    pub seed: u64,
}

/// A watch under way.
pub struct Watch {
    monitor: Monitor,
    requests: Option<Requests>,
    refused: Option<Error>,
    recording: Option<Recording>,
    began: Time,
    cpu: Span,
    first: Look,
    last: Look,
    took: record::Histogram,
}

/// All that was seen.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// Over all of the time.
    #[serde(flatten)]
    pub seen: Summary,
    /// What a request needs, by class.
    pub demands: BTreeMap<String, Demands>,
    /// What it has cost.
    pub overhead: Overhead,
}

/// What watching has cost.
#[derive(Debug, Clone, Serialize)]
pub struct Overhead {
    /// Processors that this process used, and, unless every request was followed, the server and all others
    /// for the programs that follow requests.
    pub cpu: f64,
    /// How long it takes to look at everything once.
    pub sample_cost: record::Quantiles,
    /// The share of the time in which requests were followed from their beginning.
    pub duty: f64,
}

/// Of the budget, as if the server used one processor.
const FOR_CONNECTIONS: f64 = 0.1;

impl Watch {
    /// Begins: what there is to find about programs and ports that were not named is looked up.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn begin(mut options: Options, recording: Option<Recording>) -> Result<Self, Error> {
        fill(&mut options)?;
        let share_for_connections = match options.budget {
            Budget::Unlimited => None,
            Budget::Share(share) => Some(share.as_f64() * FOR_CONNECTIONS),
        };
        let mut monitor = Monitor::open(&options.programs, &options.ports, share_for_connections);
        let (mut requests, mut refused) = (None, None);
        if !options.ports.is_empty() {
            let following = Following {
                ports: options.ports,
                classes: options.classes,
                budget: options.budget,
                seed: options.seed,
            };
            match Requests::open(following) {
                Ok(opened) => requests = Some(opened),
                Err(why) => refused = Some(why),
            }
        }
        let (began, cpu) = (clock::monotonic(), costs::process());
        let first = monitor.look()?;
        let (last, took) = (first.clone(), record::Histogram::new());
        Ok(Self { monitor, requests, refused, recording, began, cpu, first, last, took })
    }

    /// By what mechanism each group is watched, and why not by a better one.
    pub fn mechanisms(&self) -> Vec<(&'static str, Option<Mechanism>, Option<&Error>)> {
        let groups = self.monitor.mechanisms().into_iter();
        let mut groups: Vec<_> = groups.map(|(group, by, why)| (group, Some(by), why)).collect();
        if self.requests.is_some() || self.refused.is_some() {
            groups.push(("requests", self.requests.as_ref().map(|_| Mechanism::Ebpf), self.refused.as_ref()));
        }
        groups
    }

    /// Who listens on the ports whose requests are followed.
    pub fn servers(&self) -> &[Server] {
        self.requests.as_ref().map_or(&[], Requests::servers)
    }

    /// How long it has gone on.
    pub fn age(&self) -> Span {
        clock::monotonic().since(self.began)
    }

    /// Does what is due between two looks, and says how soon there will be something to do again.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn turn(&mut self) -> Result<Duration, Error> {
        let Some(requests) = &mut self.requests else { return Ok(Duration::MAX) };
        let due = requests.turn(|_| ())?;
        Ok(due.since(clock::monotonic()).into())
    }

    /// What went on since the last look.
    ///
    /// # Errors
    /// When the kernel does not tell, or the record cannot be written.
    pub fn look(&mut self) -> Result<Summary, Error> {
        let before = clock::thread();
        let look = self.monitor.look()?;
        let cost = clock::thread().saturating_sub(before);
        self.took.record(look.took);
        let interval = look.kernel.uptime.saturating_sub(self.last.kernel.uptime);
        let mut seen = self.monitor.between(&self.last, &look);
        self.last = look;
        let mut tally = None;
        if let Some(requests) = &mut self.requests {
            let listens = |name: &str| {
                requests.servers().iter().any(|server| server.program.as_bytes() == processes::kept(name))
            };
            let used = seen.processes.iter().filter(|(name, _)| listens(name));
            let busy = used.map(|(_, used)| used.cpu).sum();
            requests.note_busy(busy, cost.as_secs_f64() / interval.as_secs_f64().max(1e-3));
            let recent = requests.look()?;
            seen.add_requests(&recent, requests.classes());
            tally = Some((recent, requests.classes()));
        }
        if let Some(recording) = &mut self.recording {
            let time = clock::monotonic().since(self.began);
            recording.add(time, &seen)?;
            if let Some((tally, classes)) = tally {
                recording.add_requests(time, &tally, classes)?;
            }
        }
        Ok(seen)
    }

    /// Ends it, and the record.
    ///
    /// # Errors
    /// When the kernel does not tell, or the record cannot be written.
    pub fn end(&mut self, interrupted: bool) -> Result<Outcome, Error> {
        let length = self.age();
        let mut seen = self.monitor.between(&self.first, &self.last);
        let mut demands = BTreeMap::new();
        let (mut duty, mut spent) = (0.0, Span::ZERO);
        let mut ended = Ok(());
        if let Some(requests) = &mut self.requests {
            let recent = requests.end(|_| ()).and_then(|()| requests.look());
            seen.add_requests(requests.whole(), requests.classes());
            demands = requests.demands();
            duty = requests.duty(length).as_f64();
            spent = requests.spent_by_others();
            ended = recent.and_then(|recent| match &mut self.recording {
                Some(recording) => Ok(recording.add_requests(length, &recent, requests.classes())?),
                None => Ok(()),
            });
        }
        let used = costs::process().saturating_sub(self.cpu) + spent;
        let cpu = used.as_secs_f64() / length.as_secs_f64();
        let overhead = Overhead { cpu, sample_cost: self.took.quantiles(), duty };
        let outcome = Outcome { seen, demands, overhead };
        if let Some(recording) = self.recording.take() {
            recording.end(length, interrupted, &outcome)?;
        }
        // What was seen is kept all the same.
        ended?;
        Ok(outcome)
    }
}

/// The programs or the ports that were not named, by who listens.
fn fill(options: &mut Options) -> Result<(), Error> {
    if options.programs.is_empty() == options.ports.is_empty() {
        return Ok(());
    }
    let servers = find(&options.programs, &options.ports)?;
    if options.programs.is_empty() {
        options.programs = servers.iter().map(|server| server.program.clone()).collect();
        options.programs.sort_unstable();
        options.programs.dedup();
    } else {
        options.ports = servers.iter().flat_map(|server| server.ports.clone()).collect();
        options.ports.sort_unstable();
        options.ports.dedup();
        options.ports.truncate(requests::MOST_PORTS);
    }
    Ok(())
}
