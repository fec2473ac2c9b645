//! The spec as it stands in TOML, and what it must fulfil.

use std::collections::BTreeMap;
use std::path::Path;

use config::{Error, Quantity, Source, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Table;
use traffic::Workload;
use units::{Rate, Span};

use super::contenders::{self, ContendersEntry};
use super::design::{Constant, Order};
use super::entries::{Free, WorkloadEntry};
use super::experiment::Spec;
use super::factors::{self, Combinations, Factor, FactorEntry};
use super::length::{Length, default_settle};
use super::method::{Capacity, Test};
use super::prediction::{self, PredictionEntry};
use super::resources::{self, ClientEntry, Entries, LimitsEntry, LinkEntry, TestbedEntry};
use super::search::{self, SearchEntry};
use super::server::{self, Kind, Server, ServerEntry};
use super::subject::Subject;
use super::workload::{self, Asked, Cold, What};

/// The whole file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// What it is called.
    experiment: About,
    /// The server under test.
    server: Spanned<ServerEntry>,
    /// What is asked for: a url, a model, or sessions, here or in a file.
    #[schemars(with = "WorkloadEntry")]
    workload: Spanned<Table>,
    /// The gate's configuration, as in a file of its own.
    #[schemars(with = "Option<Free>")]
    gate: Option<Table>,
    /// What other software is told that can stand where the gate stands.
    peers: Option<ContendersEntry>,
    /// What is varied, first that which figures have on their axis.
    #[serde(rename = "factor", default)]
    factors: Vec<Spanned<FactorEntry>>,
    /// How levels are combined, and how often and in which order tests are done.
    #[serde(default)]
    design: Design,
    /// Tests at given loads.
    test: Option<Spanned<TestEntry>>,
    /// How the load that the levels multiply is known.
    capacity: Option<Spanned<CapacityEntry>>,
    /// Instead of tests at given loads: each test looks for the capacity.
    search: Option<SearchEntry>,
    /// What the simulator says is held against what is measured, after each search.
    prediction: Option<Spanned<PredictionEntry>>,
    /// How often the server is looked at in tests at given loads.
    #[serde(default)]
    sampling: SamplingEntry,
    /// Which network server and generator have.
    #[serde(default)]
    testbed: TestbedEntry,
    /// Between the two, where they have networks of their own.
    link: Option<Spanned<LinkEntry>>,
    /// Settings of the server's network namespace.
    #[schemars(with = "Option<Free>")]
    sysctl: Option<Spanned<Table>>,
    /// What the server may have of the machine.
    cgroup: Option<Spanned<LimitsEntry>>,
    /// The generator.
    #[serde(default)]
    client: ClientEntry,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct About {
    /// In a few words.
    title: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SamplingEntry {
    /// From one look to the next; `0s` for none.
    #[serde(with = "config::quantity")]
    #[schemars(with = "Quantity<Span>")]
    interval: Span,
}

impl Default for SamplingEntry {
    fn default() -> Self {
        Self { interval: Span::from_secs(1) }
    }
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Design {
    /// All combinations of levels, or one factor at a time away from its default.
    #[serde(default)]
    kind: Combinations,
    /// Classes that are offered so many times the capacity at every level.
    constant: Option<Spanned<BTreeMap<String, f64>>>,
    /// What is compared at each level.
    subjects: Option<Spanned<Vec<Subject>>>,
    /// How often each test is done.
    repeats: Option<Spanned<u32>>,
    /// As they stand, or shuffled within each repeat.
    #[serde(default)]
    order: Order,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TestEntry {
    /// What begins within it is not counted.
    #[serde(with = "config::quantity")]
    #[schemars(with = "Quantity<Span>")]
    warmup: Span,
    /// What begins within it is followed to its end.
    duration: Spanned<Length>,
    /// The longest wait for the machine to come to rest.
    #[serde(default = "default_settle", with = "config::quantity")]
    #[schemars(with = "Quantity<Span>")]
    settle: Span,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CapacityEntry {
    /// Stated, in sessions per second.
    #[serde(default, with = "config::quantity::optional")]
    #[schemars(with = "Option<Quantity<Rate>>")]
    rate: Option<Rate>,
    /// Or found by so many sessions at once.
    concurrency: Option<u32>,
    /// What is completed within it is not counted.
    #[serde(default, with = "config::quantity")]
    #[schemars(with = "Quantity<Span>")]
    warmup: Span,
    /// For how long they are counted.
    #[serde(default, with = "config::quantity::optional")]
    #[schemars(with = "Option<Quantity<Span>>")]
    duration: Option<Span>,
}

/// Parses and checks a spec; file names in it are relative to `directory`.
pub(super) fn check(source: &Source, directory: &Path) -> Result<Spec, Error> {
    let file: File = source.parse()?;
    let (asked, workload, workload_table) = requests(source, file.workload, directory)?;
    let (test, capacity) = method(source, (file.test, file.capacity), file.search, asked.what.is_some())?;
    let is_search = matches!(capacity, Capacity::Searched(_));
    let factors = factors::check(source, file.factors, file.gate.as_ref(), is_search)?;
    let gate_is_varied = factors.first().is_some_and(|axis| axis.gate_key().is_some());
    let is_there = InFront { gate: file.gate.is_some(), peers: file.peers.is_some() };
    let subjects = subjects(source, file.design.subjects, is_there, gate_is_varied)?;
    let constant = match file.design.constant {
        Some(constant) => self::constant(source, &constant, &workload, &factors)?,
        None => Vec::new(),
    };
    let repeats = repeats(source, file.design.repeats)?;
    let has_files = matches!(asked.what, Some(What::Model(_))) || asked.cold != Cold::Never;
    let (server, descriptors) = server::check(source, file.server, has_files)?;
    check_front(source, &server, &subjects)?;
    check_tls(source, &asked, &server)?;
    let why_not =
        obstacle(is_search, &asked, &subjects, &server, file.cgroup.is_some() || file.link.is_some());
    let prediction = file.prediction.map(|entry| prediction::check(source, entry, why_not)).transpose()?;
    let span = [file.cgroup.as_ref().map(Spanned::span), descriptors.as_ref().map(Spanned::span)];
    let is_elsewhere = matches!(server.kind, Kind::Url(_));
    if let Some(span) = span.into_iter().flatten().next().filter(|_| is_elsewhere) {
        return Err(source
            .error(span, "a server that runs already cannot be limited")
            .mend("leave it out, or let the lab start the server"));
    }
    let resources = resources::check(
        source,
        Entries {
            testbed: file.testbed,
            link: file.link,
            sysctl: file.sysctl,
            cgroup: file.cgroup,
            client: &file.client,
            descriptors,
        },
    )?;
    if is_elsewhere && resources.network.is_some() {
        return Err(source
            .missing("a server that runs already is in no network of the lab's")
            .mend("leave testbed.kind out, or let the lab start the server"));
    }
    Ok(Spec {
        title: file.experiment.title,
        server,
        resources,
        asked,
        workload,
        workload_table,
        gate: file.gate,
        contenders: file.peers.map(|entry| contenders::check(source, entry)).transpose()?,
        subjects,
        factors,
        combinations: file.design.kind,
        constant,
        repeats,
        order: file.design.order,
        test,
        capacity,
        sampling: Some(file.sampling.interval).filter(|interval| !interval.is_zero()),
        prediction,
        client_cpus: file.client.cpus.0,
        text: source.text().to_owned(),
        directory: directory.to_owned(),
    })
}

/// Processors are given only for what is there.
fn check_front(source: &Source, server: &Server, subjects: &[Subject]) -> Result<(), Error> {
    if server.front_cpus.is_none() || *subjects != [Subject::Bare] {
        return Ok(());
    }
    Err(source
        .missing("server.front-cpus is given, and nothing stands in front of the server")
        .mend("leave it out, or add [gate] or another subject than \"bare\""))
}

fn repeats(source: &Source, entry: Option<Spanned<u32>>) -> Result<u32, Error> {
    match entry {
        Some(repeats) if *repeats.get_ref() == 0 => {
            Err(source.error(repeats.span(), "repeats is 0").mend("give at least 1"))
        }
        Some(repeats) => Ok(repeats.into_inner()),
        None => Ok(1),
    }
}

/// The lab's own servers speak no TLS.
fn check_tls(source: &Source, asked: &Asked, server: &Server) -> Result<(), Error> {
    if asked.tls && !matches!(server.kind, Kind::Command(_)) {
        return Err(source
            .missing("workload.tls is for servers of kind \"command\"; the lab's own speak no TLS")
            .mend("leave it out, or start a server that does"));
    }
    Ok(())
}

/// What keeps the simulator from knowing what the server does.
fn obstacle(
    is_search: bool,
    asked: &Asked,
    subjects: &[Subject],
    server: &Server,
    is_limited: bool,
) -> Option<&'static str> {
    let obstacles = [
        (!is_search, "without [search]"),
        (asked.what.is_none(), "of sessions"),
        (*subjects != [Subject::Bare], "of what stands in front of the server"),
        (asked.cold == Cold::Always, "of files that come from the disk (workload.cold)"),
        (matches!(server.kind, Kind::Url(_)), "of a server that the lab did not start"),
        (matches!(server.kind, Kind::Command(_)), "of a server whose threads the lab does not know"),
        (server.backend_workers.is_some(), "of workers behind the server (server.backend-workers)"),
        (is_limited, "where [cgroup] or [link] set limits"),
    ];
    obstacles.into_iter().find_map(|(is_there, what)| is_there.then_some(what))
}

fn requests(
    source: &Source,
    entry: Spanned<Table>,
    directory: &Path,
) -> Result<(Asked, Workload, Table), Error> {
    let span = entry.span();
    let (asked, keys) = match workload::asked(source, &span, entry.get_ref())? {
        Some((asked, sessions)) => (asked, sessions),
        None => (Asked::default(), entry.into_inner()),
    };
    let (workload, table) = workload::sessions(source, span, keys, directory)?;
    Ok((asked, workload, table))
}

/// Either tests at multiples of a capacity, or searches.
fn method(
    source: &Source,
    (test, capacity): (Option<Spanned<TestEntry>>, Option<Spanned<CapacityEntry>>),
    search: Option<SearchEntry>,
    is_of_requests: bool,
) -> Result<(Test, Capacity), Error> {
    match (test, capacity, search) {
        (None, None, Some(search)) => {
            let test = Test { warmup: Span::ZERO, duration: Span::ZERO, settle: search.settle };
            Ok((test, Capacity::Searched(search::check(source, search)?)))
        }
        (Some(test), _, Some(_)) => Err(source
            .error(test.span(), "[test] is for tests at given loads, and [search] looks for the load")
            .mend("leave one out")),
        (_, Some(capacity), Some(_)) => Err(source
            .error(capacity.span(), "[capacity] is for tests at given loads, and [search] looks for the load")
            .mend("leave one out")),
        (Some(test), Some(_), None) if is_of_requests => Err(source
            .error(test.span(), "tests at given loads are of sessions, and [workload] has none")
            .mend("give [search] instead of [test] and [capacity]")),
        (Some(test), Some(capacity), None) => {
            let TestEntry { warmup, duration: length, settle } = test.into_inner();
            let Length(duration) = *length.get_ref();
            if duration.is_zero() {
                return Err(source
                    .error(length.span(), "duration is 0")
                    .mend("give a time above 0, such as \"8s\""));
            }
            Ok((Test { warmup, duration, settle }, self::capacity(source, &capacity)?))
        }
        (test, _, None) => {
            let missing = if test.is_some() { "capacity" } else { "test" };
            Err(source
                .missing(format!("[{missing}] is missing"))
                .mend("give [test] and [capacity], or [search] to find the capacity"))
        }
    }
}

/// Classes whose load does not follow the levels. At every level there is something left for others.
fn constant(
    source: &Source,
    entry: &Spanned<BTreeMap<String, f64>>,
    workload: &Workload,
    factors: &[Factor],
) -> Result<Vec<Constant>, Error> {
    let mut constant = Vec::with_capacity(entry.get_ref().len());
    for (name, &load) in entry.get_ref() {
        let Some(class) = workload.classes.iter().position(|class| *class.name == **name) else {
            let names = workload.classes.iter().map(|class| &*class.name);
            return Err(source
                .error(entry.span(), format!("the workload has no class \"{name}\""))
                .suggest(name, names));
        };
        if !(load.is_finite() && load > 0.0) {
            return Err(source
                .error(entry.span(), format!("the load of {name} is {load}"))
                .mend("give times the capacity, above 0"));
        }
        constant.push(Constant { class, load });
    }
    if constant.len() == workload.classes.len() {
        return Err(source
            .error(entry.span(), "no class is left to take the rest of the load")
            .mend("leave one out"));
    }
    let sum: f64 = constant.iter().map(|class| class.load).sum();
    let levels = factors.iter().filter(|factor| factor.is_load()).flat_map(|factor| &factor.levels);
    let lowest = levels.filter_map(factors::number).fold(f64::INFINITY, f64::min);
    if lowest <= sum {
        return Err(source
            .error(
                entry.span(),
                format!("at level {lowest} nothing is left for others: constant classes take {sum}"),
            )
            .mend("leave such levels out, or give the classes less"));
    }
    Ok(constant)
}

/// What the spec says of what can stand in front of the server.
#[derive(Debug, Clone, Copy)]
struct InFront {
    gate: bool,
    peers: bool,
}

fn subjects(
    source: &Source,
    given: Option<Spanned<Vec<Subject>>>,
    InFront { gate, peers }: InFront,
    gate_is_varied: bool,
) -> Result<Vec<Subject>, Error> {
    let Some(given) = given else {
        if gate_is_varied {
            return Ok(vec![Subject::Gate]);
        }
        return Ok(if gate { vec![Subject::Bare, Subject::Gate] } else { vec![Subject::Bare] });
    };
    let span = given.span();
    let subjects = given.into_inner();
    if subjects.is_empty() {
        return Err(source.error(span, "there are no subjects").mend("give \"bare\", \"gate\" or both"));
    }
    if let Some(subject) = subjects.iter().find(|subject| subject.contender().is_some() && !peers) {
        return Err(source
            .error(span, format!("\"{}\" is a subject and there is no [peers]", subject.name()))
            .mend("add [peers] with premium, window, patience, others and newcomers"));
    }
    if let Some(subject) = subjects.iter().find(|subject| subject.has_gate() && !gate) {
        let what = format!("\"{}\" is a subject and there is no [gate]", subject.name());
        return Err(source.error(span, what).mend(
            "add [gate] with the gate's settings; listen, admin and upstream are filled in by the lab",
        ));
    }
    if let Some(other) = subjects.iter().find(|subject| gate_is_varied && !subject.has_gate()) {
        return Err(source
            .error(
                span,
                format!("the first factor is a setting of the gate, which \"{}\" has not", other.name()),
            )
            .mend("leave it out, or put \"load\" first"));
    }
    if subjects.iter().enumerate().any(|(index, subject)| subjects[..index].contains(subject)) {
        return Err(source.error(span, "a subject is there twice"));
    }
    Ok(subjects)
}

fn capacity(source: &Source, entry: &Spanned<CapacityEntry>) -> Result<Capacity, Error> {
    let wrong = |what: &str| source.error(entry.span(), what);
    match entry.get_ref() {
        CapacityEntry { rate: Some(rate), .. } if rate.as_f64() <= 0.0 => {
            Err(wrong("the capacity is 0")
                .mend("give a rate above 0, or concurrency and duration to find it"))
        }
        CapacityEntry { rate: Some(rate), .. } => Ok(Capacity::Stated(*rate)),
        CapacityEntry {
            rate: None,
            concurrency: Some(concurrency @ 1..),
            duration: Some(duration),
            warmup,
        } if !duration.is_zero() => {
            Ok(Capacity::ClosedLoop { concurrency: *concurrency, warmup: *warmup, duration: *duration })
        }
        _ => Err(wrong("[capacity] says neither what it is nor how to find it")
            .mend("give rate in sessions per second, or concurrency and duration, both above 0")),
    }
}
