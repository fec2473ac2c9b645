//! `headworks watch`: the monitor of a server and its kernel.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use units::Span;
use watch::costs::{self, Pair};
use watch::requests::{Budget, Classes};
use watch::{Recording, Watch, connections, kernel, processes};

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
    /// Bounds between classes of requests, by the size of their responses.
    #[arg(long, value_name = "SIZE,..", default_value = "50k,500k")]
    classes: Classes,
    /// What following requests may cost, as a share of the processor time that the server uses: windows at random times are as long as that allows. `none` follows every request.
    #[arg(long, value_name = "SHARE|none", default_value = "1%")]
    budget: Budget,
    /// Seed of the random times.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
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

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        self.check().map_err(Failure::Usage)?;
        if self.costs { self.costs() } else { self.watch() }
    }

    fn check(&self) -> anyhow::Result<()> {
        let names: Vec<_> = self.program.iter().map(|name| processes::kept(name)).collect();
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
        let recording =
            self.out.as_ref().map(|out| Recording::begin(out, command_line(), self.seed, self.spec()));
        let recording = recording.transpose().map_err(|why| Failure::Failed(why.into()))?;
        let mut watch = Watch::begin(self.options(), recording).map_err(failed)?;
        if !self.quiet {
            self.say_how(&watch);
        }
        let ended = self.follow(&mut watch, &stopped);
        // Whatever ended it, what was seen is kept.
        let outcome = watch.end(!matches!(ended, Ok(None))).map_err(failed);
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
        let whole = self.duration.unwrap_or(Span::MAX);
        let mut due = Span::ZERO;
        let mut titled = true;
        while watch.age() < whole {
            due = (due + self.interval).min(whole);
            let signal = wait(watch, due, stopped)?;
            let seen = watch.look().map_err(failed)?;
            if !self.json && !self.quiet {
                print(seen.lines(titled))?;
                titled = false;
            }
            if signal.is_some() {
                return Ok(signal);
            }
            // After a stop, looks that were missed are not made up for.
            due = due.max(watch.age().saturating_sub(self.interval));
        }
        Ok(None)
    }

    fn options(&self) -> watch::Options {
        watch::Options {
            programs: self.program.clone(),
            ports: self.port.clone(),
            classes: self.classes.clone(),
            budget: self.budget,
            seed: self.seed,
        }
    }

    /// What is watched, and what is not watched as well as it could be.
    fn say_how(&self, watch: &Watch) {
        for (group, mechanism, refused) in watch.mechanisms() {
            match (mechanism, refused) {
                (Some(mechanism), Some(why)) => tell(format_args!("{group}: {mechanism}, because of {why}")),
                (None, Some(why)) => tell(format_args!("{group}: not followed, because of {why}")),
                _ => {}
            }
        }
        for server in watch.servers() {
            tell(server);
        }
        for port in &self.port {
            if !watch.servers().iter().any(|server| server.ports.contains(port)) {
                tell(format_args!(
                    "port {port}: nobody listens on it, or nobody whose sockets can be seen; it is looked at again"
                ));
            }
        }
    }

    fn spec(&self) -> toml::Table {
        let mut spec = toml::Table::new();
        spec.insert("program".to_owned(), self.program.clone().into());
        spec.insert(
            "port".to_owned(),
            self.port.iter().map(|port| i64::from(*port)).collect::<Vec<_>>().into(),
        );
        spec.insert("interval".to_owned(), self.interval.to_string().into());
        spec.insert("budget".to_owned(), self.budget.to_string().into());
        spec.insert("classes".to_owned(), self.classes.to_string().into());
        spec
    }

    /// The paper's table 4.
    fn costs(&self) -> Result<Exit, Failure> {
        let kernel = Pair::of(or_say(kernel::Traced::open()), kernel::Proc::default());
        let traced = or_say(processes::Traced::open(&self.program));
        let processes = Pair::of(traced, processes::Proc::open(&self.program));
        let traced = or_say(connections::Traced::open(&self.port));
        let connections = Pair::of(traced, connections::Proc::open(&self.port));
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

/// Until it is time to look, or a signal comes.
fn wait(watch: &mut Watch, due: Span, stopped: &mpsc::Receiver<u8>) -> Result<Option<u8>, Failure> {
    loop {
        let next = watch.turn().map_err(failed)?;
        let left = Duration::from(due.saturating_sub(watch.age()));
        if let Ok(signal) = stopped.recv_timeout(left.min(next)) {
            return Ok(Some(signal));
        }
        if watch.age() >= due {
            return Ok(None);
        }
    }
}

fn failed(why: watch::Error) -> Failure {
    Failure::Failed(why.into())
}

/// The source, or why there is none on standard error.
fn or_say<T>(traced: Result<T, watch::Error>) -> Option<T> {
    traced.inspect_err(|why| tell(why)).ok()
}
