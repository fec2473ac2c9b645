//! A watch from its options to its end.

use std::io::{IsTerminal as _, stdout};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use report::Document;
use telemetry::otlp::Collector;
use telemetry::{Endpoint, MetricsAddress};
use units::Span;
use watch::costs::{self, Pair};
use watch::requests::{Budget, Classes};
use watch::{
    Addresses, Group, GroupOption, KERNEL_HEADING, Keep, MAX_KEEP, MIN_INTERVAL, MIN_KEEP, Note, Origin,
    Recording, Settings, Threshold, Viewers, Watch, Whose, connections, kernel, processes,
};

use crate::exit::{Exit, Failure, tell};
use crate::output::print;
use crate::process::command_line;
use crate::signals;
use crate::values::collector;

/// What is watched, and how.
#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    /// Programs whose processes are watched, by the names that ps shows.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    program: Vec<String>,
    /// Processes that are watched, with all that they have started: those of no other name or port.
    #[arg(long, value_name = "PID", value_delimiter = ',', conflicts_with = "program")]
    pid: Vec<u32>,
    /// The same for all processes of a unit of systemd's, such as nginx or nginx.service.
    #[arg(long, value_name = "UNIT", value_delimiter = ',', conflicts_with = "program")]
    unit: Vec<String>,
    /// The same for all processes of a control group, such as /system.slice/nginx.service.
    #[arg(long, value_name = "PATH", value_delimiter = ',', conflicts_with = "program")]
    cgroup: Vec<String>,
    /// The same for all processes of a container, by its id, the first 12 digits of it, or its name; in the container's network namespace.
    #[arg(long, value_name = "CONTAINER", value_delimiter = ',', conflicts_with = "program")]
    container: Vec<String>,
    /// Ports whose connections are watched: how many there are in each state, and how many wait to be accepted.
    #[arg(long, value_name = "P", value_delimiter = ',')]
    port: Vec<u16>,
    /// A unix socket at which requests are counted, by its path (an abstract name with an @ before it). Repeatable; not together with --port.
    #[arg(long, value_name = "PATH", conflicts_with = "port")]
    socket: Vec<String>,
    /// Bounds between classes of requests, by the size of their responses (default: 50k,500k).
    #[arg(long, value_name = "SIZE,..")]
    classes: Option<Classes>,
    /// What following requests may cost, as a share of the processor time that the server uses (default: 1%): windows at random times are as long as that allows. `none` follows every request.
    #[arg(long, value_name = "SHARE|none")]
    budget: Option<Budget>,
    /// Counts every request also where that costs more than the budget, which is for following them then. Otherwise, where a server has all of its processor in use and answers so many, they are counted in windows.
    #[arg(long)]
    count_all: bool,
    /// Seed of the random times (default: 1).
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Time between two looks (default: 1s).
    #[arg(long, value_name = "SPAN")]
    interval: Option<Span>,
    /// Time between two looks at one group, or `off`: kernel, processes, network, connections, requests, or limits, which are looked at only where this is given. Repeatable.
    #[arg(long, value_name = "NAME=SPAN|off")]
    group: Vec<GroupOption>,
    /// How long to watch (default: until interrupted).
    #[arg(long, value_name = "SPAN")]
    duration: Option<Span>,
    /// A file with settings; options of the command line come before it.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Say what a sample costs, by a program in the kernel and from /proc, and end.
    #[arg(long)]
    costs: bool,
    /// Print one JSON object at the end and nothing else.
    #[arg(long)]
    json: bool,
    /// Write a run directory.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Keep the last so long in memory, in looks of 10 ms and 64 MB at most, and write it to DIR/kept-1, kept-2, .. on SIGUSR1, on the key k, when --keep-on says so, and at the end; `headworks watch read` shows it.
    #[arg(long, value_name = "SPAN")]
    keep: Option<Span>,
    /// Write what is kept when a figure is out of the ordinary, as in 'kernel.run_queue>8', 'listen_queue.waiting{80}>100' or 'waits.accept.p99>50ms'; figures are those of docs/metrics.md, as each look of --interval finds them. Repeatable.
    #[arg(long, value_name = "FIGURE>BOUND")]
    keep_on: Vec<Threshold>,
    /// Print a line for each look, on a terminal too.
    #[arg(long)]
    plain: bool,
    /// Print no line for each look.
    #[arg(long)]
    quiet: bool,
    /// Serve metrics to Prometheus while the watch lasts, as in 127.0.0.1:9465.
    #[arg(long, value_name = "ADDRESS")]
    prometheus: Option<MetricsAddress>,
    /// Send metrics to an OpenTelemetry collector (OTLP over HTTP), as in http://127.0.0.1:4318.
    #[arg(long, value_name = "URL", value_parser = collector)]
    otlp: Option<Collector>,
}

