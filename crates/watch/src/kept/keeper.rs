//! [`Keeper`]: takes fine looks, keeps the last of them, and writes them where somebody wants to know.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::JoinHandle;

use record::{Environment, RunDirectory, RunInfo, SampleRow, Timestamp, WatchedRow, Window};
use serde::Serialize;
use units::{Bytes, Span, Time};

use super::look::{Look, Names};
use super::ring::Ring;
use super::threshold::Threshold;
use super::waiting::Waiting;
use crate::clock;
use crate::requests::{Classes, Finished};

/// What is to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Keep {
    /// How much of the past.
    pub span: Span,
    /// Where it is written: each time into a directory of its own below.
    pub directory: PathBuf,
    /// When that is done without being asked for.
    pub thresholds: Vec<Threshold>,
}

/// Of the past, at least and at most.
pub const MIN_KEEP: Span = Span::from_secs(1);
/// See [`MIN_KEEP`].
pub const MAX_KEEP: Span = Span::from_secs(24 * 3600);

/// Between two looks, where they cost little.
const EVERY: Span = Span::from_millis(10);
/// Of one processor, what looks may take: they come less often where that would be more.
const SHARE: f64 = 0.01;
/// For looks, and for requests.
const ROOM: usize = 32 << 20;
/// So much of the time after a threshold has been crossed is written as well.
const AFTER: Span = Span::from_secs(2);

/// A request, in little room; moments from the start of the watch.
#[derive(Debug, Clone)]
struct Request {
    began: Time,
    accept_wait: Option<Span>,
    phases: [Span; 3],
    cpu: Span,
    disk_wait: Span,
    bytes: [u64; 2],
    ports: [u16; 2],
}

/// What was written, or why it could not be, in words.
type Written = Result<String, String>;

/// Keeps the last minutes.
pub(crate) struct Keeper {
    keep: Keep,
    names: Names,
    classes: Classes,
    waiting: Waiting,
    looks: Ring<Look>,
    requests: Ring<Request>,
    every: Span,
    due: Span,
    /// When the watch began.
    began: Time,
    /// Why it is written, and when.
    wanted: Option<(String, Span)>,
    written: u32,
    /// Not before then for a threshold again.
    quiet_until: Span,
    writing: Option<(JoinHandle<()>, Receiver<Written>)>,
    /// Why something could not be written.
    failure: Option<String>,
}

impl Keeper {
    /// Begins to keep what becomes of these programs, ports and classes.
    pub(crate) fn new(
        keep: Keep,
        programs: &[String],
        ports: &[u16],
        classes: &Classes,
        began: Time,
    ) -> Self {
        let names = Names { programs: programs.to_vec(), ports: ports.to_vec(), classes: classes.names() };
        Self {
            waiting: Waiting::open(ports),
            looks: Ring::new(keep.span, ROOM, Look::size),
            requests: Ring::new(keep.span, ROOM, |_| size_of::<(Span, Request)>()),
            keep,
            names,
            classes: classes.clone(),
            every: EVERY,
            due: Span::ZERO,
            began,
            wanted: None,
            written: 0,
            quiet_until: Span::ZERO,
            writing: None,
            failure: None,
        }
    }

    /// When the next look is due, so long after the start.
    pub(crate) fn due(&self) -> Span {
        self.due
    }

    /// Keeps a look; `started` is the processor time of this thread when it was begun.
    pub(crate) fn look(&mut self, age: Span, mut look: Look, started: Span) {
        look.waiting = self.waiting.read();
        self.looks.push(age, look);
        let cost = clock::thread().saturating_sub(started);
        // One that takes long may have been disturbed.
        let wanted = cost.mul_f64(1.0 / SHARE).max(EVERY);
        self.every = self.every.mul_f64(0.9) + wanted.mul_f64(0.1);
        let every = self.every.as_nanos().max(1);
        self.due = Span::from_nanos(age.as_nanos() / every * every + every);
    }

