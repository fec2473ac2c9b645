//! The results as a section of a Markdown page.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::time_series::{Growth, PARTS, TimeSeries};
use crate::results::raw::Setting;

/// All that a run found.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) setting: Setting,
    pub(super) minutes: u32,
    pub(super) series: TimeSeries,
    /// Summaries of the generators, as `headworks load --json` prints them.
    pub(super) sessions: Value,
    pub(super) requests: Value,
    pub(super) server_cpu: Duration,
    pub(super) gate_cpu: Duration,
}

impl Results {
    pub(super) fn to_markdown(&self) -> String {
        let verdict = match self.fault() {
            Some(fault) => format!("**{fault}**"),
            None => "Neither memory nor descriptors grew.".to_owned(),
        };
        [verdict, self.parts(), self.served(), self.where_measured()].join("\n\n")
    }

    /// What the raw results say besides the samples.
    pub(super) fn about_all(&self) -> Value {
        self.setting.about(&[
            ("memory", json!(self.series.memory())),
            ("descriptors", json!(self.series.descriptors())),
            ("sessions", self.sessions.clone()),
            ("requests", self.requests.clone()),
        ])
    }

    /// What should not be; a sentence.
    pub(super) fn fault(&self) -> Option<String> {
        let told = |what: &str, unit: f64, growth: Option<Growth>| match growth {
            None => Some(format!("There are too few samples to say whether {what} grew.")),
            Some(Growth { before, after, grew: true }) => {
                Some(format!("{what} grew from {:.1} to {:.1}.", before / unit, after / unit))
            }
            Some(_) => None,
        };
        told("resident memory (MiB)", MEBI, self.series.memory())
            .or_else(|| told("the number of descriptors", 1.0, self.series.descriptors()))
    }

    fn parts(&self) -> String {
        let mut text = "| minutes | resident, MiB | descriptors |\n| --- | --- | --- |".to_owned();
        let memory = self.series.parts(|sample| sample.resident_bytes as f64 / MEBI);
        let descriptors = self.series.parts(|sample| sample.descriptors as f64);
        let length = f64::from(self.minutes) / PARTS as f64;
        for (at, (memory, descriptors)) in memory.iter().zip(&descriptors).enumerate() {
            let from = at as f64 * length;
            let _ = write!(
                text,
                "\n| {from:.0} to {:.0} | {:.2} ({:.2}–{:.2}) | {:.0} ({:.0}–{:.0}) |",
                from + length,
                memory.median,
                memory.least,
                memory.most,
                descriptors.median,
                descriptors.least,
                descriptors.most,
            );
        }
        text
    }

    fn served(&self) -> String {
        let classes = &self.sessions["sessions"]["by_class"];
        let of = |class: &str| {
            let count = |what: &str| classes[class][what].as_u64().unwrap_or(0);
            format!("{} of {} {class} sessions", count("completed"), count("started"))
        };
        let statuses = |summary: &Value| {
            let counts = summary["status"].as_object().into_iter().flatten();
            counts.map(|(status, count)| format!("{count} × {status}")).collect::<Vec<_>>().join(", ")
        };
        let errors = |summary: &Value| {
            let counts = summary["errors"].as_object().into_iter().flatten();
            counts.filter_map(|(_, count)| count.as_u64()).sum::<u64>()
        };
        format!(
            "Completed: {} and {}. Responses to sessions: {}, and {} errors; to requests over HTTP/2: {}, and {} errors. CPU time of the server {:.0} s, of the gate {:.0} s.",
            of("premium"),
            of("basic"),
            statuses(&self.sessions),
            errors(&self.sessions),
            statuses(&self.requests),
            errors(&self.requests),
            self.server_cpu.as_secs_f64(),
            self.gate_cpu.as_secs_f64(),
        )
    }

    fn where_measured(&self) -> String {
        let Setting { host, versions, command, .. } = &self.setting;
        format!(
            "`{command}` at commit {}, {}. Host: {host}. {}.",
            host.commit,
            host.date,
            versions.join(", ")
        )
    }
}

const MEBI: f64 = 1_048_576.0;
