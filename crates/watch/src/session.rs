//! [`Watch`]: a watch from its beginning to its end, without what shows it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use serde::Serialize;
use units::{Span, Time};

use crate::groups::{Group, Groups, Pace};
use crate::overhead::Overhead;
use crate::processes::{kept, names_of_processes};
use crate::requests::{Budget, Classes, Demands, Following, Requests, Server, find};
use crate::snapshot::{Setting, Snapshot, Totals};
use crate::{Error, Mechanism, Monitor, Recording, Summary, clock, costs, requests};

/// What is to be watched.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names of programs; none for those that listen on the ports.
    pub programs: Vec<String>,
    /// Ports; none for those that the programs listen on.
    pub ports: Vec<u16>,
    /// What is looked at, and how often.
    pub groups: Groups,
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
    requests: Option<(Requests, Pace)>,
    refused: Option<Error>,
    recording: Option<Recording>,
    unwritten: Option<record::Error>,
    began: Time,
    cpu: Span,
    took: stats::Histogram,
    /// Processors that the server used when its processes were looked at last.
    busy: f64,
    /// The latest of every group.
    latest: Summary,
    /// What is watched, in a few words, and what following requests may cost.
    subject: String,
    ports: Vec<u16>,
    budget: Budget,
    /// Processor time of looks since this age, which is part of the budget.
    looking: (Span, Span),
    /// What was not there when it began.
    missing: Vec<Note>,
}

/// All that was seen.
#[derive(Debug, Clone, Serialize)]
pub struct WatchOutcome {
    /// Over all of the time.
    #[serde(flatten)]
    pub seen: Summary,
    /// What a request needs, by class.
    pub demands: BTreeMap<String, Demands>,
    /// What it has cost.
    pub overhead: Overhead,
}

/// Something that users should know of how it is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// A sentence.
    pub text: String,
    /// Whether it is so on most machines.
    pub is_expected: bool,
}

impl Note {
    fn group(group: &str, how: &dyn fmt::Display, refused: Option<&Error>) -> Self {
        let why = refused.map_or_else(String::new, |why| format!(", because of {why}"));
        Self { text: format!("{group}: {how}{why}"), is_expected: refused.is_none() }
    }
}

/// Of the budget, as if the server used one processor.
const FOR_CONNECTIONS: f64 = 0.1;

