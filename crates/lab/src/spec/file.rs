//! The spec as it stands in TOML, and what it must fulfil.

use std::collections::BTreeMap;
use std::path::Path;

use config::{Error, Source, Spanned};
use serde::Deserialize;
use toml::Table;
use traffic::Workload;
use units::{Rate, Span};

use super::factors::{self, Combinations, Factor, FactorEntry};
use super::peers::{self, PeersEntry};
use super::server::{self, ServerEntry};
use super::{Capacity, Constant, Cpus, Order, Spec, Subject, Test, workload};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    experiment: About,
    server: Spanned<ServerEntry>,
    workload: Spanned<Table>,
    gate: Option<Table>,
    peers: Option<PeersEntry>,
    #[serde(rename = "factor", default)]
    factors: Vec<Spanned<FactorEntry>>,
    #[serde(default)]
    design: Design,
    test: TestEntry,
    capacity: Spanned<CapacityEntry>,
    #[serde(default)]
    generator: Generator,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    title: String,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Design {
    #[serde(default)]
    kind: Combinations,
    constant: Option<Spanned<BTreeMap<String, f64>>>,
    subjects: Option<Spanned<Vec<Subject>>>,
    repeats: Option<Spanned<u32>>,
    #[serde(default)]
    order: Order,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TestEntry {
    #[serde(with = "config::quantity")]
    warmup: Span,
    duration: Spanned<Length>,
    #[serde(default = "default_settle", with = "config::quantity")]
    settle: Span,
}

/// Long enough for the sockets of a large test to be cleared up, short against the test itself.
fn default_settle() -> Span {
    Span::from_secs(2)
}

#[derive(Deserialize, Clone, Copy)]
#[serde(transparent)]
struct Length(#[serde(with = "config::quantity")] Span);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapacityEntry {
    #[serde(default, with = "config::quantity::optional")]
    rate: Option<Rate>,
    concurrency: Option<u32>,
    #[serde(default, with = "config::quantity")]
    warmup: Span,
    #[serde(default, with = "config::quantity::optional")]
    duration: Option<Span>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Generator {
    #[serde(with = "config::quantity")]
    cpus: Cpus,
}

impl Default for Generator {
    fn default() -> Self {
        Self { cpus: Cpus::one(1) }
    }
}

/// Parses and checks a spec; file names in it are relative to `directory`.
pub(super) fn check(source: &Source, directory: &Path) -> Result<Spec, Error> {
    let file: File = source.parse()?;
    let span = file.workload.span();
    let (workload, workload_table) = workload::resolve(source, span, file.workload.into_inner(), directory)?;
    let factors = factors::check(source, file.factors, file.gate.as_ref())?;
    let subjects = subjects(
        source,
        file.design.subjects,
        file.gate.is_some(),
        file.peers.is_some(),
        factors.first().is_some_and(|axis| !axis.is_load()),
    )?;
    let constant = match file.design.constant {
        Some(constant) => self::constant(source, &constant, &workload, &factors)?,
        None => Vec::new(),
    };
    let repeats = match file.design.repeats {
        Some(repeats) if *repeats.get_ref() == 0 => {
            return Err(source.error(repeats.span(), "repeats is 0").mend("give at least 1"));
        }
        Some(repeats) => repeats.into_inner(),
        None => 1,
    };
    let Length(duration) = *file.test.duration.get_ref();
    if duration.is_zero() {
        return Err(source
            .error(file.test.duration.span(), "duration is 0")
            .mend("give a time above 0, such as \"8s\""));
    }
    Ok(Spec {
        title: file.experiment.title,
        server: server::check(source, file.server)?,
        workload,
        workload_table,
        gate: file.gate,
        peers: file.peers.map(|entry| peers::check(source, entry)).transpose()?,
        subjects,
        factors,
        combinations: file.design.kind,
        constant,
        repeats,
        order: file.design.order,
        test: Test { warmup: file.test.warmup, duration, settle: file.test.settle },
        capacity: capacity(source, &file.capacity)?,
        generator_cpus: file.generator.cpus,
        text: source.text().to_owned(),
    })
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

fn subjects(
    source: &Source,
    given: Option<Spanned<Vec<Subject>>>,
    gate: bool,
    peers: bool,
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
    if let Some(subject) = subjects.iter().find(|subject| subject.peer().is_some() && !peers) {
        return Err(source
            .error(span, format!("\"{}\" is a subject and there is no [peers]", subject.name()))
            .mend("add [peers] with premium, window, patience, others and newcomers"));
    }
    if subjects.contains(&Subject::Gate) && !gate {
        return Err(source.error(span, "\"gate\" is a subject and there is no [gate]").mend(
            "add [gate] with the gate's settings; listen, admin and upstream are filled in by the lab",
        ));
    }
    if let Some(other) = subjects.iter().find(|subject| gate_is_varied && **subject != Subject::Gate) {
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
        CapacityEntry { rate: Some(rate), .. } => Ok(Capacity::Fixed(*rate)),
        CapacityEntry {
            rate: None,
            concurrency: Some(concurrency @ 1..),
            duration: Some(duration),
            warmup,
        } if !duration.is_zero() => {
            Ok(Capacity::Search { concurrency: *concurrency, warmup: *warmup, duration: *duration })
        }
        _ => Err(wrong("[capacity] says neither what it is nor how to find it")
            .mend("give rate in sessions per second, or concurrency and duration, both above 0")),
    }
}