    /// Keeps a request that has ended.
    pub(crate) fn request(&mut self, request: &Finished) {
        use record::PhaseName::{Log, Parse, Process};
        let age = |moment: Time| moment.since(self.began);
        let first = request.established.zip(request.accepted).filter(|_| request.is_first);
        let kept = Request {
            began: Time::ZERO + age(request.began),
            accept_wait: first.map(|(established, accepted)| accepted.since(established)),
            phases: [Parse, Process, Log].map(|phase| request.elapsed(phase)),
            cpu: request.used.iter().fold(Span::ZERO, |sum, used| sum + used.cpu()),
            disk_wait: request.used.iter().fold(Span::ZERO, |sum, used| sum + used.disk_wait),
            bytes: [request.bytes_received, request.bytes_sent],
            ports: [request.port, request.client_port],
        };
        self.requests.push(age(request.ended), kept);
    }

    /// Looks whether a threshold is crossed, and if so wants what is kept to be written, with a little of what follows.
    pub(crate) fn check(&mut self, age: Span, figures: &[crate::figures::Figure]) {
        if self.wanted.is_some() || age < self.quiet_until {
            return;
        }
        if let Some(why) = self.keep.thresholds.iter().find_map(|threshold| threshold.is_crossed(figures)) {
            let after = AFTER.min(self.keep.span.mul_f64(0.2));
            self.wanted = Some((why, age + after));
            self.quiet_until = age + self.keep.span;
        }
    }

    /// Writes what is kept, for this reason.
    pub(crate) fn want(&mut self, why: &str, age: Span) {
        self.wanted = Some((why.to_owned(), age));
    }

    /// Writes it if that is wanted by now.
    pub(crate) fn write_if_wanted(&mut self, age: Span) {
        // One at a time: what is being written takes memory as well.
        if self.writing.is_none()
            && self.wanted.as_ref().is_some_and(|(_, when)| age >= *when)
            && let Some((why, _)) = self.wanted.take()
        {
            self.write(why, age);
        }
    }

    fn write(&mut self, why: String, age: Span) {
        self.written += 1;
        let place = self.keep.directory.join(format!("kept-{}", self.written));
        let last = self.looks.last().cloned();
        let (looks, short_of_looks) = self.looks.take(age);
        let (requests, short_of_requests) = self.requests.take(age);
        if let Some((at, last)) = last {
            // What comes next has something before it.
            self.looks.push(at, last);
        }
        let kept = Kept {
            looks,
            requests,
            names: self.names.clone(),
            classes: self.classes.clone(),
            // A clock may have been set since the watch began.
            began: Timestamp::now().checked_sub(std::time::Duration::from(age)).unwrap_or_default(),
            span: self.keep.span,
            age,
            why,
            is_short: short_of_looks || short_of_requests,
        };
        let (tell, told) = channel();
        // It takes seconds, while looks go on.
        let thread = std::thread::spawn(move || {
            tui::give_way();
            let said = match kept.write(&place) {
                Ok(()) => Ok(format!("kept: {} (headworks watch read {})", kept.said(), place.display())),
                Err(why) => Err(format!("kept: cannot be written: {why}")),
            };
            // The watch may have ended.
            let _ = tell.send(said);
        });
        self.writing = Some((thread, told));
    }

    /// What has been written since it was asked before, in words.
    pub(crate) fn news(&mut self) -> Vec<String> {
        let Some((_, told)) = &self.writing else { return Vec::new() };
        let said = match told.try_recv() {
            Err(TryRecvError::Empty) => return Vec::new(),
            Err(TryRecvError::Disconnected) => Err("kept: the thread that writes has failed".to_owned()),
            Ok(said) => said,
        };
        self.writing = None;
        vec![self.note(said)]
    }

    fn note(&mut self, said: Written) -> String {
        said.unwrap_or_else(|why| {
            self.failure = Some(why.clone());
            why
        })
    }

    /// Why something that was kept could not be written, if so.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Waits until all is written that is being written.
    fn wait(&mut self) -> Option<String> {
        let (thread, told) = self.writing.take()?;
        // A thread that has failed has said nothing.
        let _ = thread.join();
        let said =
            told.try_recv().unwrap_or_else(|_| Err("kept: the thread that writes has failed".to_owned()));
        Some(self.note(said))
    }