/// What somebody asks for by a signal.
enum Asked {
    /// By this one.
    End(u8),
    /// What is kept is to be written.
    Write,
}

/// All that was asked for, by options and by a file.
struct Wanted {
    options: watch::Options,
    duration: Option<Span>,
    prometheus: Option<MetricsAddress>,
    collector: Option<Collector>,
    spec: toml::Table,
}

impl RunArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let wanted = self.wanted().map_err(Failure::Usage)?;
        if self.costs { self.costs(&wanted) } else { self.watch(wanted) }
    }

    /// Options, and where there are none what the file says.
    fn wanted(&self) -> anyhow::Result<Wanted> {
        let file = self.config.as_deref().map(Settings::read).transpose()?.unwrap_or_default();
        let interval = self.interval.or(file.interval()).unwrap_or(Span::from_secs(1));
        let mut groups = file.groups(interval);
        self.group.iter().for_each(|option| groups.set(option.group, option.interval));
        let given =
            |option: &[String], file: &[String]| if option.is_empty() { file } else { option }.to_vec();
        let is_chosen = !self.pid.is_empty()
            || [&self.unit, &self.cgroup, &self.container].into_iter().any(|names| !names.is_empty());
        let of_file = if is_chosen { &[] } else { file.programs() };
        let programs = given(&self.program, of_file);
        // What the command line says comes before the file.
        let (ports, sockets) = if self.port.is_empty() && self.socket.is_empty() {
            (file.ports().to_vec(), file.sockets().to_vec())
        } else {
            (self.port.clone(), self.socket.clone())
        };
        anyhow::ensure!(
            ports.is_empty() || sockets.is_empty(),
            "ports and unix sockets are given: requests can be followed at ports alone, so watch each by itself"
        );
        watch::check_sockets(&sockets).map_err(|why| anyhow::anyhow!("--socket: {why}"))?;
        let duration = self.duration.or(file.duration(interval));
        watch::check_programs(&programs).map_err(|why| anyhow::anyhow!("--program: {why}"))?;
        watch::check_ports(&ports).map_err(|why| anyhow::anyhow!("--port: {why}"))?;
        anyhow::ensure!(interval >= MIN_INTERVAL, "--interval: must be at least {MIN_INTERVAL}");
        anyhow::ensure!(!duration.is_some_and(Span::is_zero), "--duration: must be more than nothing");
        let options = watch::Options {
            programs,
            at: Addresses { ports, sockets },
            groups,
            classes: self.classes.clone().or(file.classes.clone()).unwrap_or_default(),
            budget: self.budget.or(file.budget).unwrap_or_default(),
            counts_all: self.count_all || file.count_all.unwrap_or(false),
            seed: self.seed.or(file.seed).unwrap_or(1),
            keep: self.keep()?,
            whose: self.whose(&file)?,
        };
        anyhow::ensure!(
            options.programs.is_empty() || options.whose == Whose::Named,
            "programs are named, and processes, units, control groups or containers as well: leave one of them out"
        );
        Ok(Wanted {
            spec: spec(&options, interval, duration),
            options,
            duration,
            prometheus: self.prometheus.or(file.prometheus),
            collector: self.otlp.clone().or(file.collector()),
        })
    }

    /// Whose processes are meant, by the command line, or by the file where it says nothing of it.
    fn whose(&self, file: &Settings) -> anyhow::Result<Whose> {
        let is_said = [&self.unit, &self.cgroup, &self.container].into_iter().any(|names| !names.is_empty());
        let (units, groups, containers) = if is_said || !self.pid.is_empty() || !self.program.is_empty() {
            (&self.unit, &self.cgroup, &self.container)
        } else {
            (&file.units, &file.cgroups, &file.containers)
        };
        let mut origins = Vec::new();
        for pid in &self.pid {
            origins.push(Origin::process(*pid).context("--pid")?);
        }
        for unit in units {
            origins.push(Origin::unit(unit).context("--unit")?);
        }
        for group in groups {
            origins.push(Origin::control_group(group).context("--cgroup")?);
        }
        for container in containers {
            origins.push(Origin::container(container).context("--container")?);
        }
        Ok(if origins.is_empty() { Whose::Named } else { Whose::Of(origins) })
    }

    fn keep(&self) -> anyhow::Result<Option<Keep>> {
        let Some(span) = self.keep else {
            anyhow::ensure!(
                self.keep_on.is_empty(),
                "--keep-on: nothing is kept; give --keep, such as --keep 10m"
            );
            return Ok(None);
        };
        anyhow::ensure!(
            (MIN_KEEP..=MAX_KEEP).contains(&span),
            "--keep: must be from {MIN_KEEP} to {MAX_KEEP}"
        );
        let directory =
            self.out.clone().context("--keep: give --out DIR, where what is kept can be written")?;
        Ok(Some(Keep { span, directory, thresholds: self.keep_on.clone() }))
    }

    fn watch(&self, wanted: Wanted) -> Result<Exit, Failure> {
        let (stop, stopped) = mpsc::channel();
        let write = stop.clone();
        signals::on_each(move |signal| {
            let _ = stop.send(Asked::End(signal));
        })
        .map_err(Failure::Failed)?;
        if wanted.options.keep.is_some() {
            signals::on_user_signal(move || {
                let _ = write.send(Asked::Write);
            })
            .map_err(Failure::Failed)?;
        }
        let endpoint = wanted.prometheus.map(Endpoint::bind).transpose();
        let endpoint = endpoint.map_err(|why| Failure::Failed(why.into()))?;
        let recording = self
            .out
            .as_ref()
            .map(|out| Recording::begin(out, command_line(), wanted.options.seed, wanted.spec));
        let recording = recording.transpose().map_err(|why| Failure::Failed(why.into()))?;
        let has_kernel = wanted.options.groups.interval(Group::Kernel).is_some();
        let mut watch = Watch::begin(wanted.options, recording).map_err(failed)?;
        let live = !self.json && !self.plain && !self.quiet && stdout().is_terminal();
        let mut show = Viewers::start(watch.setting(), live, endpoint, wanted.collector);
        if let Some(address) = show.address().filter(|_| !self.quiet && !show.is_live()) {
            tell(format_args!("metrics on http://{address}/metrics"));
        }
        let begun = if has_kernel { self.say_begun(&mut watch, &show) } else { Ok(()) };
        let ended = begun.and_then(|()| self.follow(&mut watch, &mut show, wanted.duration, &stopped));
        // Whatever ended it, what was seen is kept; before the last of it is told, which may take its time.
        let mut told = watch.notes();
        let outcome = watch.end(!matches!(ended, Ok(None))).map_err(failed);
        let was_live = show.close();
        if let Some(why) = show.end() {
            tell(format_args!("collector: {why}"));
        }
        if !self.quiet {
            tell_new(&watch, &mut told);
        }
        let (signal, outcome) = (ended?, outcome?);
        if self.json {
            let text = serde_json::to_string(&outcome).map_err(|why| Failure::Failed(why.into()))?;
            print(text + "\n")?;
        } else if self.quiet || was_live {
            let heading = outcome.seen.kernel.as_ref().map_or("", |_| KERNEL_HEADING);
            print(heading.to_owned() + &outcome.seen.lines())?;
        }
        if let Some(why) = watch.unwritten() {
            return Err(Failure::Failed(anyhow!("the record is not whole: {why}")));
        }
        if let Some(why) = watch.unkept() {
            return Err(Failure::Failed(anyhow!("not all that was kept is written: {why}")));
        }
        if let Some(directory) = &self.out {
            let written = Document::read(directory).and_then(|report| report.write(directory));
            written
                .context("the record is whole, but its report could not be made")
                .map_err(Failure::Failed)?;
        }
        Ok(signal.map_or(Exit::Ok, |signal| Exit::Interrupted { signal }))
    }

    /// Whether lines are printed as it goes on.
    fn is_plain(&self, show: &Viewers) -> bool {
        !self.json && !self.quiet && !show.is_live()
    }

    /// The heading, when requests are followed: before the first line says how many there were.
    fn say_begun(&self, watch: &mut Watch, show: &Viewers) -> Result<(), Failure> {
        if !self.is_plain(show) {
            return Ok(());
        }
        watch.turn().map_err(failed)?;
        print(KERNEL_HEADING)
    }

    /// Looks whenever something is due, until the time is over or a signal comes.
    fn follow(
        &self,
        watch: &mut Watch,
        show: &mut Viewers,
        duration: Option<Span>,
        stopped: &mpsc::Receiver<Asked>,
    ) -> Result<Option<u8>, Failure> {
        let whole = duration.unwrap_or(Span::MAX);
        let mut told = Vec::new();
        self.tell_news(watch, show, &mut told);
        let is_plain = self.is_plain(show);
        loop {
            let due = watch.due().unwrap_or(Span::MAX).min(whole);
            let signal = wait(watch, due, stopped)?;
            let last = signal.is_some() || due == whole;
            let seen = watch.look(last).map_err(failed)?;
            self.tell_news(watch, show, &mut told);
            if show.is_watched() {
                let totals = if show.wants_totals() { watch.totals() } else { None };
                show.see(watch.snapshot(), totals);
            }
            if is_plain {
                print(seen.lines_at(record::Timestamp::now()))?;
            }
            if last {
                return Ok(signal);
            }
        }
    }

    /// What users should know and have not been told: servers that come and go, a record that ends.
    fn tell_news(&self, watch: &Watch, show: &Viewers, told: &mut Vec<Note>) {
        if self.quiet || show.is_live() {
            return;
        }
        tell_new(watch, told);
    }

    /// The paper's table 4.
    fn costs(&self, wanted: &Wanted) -> Result<Exit, Failure> {
        let watch::Options { programs, at, .. } = &wanted.options;
        let ports = &at.ports;
        let kernel = Pair::of(or_say(kernel::Traced::open()), kernel::Proc::default());
        let traced = or_say(processes::Traced::open(programs));
        let processes = Pair::of(traced, processes::Proc::open(programs));
        let traced = or_say(connections::Traced::open(ports));
        let connections = Pair::of(traced, connections::Proc::open(ports));
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

/// What is asked for, as it goes into a record.
fn spec(options: &watch::Options, interval: Span, duration: Option<Span>) -> toml::Table {
    let mut spec = toml::Table::new();
    let ports: Vec<_> = options.at.ports.iter().map(|port| i64::from(*port)).collect();
    spec.insert("program".to_owned(), options.programs.clone().into());
    spec.insert("port".to_owned(), ports.into());
    if !options.at.sockets.is_empty() {
        spec.insert("socket".to_owned(), options.at.sockets.clone().into());
    }
    spec.insert("interval".to_owned(), interval.to_string().into());
    if let Some(duration) = duration {
        spec.insert("duration".to_owned(), duration.to_string().into());
    }
    for group in Group::ALL {
        let own = options.groups.interval(group);
        if own != Some(interval) {
            let every = own.map_or_else(|| "off".to_owned(), |own| own.to_string());
            spec.insert(group.name().to_owned(), every.into());
        }
    }
    if let Whose::Of(origins) = &options.whose {
        let origins: Vec<_> = origins.iter().map(Origin::to_string).collect();
        spec.insert("processes-of".to_owned(), origins.into());
    }
    spec.insert("budget".to_owned(), options.budget.to_string().into());
    if options.counts_all {
        spec.insert("count-all".to_owned(), true.into());
    }
    spec.insert("classes".to_owned(), options.classes.to_string().into());
    spec
}

/// Until it is time to look, or a signal comes.
fn wait(watch: &mut Watch, due: Span, stopped: &mpsc::Receiver<Asked>) -> Result<Option<u8>, Failure> {
    loop {
        let next = watch.turn().map_err(failed)?;
        let left = Duration::from(due.saturating_sub(watch.age()));
        match stopped.recv_timeout(left.min(next)) {
            Ok(Asked::End(signal)) => return Ok(Some(signal)),
            Ok(Asked::Write) => watch.write_kept("it was asked for"),
            Err(_) => (),
        }
        if watch.age() >= due {
            return Ok(None);
        }
    }
}

/// What has not been told before.
fn tell_new(watch: &Watch, told: &mut Vec<Note>) {
    let mut notes = watch.notes();
    notes.retain(|note| !note.is_expected);
    notes.iter().filter(|note| !told.contains(note)).for_each(|note| tell(&note.text));
    *told = notes;
}

fn failed(why: watch::Error) -> Failure {
    Failure::Failed(why.into())
}

/// The source; where it cannot be had, why goes to standard error.
fn or_say<T>(traced: Result<T, watch::Error>) -> Option<T> {
    traced.inspect_err(|why| tell(why)).ok()
}
