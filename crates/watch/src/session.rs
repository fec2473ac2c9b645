//! [`Watch`]: a watch from its beginning to its end, without what shows it.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use serde::Serialize;
use units::{Span, Time};

use crate::addresses::Addresses;
use crate::groups::{Group, Pace};
use crate::kept::{Keeper, Look};
use crate::names::kept;
use crate::overhead::Overhead;
use crate::requests::{Budget, Busy, Demands, Following, Requests, Server};
use crate::snapshot::{Setting, Snapshot, Totals};
use crate::subject::{Note, Options, Subject, fill, missing};
use crate::{Error, Mechanism, Monitor, Recording, Summary, clock, costs};

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
    /// And that nothing used.
    idle: f64,
    /// That this process may run on.
    processors: f64,
    /// The latest of every group.
    latest: Summary,
    /// What is watched, in a few words, and what following requests may cost.
    subject: Subject,
    at: Addresses,
    budget: Budget,
    /// Processor time of looks since this age, which is part of the budget.
    looking: (Span, Span),
    /// What was not there when it began.
    missing: Vec<Note>,
    keeper: Option<Keeper>,
    /// What has become of it.
    kept: Vec<Note>,
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

/// Of the budget, as if the server used one processor.
const FOR_CONNECTIONS: f64 = 0.1;

/// Where a processor has more to do than it can, the little that a watch does comes first (the nice value).
const PRIORITY: i32 = -10;

