//! How watches were made, for a reader who wants to doubt or to repeat them.

use std::fs;
use std::path::Path;

use toml::Value;

use super::watched::Watched;
use crate::method::fact::{Fact, Source, command, fact};
use crate::method::machine::machine;

/// Of a watch, in `run.toml`; the groups that are there have an interval of their own, or none.
const SETTINGS: [&str; 8] =
    ["interval", "kernel", "processes", "network", "connections", "requests", "budget", "classes"];

/// What was watched.
pub(super) fn subject(watched: &Watched) -> String {
    let programs = watched.names("processes");
    if programs.is_empty() { watched.info.command.join(" ") } else { programs.join(", ") }
}

/// What the records tell; what they do not tell is left out.
pub(super) fn facts(watches: &[Watched]) -> Vec<Fact> {
    let mut facts = Vec::new();
    for watched in watches {
        let info = &watched.info;
        let label = |label: &str| match watched.name.as_str() {
            "" => label.to_owned(),
            name => format!("{name}: {}", label.to_lowercase()),
        };
        facts.push(command(&label("Command"), &info.command));
        let settings = SETTINGS.iter().filter_map(|key| {
            info.spec.get(*key).and_then(Value::as_str).map(|value| format!("{key} {value}"))
        });
        facts.push(fact(&label("Settings"), settings.collect::<Vec<_>>().join(", ")));
        facts.push(fact(&label("Seed"), info.seed.to_string()));
        let ended = info.ended.map_or("not ended".to_owned(), |ended| format!("to {ended:.0}"));
        facts.push(fact(&label("Time"), format!("{:.0} {ended}", info.started)));
    }
    if let Some(first) = watches.first() {
        facts.extend(first.environment.iter().flat_map(machine));
        facts.push(fact("Headworks", first.info.version.clone()));
    }
    facts.retain(|fact| !fact.value.is_empty());
    facts
}

/// The file that says what was run, and what an experiment leaves beside its watches.
pub(super) fn sources(directory: &Path) -> Vec<Source> {
    let files = ["run.toml", "watch/run.toml", "server.conf", "sysctl.txt"];
    let sources = files.iter().filter_map(|name| {
        let text = fs::read_to_string(directory.join(name)).ok()?;
        Some(Source { name: (*name).to_owned(), text })
    });
    sources.collect()
}
