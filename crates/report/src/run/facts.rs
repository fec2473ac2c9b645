//! How a run was made, for a reader who wants to doubt or to repeat it.

use std::fs;

use record::{RunDirectory, RunInfo};
use toml::Value;
use units::Span;

use super::model::Counted;
use crate::method::fact::{Fact, Source, command, fact};
use crate::method::machine::machine;
use crate::text::{self, level, number, setting};

/// What was put under load: the URL that was given, else the whole command.
pub(super) fn target(info: &RunInfo) -> String {
    match info.spec.get("url").and_then(Value::as_str) {
        Some(url) => url.to_owned(),
        None => info.command.join(" "),
    }
}

/// What the record tells of the run; what it does not tell is left out.
pub(super) fn facts(run: &RunDirectory, info: &RunInfo, unit: Counted) -> Vec<Fact> {
    let environment = run.environment().ok();
    let mut facts = vec![
        fact("Load", load(info, unit)),
        fact("Measured", measured(info, unit)),
        command("Command", &info.command),
    ];
    if let Some(server) = environment.as_ref().and_then(|environment| environment.server.as_ref()) {
        let kind = record::experiment::Server { kind: server.kind.clone(), version: server.version.clone() };
        facts.push(fact("Server", text::server(&kind)));
        facts.push(command("Server started as", &server.command));
    }
    let timeout = info.spec.get("timeout").and_then(Value::as_str);
    facts.extend(timeout.map(|timeout| fact("Timeout of a request", timeout.to_owned())));
    facts.push(fact("Seed", info.seed.to_string()));
    facts.extend(environment.iter().flat_map(machine));
    let ended = info.ended.map_or("not ended".to_owned(), |ended| format!("to {ended:.0}"));
    facts.push(fact("Time", format!("{:.0} {ended}", info.started)));
    facts.push(fact("Headworks", info.version.clone()));
    facts.retain(|fact| !fact.value.is_empty());
    facts
}

/// The load in a few words.
pub(super) fn load(info: &RunInfo, unit: Counted) -> String {
    if let (Some(first), Some(last)) = (info.steps.first(), info.steps.last())
        && info.steps.len() > 1
    {
        let unit = info.step_unit.as_deref().unwrap_or_default();
        return format!("{} steps from {} to {}", info.steps.len(), first.level, level(last.level, unit));
    }
    let arrivals = info.spec.get("arrivals").and_then(Value::as_str);
    match (asked(info, "rate"), asked(info, "connections")) {
        (Some(rate), _) => {
            let arrivals = arrivals.map(|arrivals| format!(", arrivals {arrivals}")).unwrap_or_default();
            format!("{} {unit}/s by the clock (open loop){arrivals}", number(rate))
        }
        (None, Some(clients)) => format!("{} clients, each without pause (closed loop)", number(clients)),
        (None, None) => String::new(),
    }
}

/// A number of what was asked for.
pub(super) fn asked(info: &RunInfo, key: &str) -> Option<f64> {
    let value = info.spec.get(key)?;
    value.as_float().or_else(|| Some(value.as_integer()? as f64))
}

fn measured(info: &RunInfo, unit: Counted) -> String {
    let warm_up = Span::from_nanos(info.window.from_ns);
    format!(
        "the {unit} that were due within {}, after {} of warm-up, each followed to its end",
        setting(info.window.length()),
        setting(warm_up)
    )
}

/// The file that says what was run, and the server's configuration where it was kept.
pub(super) fn sources(run: &RunDirectory) -> Vec<Source> {
    let text = fs::read_to_string(run.path().join("run.toml")).ok();
    let ours = text.map(|text| Source { name: "run.toml".to_owned(), text });
    let server = run.environment().ok().and_then(|environment| environment.server);
    let servers = server.into_iter().flat_map(|server| server.configuration);
    ours.into_iter().chain(servers.map(|(name, text)| Source { name, text })).collect()
}