impl Watch {
    /// Begins: what there is to find about programs and ports that were not named is looked up.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn begin(mut options: Options, mut recording: Option<Recording>) -> Result<Self, Error> {
        let named = options.programs.clone();
        fill(&mut options)?;
        let missing = missing(&named, &options.ports)?;
        let (subject, budget) = (subject(&options), options.budget);
        let share_for_connections = match options.budget {
            Budget::Unlimited => None,
            Budget::Share(share) => Some(share.as_f64() * FOR_CONNECTIONS),
        };
        let (mut requests, mut refused) = (None, None);
        let interval = options.groups.interval(Group::Requests).filter(|_| !options.ports.is_empty());
        if let Some(interval) = interval {
            let following = Following {
                ports: options.ports.clone(),
                classes: options.classes,
                budget: options.budget,
                seed: options.seed,
            };
            match Requests::open(following) {
                Ok(opened) => requests = Some((opened, Pace::every(interval))),
                Err(why) => refused = Some(why),
            }
        }
        let mut monitor =
            Monitor::open(&options.programs, &options.ports, &options.groups, share_for_connections);
        let (began, cpu) = (clock::monotonic(), costs::process());
        let unwritten = recording.as_mut().and_then(|recording| recording.starts().err());
        monitor.begin()?;
        Ok(Self {
            monitor,
            requests,
            refused,
            recording,
            unwritten,
            began,
            cpu,
            took: stats::Histogram::new(),
            busy: 0.0,
            latest: Summary::default(),
            subject,
            ports: options.ports,
            budget,
            looking: (Span::ZERO, Span::ZERO),
            missing,
        })
    }

    /// How each group is watched, and what is not as good as it could be.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        for (group, mechanism, refused) in self.monitor.mechanisms() {
            notes.push(Note::group(group, &mechanism, refused));
        }
        let group = Group::Requests.name();
        if let Some((requests, _)) = &self.requests {
            notes.push(Note::group(group, &Mechanism::Ebpf, None));
            if let Some(why) = requests.why_not_counted() {
                notes.push(Note::group(group, &"rates are estimates from windows", Some(why)));
            }
        } else if let Some(why) = &self.refused {
            notes.push(Note::group(group, &"not followed", Some(why)));
        }
        notes.extend(self.missing.iter().cloned());
        for server in self.servers() {
            notes.push(Note { text: server.to_string(), is_expected: false });
        }
        for port in self.ports.iter().filter(|_| self.requests.is_some()) {
            if !self.servers().iter().any(|server| server.ports.contains(port)) {
                let text = format!(
                    "port {port}: no program listens on it, or none whose sockets can be seen; it is looked at again"
                );
                notes.push(Note { text, is_expected: false });
            }
        }
        let unwritten = self.unwritten().map(|why| format!("the record ends here: {why}"));
        notes.extend(unwritten.map(|text| Note { text, is_expected: false }));
        notes
    }

    /// Who listens on the ports whose requests are followed.
    fn servers(&self) -> &[Server] {
        self.requests.as_ref().map_or(&[], |(requests, _)| requests.servers())
    }

    /// Why nothing more is written to the record, if so.
    pub fn unwritten(&self) -> Option<&record::Error> {
        self.recording.as_ref().and_then(Recording::failure).or(self.unwritten.as_ref())
    }

    /// How long it has gone on.
    pub fn age(&self) -> Span {
        clock::monotonic().since(self.began)
    }

    /// When the next look is due, so long after the start; none when nothing is looked at.
    pub fn due(&self) -> Option<Span> {
        let requests = self.requests.as_ref().map(|(_, pace)| pace.due());
        self.monitor.due().into_iter().chain(requests).min()
    }

    /// Does what is due between two looks, and says how soon there will be something to do again.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn turn(&mut self) -> Result<Duration, Error> {
        let Some((requests, _)) = &mut self.requests else { return Ok(Duration::MAX) };
        let due = requests.turn(|_| ())?;
        Ok(due.since(clock::monotonic()).into())
    }

    /// Looks at what is due, or for the last time at everything: what went on since the looks before.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn look(&mut self, everything: bool) -> Result<Summary, Error> {
        let (age, began, before) = (self.age(), Instant::now(), clock::thread());
        let mut seen = self.monitor.look(age, everything)?;
        self.took.record(Span::from(began.elapsed()));
        self.looking.0 += clock::thread().saturating_sub(before);
        self.note_busy(age, &seen);
        let mut tally = None;
        if let Some((requests, pace)) = &mut self.requests
            && (pace.is_due(age) || everything)
        {
            let recent = requests.look()?;
            seen.add_requests(&recent, requests.classes());
            tally = Some((recent, requests.classes()));
        }
        self.latest.update(&seen);
        if let Some(recording) = &mut self.recording {
            recording.add(age, &seen);
            if let Some((tally, classes)) = tally {
                recording.add_requests(age, &tally, classes);
            }
        }
        Ok(seen)
    }

    /// Tells the budget what the server has used, as far as that is known, and what looking has.
    fn note_busy(&mut self, age: Span, seen: &Summary) {
        let Some((requests, _)) = &mut self.requests else { return };
        let listens =
            |name: &str| requests.servers().iter().any(|server| server.program.as_bytes() == kept(name));
        if !seen.processes.is_empty() {
            let used = seen.processes.iter().filter(|(name, _)| listens(name));
            self.busy = used.map(|(_, used)| used.cpu).sum();
        }
        let (cost, since) = std::mem::replace(&mut self.looking, (Span::ZERO, age));
        requests.note_busy(self.busy, cost.as_secs_f64() / age.saturating_sub(since).as_secs_f64().max(1e-3));
    }

    /// For those who show it: what is watched.
    pub fn setting(&self) -> Setting {
        let budget = self.requests.as_ref().map_or_else(String::new, |_| match self.budget {
            Budget::Unlimited => "none: every request is followed".to_owned(),
            Budget::Share(_) => format!("{} of the processor time that the server uses", self.budget),
        });
        Setting { title: self.subject.clone(), budget, ..Setting::default() }
    }

    /// For those who show it: the last look, and everything so far.
    pub fn snapshot(&self) -> Snapshot {
        let mut whole = Summary::default();
        if let Some((requests, _)) = &self.requests {
            whole.add_requests(requests.whole(), requests.classes());
        }
        Snapshot {
            age: self.age(),
            latest: self.latest.clone(),
            requests: whole.requests,
            waits: whole.waits,
            followed: whole.followed,
            overhead: self.overhead(),
            notes: self.notes().into_iter().map(|note| note.text).collect(),
            untold: None,
        }
    }

    /// For those who read histograms: requests so far; none when they are not followed.
    pub fn totals(&self) -> Option<Totals> {
        let (requests, _) = self.requests.as_ref()?;
        Some(Totals { classes: requests.classes().names(), tally: requests.whole().clone() })
    }

    /// What it has cost so far.
    pub fn overhead(&self) -> Overhead {
        let length = self.age();
        let (duty, spent) = self.requests.as_ref().map_or((0.0, Span::ZERO), |(requests, _)| {
            (requests.duty(length).as_f64(), requests.spent_by_others())
        });
        let used = costs::process().saturating_sub(self.cpu) + spent;
        Overhead {
            cpu: used.as_secs_f64() / length.as_secs_f64(),
            sample_cost: record::Quantiles::of(&self.took),
            duty,
        }
    }

    /// Ends it, and the record; whether that [could be written](Self::unwritten) is another matter.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn end(&mut self, interrupted: bool) -> Result<WatchOutcome, Error> {
        let length = self.age();
        let mut seen = self.monitor.whole();
        let mut demands = BTreeMap::new();
        let mut ended = Ok(());
        if let Some((requests, _)) = &mut self.requests {
            let recent = requests.end(|_| ()).and_then(|()| requests.look());
            seen.add_requests(requests.whole(), requests.classes());
            demands = requests.demands();
            ended = recent.map(|recent| {
                if let Some(recording) = &mut self.recording {
                    recording.add_requests(length, &recent, requests.classes());
                }
            });
        }
        let outcome = WatchOutcome { seen, demands, overhead: self.overhead() };
        if let Some(recording) = self.recording.take() {
            self.unwritten = recording.end(length, interrupted, &outcome).err();
        }
        // What was seen is kept also when it fails.
        ended?;
        Ok(outcome)
    }
}

