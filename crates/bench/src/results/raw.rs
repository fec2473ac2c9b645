//! What a benchmark leaves: a section of its page, and raw results with one line for each run, so
//! that two versions of a file can be compared.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use serde_json::{Value, json};

use crate::results::machine::{self, Host};
use crate::results::page;

/// What is to be known about all runs of a benchmark.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) host: Host,
    /// Of what takes part.
    pub(crate) versions: Vec<String>,
    pub(crate) command: String,
    /// Share of the processors in use by others before the first run.
    pub(crate) busy: f64,
}

impl Setting {
    /// Finds it out. No other program may use the machine, unless `force`.
    pub(crate) fn find(host: Host, versions: Vec<String>, force: bool) -> anyhow::Result<Self> {
        let busy = machine::busy()?;
        machine::must_be_quiet(busy, force)?;
        let command = testbed::quote(&std::env::args().collect::<Vec<_>>());
        Ok(Self { host, versions, command, busy })
    }

    /// As raw results have it, with what only one benchmark knows.
    pub(crate) fn about(&self, more: &[(&str, Value)]) -> Value {
        let mut about = json!({
            "host": self.host,
            "versions": self.versions,
            "command": self.command,
            "busy_before": self.busy,
        });
        for (name, value) in more {
            about[*name] = value.clone();
        }
        about
    }

    /// For tests of tables.
    #[cfg(test)]
    pub(crate) fn example() -> Self {
        let host = Host {
            cpu: "a processor".to_owned(),
            processors: 2,
            memory_bytes: 24 << 30,
            kernel: "6.1".to_owned(),
            system: "Debian".to_owned(),
            date: "2026-01-01".to_owned(),
            commit: "abc".to_owned(),
        };
        Self { host, versions: vec!["wrk 4".to_owned()], command: "bench".to_owned(), busy: 0.01 }
    }
}

/// Where the results of a benchmark are kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    /// Those of record.
    pub(crate) page: &'static str,
    pub(crate) raw: &'static str,
    /// Raw results of all others.
    pub(crate) passing: &'static str,
}

impl Places {
    /// Shows what was `measured`, and keeps it: of record, or in passing.
    pub(crate) fn keep(
        self,
        of_record: bool,
        measured: &str,
        about: &Value,
        runs: &[impl Serialize],
    ) -> anyhow::Result<()> {
        let Self { page, raw, passing } = self;
        println!("{measured}");
        write(Path::new(if of_record { raw } else { passing }), about, runs)?;
        if of_record {
            page::update(Path::new(page), measured)?;
            eprintln!("written to {page} and {raw}");
        } else {
            eprintln!("raw results are in {passing}; {page} is as it was");
        }
        Ok(())
    }
}

/// Writes runs and what is to be known `about` all of them; the file is JSON as a whole.
pub(crate) fn write(file: &Path, about: &Value, runs: &[impl Serialize]) -> anyhow::Result<()> {
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    let runs: Vec<_> = runs.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
    fs::write(file, text(about, &runs)).with_context(|| format!("cannot write {}", file.display()))
}

fn text(about: &Value, runs: &[Value]) -> String {
    let lines: Vec<_> = runs.iter().map(Value::to_string).collect();
    format!("{{\"about\": {about:#},\n\"runs\": [\n{}\n]}}\n", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_a_line_and_the_whole_is_json() {
        let written = text(&json!({"busy_before": 0.01}), &[json!({"case": "a"}), json!({"case": "b"})]);
        let read: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(read["runs"][1]["case"], "b");
        assert!(written.lines().any(|line| line == r#"{"case":"a"},"#), "{written}");
    }
}
