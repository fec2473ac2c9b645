//! `headworks watch`: the monitor of a server and its kernel.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::Serialize;
use units::Span;
use watch::costs::{self, Pair};
use watch::{Look, Monitor, Recording, Summary, connections, kernel, processes};

use super::{command_line, print, signals};
use crate::exit::{Exit, Failure, tell};

/// Watches a server and its kernel: processors, interrupts, disks, and what the server's processes use.
///
/// Figures are read by programs in the kernel (eBPF, as root) or, where that is not possible, from /proc; `headworks doctor` says which and why. cpu shares are of all processors for the kernel, and processors in use for a program.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Programs whose processes are watched, by the names that ps shows.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    program: Vec<String>,
    /// Ports whose connections are watched: how many there are in each state, and how many wait to be accepted.
    #[arg(long, value_name = "P", value_delimiter = ',')]
    port: Vec<u16>,
    /// Time between two looks.
    #[arg(long, value_name = "SPAN", default_value = "1s")]
    interval: Span,
    /// How long to watch (default: until interrupted).
    #[arg(long, value_name = "SPAN")]
    duration: Option<Span>,
    /// Say what a sample costs, by a program in the kernel and from /proc, and end.
    #[arg(long)]
    costs: bool,
    /// Print one JSON object at the end and nothing else.
    #[arg(long)]
    json: bool,
    /// Write a run directory.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print no line for each look.
    #[arg(long)]
    quiet: bool,
}

#[derive(Debug, Serialize)]
struct Outcome {
    #[serde(flatten)]
    seen: Summary,
    overhead: Overhead,
}

/// What watching has cost.
#[derive(Debug, Serialize)]
struct Overhead {
    /// Processors that this process used.
    cpu: f64,
    /// How long it takes to look at everything once.
    sample_cost: record::Quantiles,
}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        self.check().map_err(Failure::Usage)?;
        if self.costs { self.costs() } else { self.watch() }
    }

    fn check(&self) -> anyhow::Result<()> {
        let kept = |name: &String| name.as_bytes()[..name.len().min(processes::LONGEST_NAME)].to_vec();
        let names: Vec<_> = self.program.iter().map(kept).collect();
        for (at, name) in names.iter().enumerate() {
            anyhow::ensure!(!name.is_empty(), "--program: a name is empty");
            let longest = processes::LONGEST_NAME;
            let twice = names[..at].contains(name);
            let name = &self.program[at];
            anyhow::ensure!(!twice, "--program: the first {longest} bytes of \"{name}\" are there before");
        }
        for (option, count, most) in [
            ("program", self.program.len(), processes::MOST_PROGRAMS),
            ("port", self.port.len(), connections::MOST_PORTS),
        ] {
            anyhow::ensure!(count <= most, "--{option}: at most {most} can be watched at once");
        }
        anyhow::ensure!(self.interval >= Span::from_millis(10), "--interval: must be at least 10ms");
        anyhow::ensure!(!self.duration.is_some_and(Span::is_zero), "--duration: must be more than nothing");
        Ok(())
    }

    fn watch(&self) -> Result<Exit, Failure> {
        let (stop, stopped) = mpsc::channel();
        signals::on_each(move |signal| {
            let _ = stop.send(signal);
        })
        .map_err(Failure::Failed)?;
        let monitor = Monitor::open(&self.program, &self.port);
        for (group, mechanism, refused) in monitor.mechanisms() {
            if let Some(why) = refused.filter(|_| !self.quiet) {
                tell(format_args!("{group}: {mechanism}, because of {why}"));
            }
        }
        let recording = self.out.as_ref().map(|out| Recording::begin(out, command_line(), self.spec()));
        let recording = recording.transpose().map_err(|why| Failure::Failed(why.into()))?;
        let mut watch = Watch::begin(monitor, recording)?;
        let ended = self.follow(&mut watch, &stopped);
        // Whatever ended it, what was seen is kept.
        let outcome = watch.end(!matches!(ended, Ok(None)));
        let (signal, outcome) = (ended?, outcome?);
        if self.json {
            let text = serde_json::to_string(&outcome).map_err(|why| Failure::Failed(why.into()))?;
            print(text + "\n")?;
        } else if self.quiet {
            print(outcome.seen.lines(true))?;
        }
        Ok(signal.map_or(Exit::Ok, |signal| Exit::Interrupted { signal }))
    }

    /// Looks once an interval, until the time is over or a signal comes.
    fn follow(&self, watch: &mut Watch, stopped: &mpsc::Receiver<u8>) -> Result<Option<u8>, Failure> {
        let interval = Duration::from(self.interval);
        let whole = self.duration.map_or(Duration::MAX, Duration::from);
        let mut due = Duration::ZERO;
        let mut titled = true;
        while watch.began.elapsed() < whole {
            due = (due + interval).min(whole);
            let signal = stopped.recv_timeout(due.saturating_sub(watch.began.elapsed())).ok();
            let seen = watch.look()?;
            if !self.json && !self.quiet {
                print(seen.lines(titled))?;
                titled = false;
            }
            if signal.is_some() {
                return Ok(signal);
            }
            // After a stop, looks that were missed are not made up for.
            due = due.max(watch.began.elapsed().saturating_sub(interval));
        }
        Ok(None)
    }

    fn spec(&self) -> toml::Table {
        let mut spec = toml::Table::new();
        spec.insert("program".to_owned(), self.program.clone().into());
        spec.insert(
            "port".to_owned(),
            self.port.iter().map(|port| i64::from(*port)).collect::<Vec<_>>().into(),
        );
        spec.insert("interval".to_owned(), self.interval.to_string().into());
        spec
    }

    /// The paper's table 4.
    fn costs(&self) -> Result<Exit, Failure> {
        let kernel = Pair::of(or_say(kernel::Traced::open()), kernel::Proc::default());
        let traced = or_say(processes::Traced::open(&self.program));
        let processes = Pair::of(traced, processes::Proc::open(&self.program));
        let traced = or_say(connections::Traced::open(&self.port));
        let connections = Pair::of(traced, connections::Proc::open(&self.port));
        let failed = |why: watch::Error| Failure::Failed(why.into());
        let [kernel, processes, connections] =
            [kernel.map_err(failed)?, processes.map_err(failed)?, connections.map_err(failed)?];
        if self.json {
            let table =
                serde_json::json!({ "kernel": kernel, "processes": processes, "connections": connections });
            print(format!("{table}\n"))?;
            return Ok(Exit::Ok);
        }
        let mut text = format!("{:<12}{:>12}{:>12}{:>10}\n", "us a sample", "/proc", "eBPF", "ratio");
        for (group, pair) in [("kernel", kernel), ("processes", processes), ("connections", connections)] {
            let micros = |cost: Option<costs::Cost>| {
                cost.map_or("-".to_owned(), |cost| format!("{:.1}", cost.median * 1e6))
            };
            let ratio = pair.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.0}"));
            text +=
                &format!("{group:<12}{:>12}{:>12}{ratio:>10}\n", micros(Some(pair.proc)), micros(pair.ebpf));
        }
        print(text)?;
        Ok(Exit::Ok)
    }
}