    /// Writes what there is, and waits until all is written; what there is to say of it.
    pub(crate) fn end(&mut self, age: Span) -> Vec<String> {
        let mut news: Vec<String> = self.wait().into_iter().collect();
        if !self.looks.is_empty() && self.looks.last().is_some_and(|(when, _)| *when > Span::ZERO) {
            let why = self.wanted.take().map_or_else(|| "the watch has ended".to_owned(), |(why, _)| why);
            self.write(why, age);
        }
        news.extend(self.wait());
        news
    }
}

/// What stands in `summary.json`.
#[derive(Serialize)]
struct Outcome<'kept> {
    why: &'kept str,
    looks: usize,
    requests: usize,
    /// Whether there was room for all of the time.
    whole: bool,
}

/// What is written.
struct Kept {
    looks: Vec<(Span, Look)>,
    requests: Vec<(Span, Request)>,
    names: Names,
    classes: Classes,
    began: Timestamp,
    span: Span,
    age: Span,
    why: String,
    is_short: bool,
}

impl Kept {
    fn first(&self) -> Span {
        self.looks.first().map_or(self.age, |(when, _)| *when)
    }

    /// In a few words.
    fn said(&self) -> String {
        let span = self.age.saturating_sub(self.first()).as_secs_f64();
        let short = if self.is_short { "; for more there was no room" } else { "" };
        format!(
            "{}: {} looks at {span:.1} s, {} requests{short}",
            self.why,
            self.looks.len(),
            self.requests.len()
        )
    }

    fn write(&self, place: &Path) -> Result<(), record::Error> {
        let directory = RunDirectory::create(place)?;
        let environment = Environment::capture();
        directory.write_environment(&environment)?;
        let mut spec = toml::Table::new();
        spec.insert("keep".to_owned(), self.span.to_string().into());
        spec.insert("why".to_owned(), self.why.clone().into());
        let from = self.first();
        directory.write_info(&RunInfo {
            tool: "watch".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: std::env::args().collect(),
            started: self.began,
            ended: Some(Timestamp::now()),
            interrupted: false,
            seed: 0,
            window: Window::new(Time::ZERO + from, self.age.saturating_sub(from)),
            step_unit: None,
            steps: Vec::new(),
            spec,
        })?;
        self.write_looks(&directory, &environment.host)?;
        self.write_requests(&directory)?;
        let kept = Outcome {
            why: &self.why,
            looks: self.looks.len(),
            requests: self.requests.len(),
            whole: !self.is_short,
        };
        directory.write_outcome(&kept)
    }

    fn write_looks(&self, directory: &RunDirectory, host: &str) -> Result<(), record::Error> {
        let mut samples = directory.write_samples()?;
        for pair in self.looks.windows(2) {
            let [(before, earlier), (now, later)] = pair else { continue };
            let seconds = now.saturating_sub(*before).as_secs_f64();
            for figure in later.since(earlier, seconds, &self.names) {
                let label = figure.label.as_str().into();
                samples.push(SampleRow::of(
                    figure.metric,
                    label,
                    Time::ZERO + *now,
                    host.into(),
                    figure.value,
                ))?;
            }
        }
        samples.finish()
    }

    fn write_requests(&self, directory: &RunDirectory) -> Result<(), record::Error> {
        if self.requests.is_empty() {
            return Ok(());
        }
        let mut table = directory.write_watched()?;
        for (_, request) in &self.requests {
            let [parse_ns, process_ns, log_ns] = request.phases;
            let [port, client_port] = request.ports;
            let [bytes_received, bytes_sent] = request.bytes;
            let class = self.names.classes[self.classes.of(Bytes(bytes_sent))].as_str();
            table.push(WatchedRow {
                began: request.began,
                port,
                client_port,
                class: class.into(),
                accept_wait_ns: request.accept_wait,
                parse_ns,
                process_ns,
                log_ns,
                cpu_ns: request.cpu,
                disk_wait_ns: request.disk_wait,
                bytes_received,
                bytes_sent,
            })?;
        }
        table.finish()
    }
}