impl Watch {
    /// Begins: what there is to find about programs and ports that were not named is looked up.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn begin(mut options: Options, mut recording: Option<Recording>) -> Result<Self, Error> {
        // Of this thread alone; without the right to it, it waits for its turn like any other.
        let _ = rustix::process::setpriority_process(None, PRIORITY);
        let named = options.programs.clone();
        fill(&mut options)?;
        let missing = missing(&named, &options.at, &options.whose)?;
        let (subject, budget) = (Subject::of(&options), options.budget);
        let share_for_connections = match options.budget {
            Budget::Unlimited => None,
            Budget::Share(share) => Some(share.as_f64() * FOR_CONNECTIONS),
        };
        let (mut requests, mut refused) = (None, None);
        let interval = options.groups.interval(Group::Requests).filter(|_| !options.at.is_empty());
        if let Some(interval) = interval {
            let following = Following {
                at: options.at.clone(),
                classes: options.classes.clone(),
                budget: options.budget,
                counts_all: options.counts_all,
                seed: options.seed,
                whose: options.whose.clone(),
            };
            match Requests::open(following) {
                Ok(opened) => requests = Some((opened, Pace::every(interval))),
                Err(why) => refused = Some(why),
            }
        }
        let mut monitor = Monitor::open(
            &options.programs,
            &options.at,
            &options.whose,
            &options.groups,
            share_for_connections,
        );
        let (began, cpu) = (clock::monotonic(), costs::process());
        let unwritten = recording.as_mut().and_then(|recording| recording.starts().err());
        monitor.begin()?;
        // Listen queues are looked at often in this network namespace alone.
        let near = if options.whose.elsewhere().is_some() { &[] } else { &options.at.ports[..] };
        let keeper =
            options.keep.map(|keep| Keeper::new(keep, &options.programs, near, &options.classes, began));
        Ok(Self {
            monitor,
            keeper,
            kept: Vec::new(),
            requests,
            refused,
            recording,
            unwritten,
            began,
            cpu,
            took: stats::Histogram::new(),
            busy: 0.0,
            idle: 0.0,
            processors: available_parallelism().map_or(1.0, |count| count.get() as f64),
            latest: Summary::default(),
            subject,
            at: options.at,
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
        let is_followed = self.requests.is_some();
        let heard: BTreeSet<String> = self.servers().iter().flat_map(|server| server.at.names()).collect();
        for name in self.at.names().into_iter().filter(|name| is_followed && !heard.contains(name)) {
            let kind = self.at.kind();
            let text = format!(
                "{kind} {name}: no program listens on it, or none whose sockets can be seen; it is looked at again"
            );
            notes.push(Note { text, is_expected: false });
        }
        let unwritten = self.unwritten().map(|why| format!("the record ends here: {why}"));
        notes.extend(unwritten.map(|text| Note { text, is_expected: false }));
        notes.extend(self.kept.iter().cloned());
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

    /// Why something that was kept could not be written, if so.
    pub fn unkept(&self) -> Option<&str> {
        self.keeper.as_ref().and_then(Keeper::failure)
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
        let mut next = Duration::MAX;
        if let Some((requests, _)) = &mut self.requests {
            let keeper = &mut self.keeper;
            let due = requests.turn(|request| {
                if let Some(keeper) = keeper {
                    keeper.request(request);
                }
            })?;
            next = due.since(clock::monotonic()).into();
        }
        if let Some(due) = self.look_finely()? {
            next = next.min(due.saturating_sub(self.age()).into());
        }
        Ok(next)
    }

    /// Keeps another look if one is due. When the next one is; none where none are kept.
    fn look_finely(&mut self) -> Result<Option<Span>, Error> {
        let (age, started) = (self.age(), clock::thread());
        let Some(keeper) = &mut self.keeper else { return Ok(None) };
        if age >= keeper.due() {
            let (kernel, processes) = self.monitor.sums()?;
            let counted = match &mut self.requests {
                Some((requests, _)) => requests.counted()?,
                None => None,
            };
            keeper.look(age, Look { kernel, processes, counted, ..Look::default() }, started);
            self.looking.0 += clock::thread().saturating_sub(started);
        }
        keeper.write_if_wanted(age);
        let news = keeper.news();
        let due = keeper.due();
        self.note_kept(news);
        Ok(Some(due))
    }

    /// Has what is kept written, if anything is, for this reason.
    pub fn write_kept(&mut self, why: &str) {
        let age = self.age();
        if let Some(keeper) = &mut self.keeper {
            keeper.want(why, age);
        }
    }

    fn note_kept(&mut self, news: Vec<String>) {
        self.kept.extend(news.into_iter().map(|text| Note { text, is_expected: false }));
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
        self.note_busy(age, &seen)?;
        let mut tally = None;
        if let Some((requests, pace)) = &mut self.requests
            && (pace.is_due(age) || everything)
        {
            let keeper = &mut self.keeper;
            let recent = requests.look(|request| {
                if let Some(keeper) = keeper {
                    keeper.request(request);
                }
            })?;
            seen.add_requests(&recent, requests.classes());
            tally = Some((recent, requests.classes()));
        }
        self.latest.update(&seen);
        if let Some(keeper) = &mut self.keeper {
            keeper.check(age, &seen.figures());
        }
        if let Some(recording) = &mut self.recording {
            recording.add(age, &seen);
            if let Some((tally, classes)) = tally {
                recording.add_requests(age, &tally, classes);
            }
        }
        Ok(seen)
    }

    /// Tells the budget what the server has used, as far as that is known, and what looking has.
    fn note_busy(&mut self, age: Span, seen: &Summary) -> Result<(), Error> {
        let Some((requests, _)) = &mut self.requests else { return Ok(()) };
        let listens =
            |name: &str| requests.servers().iter().any(|server| server.program.as_bytes() == kept(name));
        if !seen.processes.is_empty() {
            let used = seen.processes.iter().filter(|(name, _)| listens(name));
            self.busy = used.map(|(_, used)| used.cpu).sum();
        }
        if let Some(kernel) = &seen.kernel {
            self.idle = kernel.cpu_idle * self.processors;
        }
        let (cost, since) = std::mem::replace(&mut self.looking, (Span::ZERO, age));
        let besides = cost.as_secs_f64() / age.saturating_sub(since).as_secs_f64().max(1e-3);
        requests.note_busy(Busy { server: self.busy, idle: self.idle, besides })
    }

    /// For those who show it: what is watched.
    pub fn setting(&self) -> Setting {
        let budget = self.requests.as_ref().map_or_else(String::new, |_| match self.budget {
            _ if self.at.ports.is_empty() => "none: every request at a unix socket is counted".to_owned(),
            Budget::Unlimited => "none: every request is followed".to_owned(),
            Budget::Share(_) => format!("{} of the processor time that the server uses", self.budget),
        });
        let Subject { title, programs, ports } = &self.subject;
        Setting {
            title: title.clone(),
            server: programs.clone(),
            port: ports.clone(),
            budget,
            keeps: self.keeper.is_some(),
            ..Setting::default()
        }
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
            let keeper = &mut self.keeper;
            let told = requests.end(|request| {
                if let Some(keeper) = keeper {
                    keeper.request(request);
                }
            });
            let recent = told.and_then(|()| requests.look(|_| ()));
            seen.add_requests(requests.whole(), requests.classes());
            demands = requests.demands();
            ended = recent.map(|recent| {
                if let Some(recording) = &mut self.recording {
                    recording.add_requests(length, &recent, requests.classes());
                }
            });
        }
        if let Some(keeper) = &mut self.keeper {
            let news = keeper.end(length);
            self.note_kept(news);
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
