//! How an experiment was made, for a reader who wants to doubt or to repeat it: facts from the
//! record, and the texts that it was made by.

use std::fs;
use std::path::Path;

use record::experiment::{Experiment, OtherFactor};
use record::{Environment, RunDirectory, RunInfo};
use units::Span;

use super::fact::{Fact, Source, command, fact};
use super::machine::machine;
use super::plan;
use crate::text::{self, level, number, setting};

/// Configurations of what stood in front of the server, in the directory of a test.
const FRONTS: [&str; 4] = ["gate.toml", "haproxy.cfg", "nginx-proxy.conf", "mod_qos.conf"];

/// The spec, the workload, and the configurations of the server and what stood in front of it, those that were kept.
pub(crate) fn sources(directory: &Path, experiment: &Experiment) -> Vec<Source> {
    let source = |name: &str, path: &Path| {
        let text = fs::read_to_string(path).ok()?;
        Some(Source { name: name.to_owned(), text })
    };
    let ours = ["spec.toml", "workload.toml"].map(|name| source(name, &directory.join(name)));
    let kept = |name: &&str| {
        let mut tests = experiment.tests.iter();
        tests.find_map(|test| source(name, &directory.join(&test.directory).join(name)))
    };
    let server = Environment::load(&directory.join(Environment::FILE)).ok().and_then(|e| e.server);
    let servers = server.into_iter().flat_map(|server| server.configuration);
    let servers = servers.map(|(name, text)| Source { name, text });
    ours.into_iter().flatten().chain(FRONTS.iter().filter_map(kept)).chain(servers).collect()
}

/// What the record tells of an experiment; what it does not tell is left out.
pub(crate) fn facts(directory: &Path, experiment: &Experiment) -> Vec<Fact> {
    let environment = Environment::load(&directory.join(Environment::FILE)).ok();
    let capacity_run =
        experiment.capacity.as_ref().and_then(|capacity| info(&directory.join(&capacity.directory)));
    let test_run = experiment.tests.iter().find_map(|test| info(&directory.join(&test.directory)));
    let mut facts = server(experiment, environment.as_ref());
    facts.extend(plan::pinning(directory));
    facts.extend(generator(experiment));
    facts.extend(capacity(experiment));
    facts.extend(capacity_run.map(|run| command("Capacity found by", &run.command)));
    facts.extend(plan::workload(directory));
    facts.push(fact("Classes", classes(experiment)));
    let kind = if experiment.factor.name.is_empty() { "Searches" } else { "Tests" };
    facts.push(fact(kind, tests(experiment)));
    if let Some(run) = &test_run {
        facts.push(fact("Measured in each test", window(run)));
        facts.push(command("Generator, first test", &run.command));
    }
    facts.extend(environment.iter().flat_map(machine));
    facts.push(command("Run as", &experiment.command));
    facts.push(fact("Time", time(experiment)));
    facts.push(fact("Headworks", experiment.version.clone()));
    facts.retain(|fact| !fact.value.is_empty());
    facts
}

fn info(directory: &Path) -> Option<RunInfo> {
    RunDirectory::open(directory).ok()?.info().ok()
}

fn server(experiment: &Experiment, environment: Option<&Environment>) -> Vec<Fact> {
    let started = environment.and_then(|e| e.server.as_ref());
    let started = started.map(|server| command("Server started as", &server.command));
    [fact("Server", text::server(&experiment.server))].into_iter().chain(started).collect()
}

/// What it was seen to be able to do.
fn generator(experiment: &Experiment) -> Option<Fact> {
    let validation = experiment.generator.as_ref()?;
    let text = format!(
        "{} clients got {} requests/s, of {} bytes each, from the reference server in place of this one",
        validation.clients,
        number(validation.rate),
        validation.bytes
    );
    Some(fact("Generator validated", text))
}

fn capacity(experiment: &Experiment) -> Option<Fact> {
    let capacity = experiment.capacity.as_ref()?;
    let [low, high] = capacity.ci;
    let text = format!(
        "{} {} (95 % interval {} to {})",
        number(capacity.rate),
        capacity.unit,
        number(low),
        number(high)
    );
    Some(fact("Capacity", text))
}

/// Nothing where there is but one.
fn classes(experiment: &Experiment) -> String {
    if experiment.classes.len() < 2 {
        return String::new();
    }
    let held = experiment.classes.iter().any(|class| class.load.is_some());
    let classes = experiment.classes.iter().map(|class| match class.load {
        Some(load) => format!("{} {load}× capacity at every level", class.name),
        None if held => format!("{} the rest", class.name),
        None => format!("{} {} %", class.name, class.share * 100.0),
    });
    classes.collect::<Vec<_>>().join(", ")
}

fn tests(experiment: &Experiment) -> String {
    let unit = &experiment.factor.unit;
    let levels: Vec<String> = experiment.factor.levels.iter().map(|&x| level(x, unit)).collect();
    let repeats = experiment.tests.iter().map(|test| test.repeat).max().unwrap_or(0);
    let other = |factor: &OtherFactor| format!("; {} {}", factor.name, factor.levels.join(", "));
    let at = if levels.is_empty() {
        String::new()
    } else {
        format!(" at {} {}", experiment.factor.name, levels.join(", "))
    };
    format!(
        "{}: {}{at}{}{}",
        experiment.tests.len(),
        text::list(&experiment.subjects),
        experiment.others.iter().map(other).collect::<String>(),
        if repeats > 1 { format!(", {repeats} times each") } else { String::new() }
    )
}

fn window(run: &RunInfo) -> String {
    let warm_up = Span::from_nanos(run.window.from_ns);
    format!(
        "the sessions that set out within {}, after {} of warm-up, each followed to its end",
        setting(run.window.length()),
        setting(warm_up)
    )
}

fn time(experiment: &Experiment) -> String {
    let ended = experiment.ended.map_or("not ended".to_owned(), |ended| format!("to {ended:.0}"));
    format!("{:.0} {ended}", experiment.started)
}