/// A watch under way.
struct Watch {
    monitor: Monitor,
    recording: Option<Recording>,
    began: Instant,
    cpu: Span,
    first: Look,
    last: Look,
    took: record::Histogram,
}

impl Watch {
    fn begin(mut monitor: Monitor, recording: Option<Recording>) -> Result<Self, Failure> {
        let (began, cpu) = (Instant::now(), costs::process());
        let first = monitor.look().map_err(|why| Failure::Failed(why.into()))?;
        let (last, took) = (first.clone(), record::Histogram::new());
        Ok(Self { monitor, recording, began, cpu, first, last, took })
    }

    /// What went on since the last look.
    fn look(&mut self) -> Result<Summary, Failure> {
        let look = self.monitor.look().map_err(|why| Failure::Failed(why.into()))?;
        self.took.record(look.took);
        let seen = self.monitor.between(&self.last, &look);
        self.last = look;
        if let Some(recording) = &mut self.recording {
            let written = recording.add(self.began.elapsed().into(), &seen);
            written.context("the record ends here").map_err(Failure::Failed)?;
        }
        Ok(seen)
    }

    fn end(&mut self, interrupted: bool) -> Result<Outcome, Failure> {
        let length = self.began.elapsed();
        let overhead = Overhead {
            cpu: costs::process().saturating_sub(self.cpu).as_secs_f64() / length.as_secs_f64(),
            sample_cost: self.took.quantiles(),
        };
        let outcome = Outcome { seen: self.monitor.between(&self.first, &self.last), overhead };
        if let Some(recording) = self.recording.take() {
            let ended = recording.end(length.into(), interrupted, &outcome);
            ended.map_err(|why| Failure::Failed(why.into()))?;
        }
        Ok(outcome)
    }
}

/// The source, or why there is none on standard error.
fn or_say<T>(traced: Result<T, watch::Error>) -> Option<T> {
    traced.inspect_err(|why| tell(why)).ok()
}