/// What is watched, in a few words.
fn subject(options: &Options) -> String {
    let ports: Vec<_> = options.ports.iter().map(u16::to_string).collect();
    match (&options.programs[..], &ports[..]) {
        ([], []) => "this machine".to_owned(),
        ([], ports) => format!("port {}", ports.join(", ")),
        (programs, []) => programs.join(", "),
        (programs, ports) => format!("{} on port {}", programs.join(", "), ports.join(", ")),
    }
}

/// The programs or the ports that were not named, by who listens.
/// Which of the programs that were named do not run, and whether none of them listens, so that no requests are followed.
fn missing(programs: &[String], ports: &[u16]) -> Result<Vec<Note>, Error> {
    if programs.is_empty() {
        return Ok(Vec::new());
    }
    let running = names_of_processes()?;
    let is_absent = |name: &&String| !running.contains(kept(name));
    let absent = programs.iter().filter(is_absent).map(|name| {
        format!(
            "program {name}: no process is called so (of a name the first 15 bytes count, as in /proc/PID/comm). \
             Once there is one it is watched; its requests are only followed where its port was given (--port)"
        )
    });
    let mut texts: Vec<String> = absent.collect();
    if texts.len() < programs.len() && ports.is_empty() {
        texts.push(format!(
            "{}: no TCP port is listened on, or none whose socket can be seen, so no requests are followed; give --port",
            programs.join(", ")
        ));
    }
    Ok(texts.into_iter().map(|text| Note { text, is_expected: false }).collect())
}

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
        options.ports.truncate(requests::MAX_PORTS);
    }
    Ok(())
}
