//! How an experiment was made, as facts for a reader who wants to doubt or to repeat it.

use std::path::Path;

use record::experiment::Experiment;
use record::{Environment, RunDirectory, RunInfo};
use serde::Serialize;
use units::Span;

use crate::text::{level, number, percent};

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What it is about.
    pub label: String,
    /// The fact.
    pub value: String,
}

/// What the record tells of an experiment; what it does not tell is left out.
pub(crate) fn facts(directory: &Path, experiment: &Experiment) -> Vec<Fact> {
    let environment = Environment::load(&directory.join("environment.json")).ok();
    let capacity_run =
        experiment.capacity.as_ref().and_then(|capacity| info(&directory.join(&capacity.directory)));
    let test_run = experiment.tests.iter().find_map(|test| info(&directory.join(&test.directory)));
    let mut facts = server(experiment, environment.as_ref());
    facts.extend(capacity(experiment, capacity_run.as_ref()));
    facts.push(fact("Classes", classes(experiment)));
    facts.push(fact("Tests", tests(experiment)));
    if let Some(run) = &test_run {
        facts.push(fact("Measured in each test", window(run)));
        facts.push(fact("Generator, first test", format!("{} (seed {})", run.command.join(" "), run.seed)));
    }
    facts.extend(environment.iter().flat_map(machine));
    facts.push(fact("Run as", experiment.command.join(" ")));
    facts.push(fact("Time", time(experiment)));
    facts.push(fact("Headworks", experiment.version.clone()));
    facts.retain(|fact| !fact.value.is_empty());
    facts
}

fn fact(label: &str, value: String) -> Fact {
    Fact { label: label.to_owned(), value }
}

fn info(directory: &Path) -> Option<RunInfo> {
    RunDirectory::open(directory).ok()?.info().ok()
}

fn server(experiment: &Experiment, environment: Option<&Environment>) -> Vec<Fact> {
    let server = &experiment.server;
    let name = if server.version.is_empty() {
        server.kind.clone()
    } else {
        format!("{}, {}", server.kind, server.version)
    };
    let command = environment.and_then(|e| e.server.as_ref()).map(|server| server.command.join(" "));
    vec![fact("Server", name), fact("Server started as", command.unwrap_or_default())]
}

fn capacity(experiment: &Experiment, run: Option<&RunInfo>) -> Option<Fact> {
    let capacity = experiment.capacity.as_ref()?;
    let [low, high] = capacity.ci;
    let mut text = format!(
        "{} {} (95 % interval {} to {})",
        number(capacity.rate),
        capacity.unit,
        number(low),
        number(high)
    );
    if let Some(run) = run {
        text += &format!(", found by: {}", run.command.join(" "));
    }
    Some(fact("Capacity", text))
}

fn classes(experiment: &Experiment) -> String {
    let classes = experiment.classes.iter().map(|class| format!("{} {}", class.name, percent(class.share)));
    classes.collect::<Vec<_>>().join(", ")
}

fn tests(experiment: &Experiment) -> String {
    let unit = &experiment.factor.unit;
    let levels: Vec<String> = experiment.factor.levels.iter().map(|&x| level(x, unit)).collect();
    let repeats = experiment.tests.iter().map(|test| test.repeat).max().unwrap_or(0);
    format!(
        "{} of {} at {}; {} run{}",
        experiment.factor.name,
        levels.join(", "),
        experiment.subjects.join(" and "),
        experiment.tests.len(),
        if repeats > 1 { format!(", up to {repeats} times each") } else { String::new() }
    )
}

fn window(run: &RunInfo) -> String {
    format!(
        "sessions that set out within {}, after {} of warm-up, each followed to its end",
        run.window.length(),
        Span::from_nanos(run.window.from_ns)
    )
}

fn machine(environment: &Environment) -> Vec<Fact> {
    let cpu = &environment.cpu;
    let gibibytes = environment.memory as f64 / f64::from(1 << 30);
    let busy: Vec<String> = environment.load_average.iter().map(|x| format!("{x:.2}")).collect();
    let limits: Vec<String> =
        ["net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog", "net.ipv4.tcp_syncookies"]
            .iter()
            .filter_map(|&name| Some(format!("{name} {}", environment.sysctls.get(name)?)))
            .collect();
    vec![
        fact("Host", format!("{}, {}", environment.host, environment.system)),
        fact("Kernel", environment.kernel.clone()),
        fact("Processors", format!("{} x {} ({})", cpu.count, cpu.model, cpu.architecture)),
        fact("Memory", format!("{gibibytes:.1} GiB")),
        fact("Load average before", busy.join(", ")),
        fact("Listen queues", limits.join(", ")),
    ]
}

fn time(experiment: &Experiment) -> String {
    let ended = experiment.ended.map_or("not ended".to_owned(), |ended| format!("to {ended:.0}"));
    format!("{:.0} {ended}", experiment.started)
}
