//! The results as a section of a Markdown page.

use std::fmt::Write as _;

use stats::Spread;

use super::case::{CONNECTIONS, Case};
use super::run::Run;
use super::subject::Subject;
use crate::harness::cell::Cell;
use crate::harness::conditions::{Conditions, page_of, pinned};
use crate::harness::plan::{Effort, Plan};
use crate::results::text::{dash, show, thousands};
use crate::servers::server::{GENERATOR_CPU, SERVER_CPU};

/// All that a run of the benchmark found.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) conditions: Conditions,
    pub(super) plan: Plan<Case, Subject>,
    pub(super) runs: Vec<Run>,
}

impl Results {
    /// What the raw results say of all runs.
    pub(super) fn about_all(&self) -> serde_json::Value {
        self.conditions.about_all("connections", Some(f64::from(CONNECTIONS)))
    }

    pub(super) fn to_markdown(&self) -> String {
        page_of([self.about(), self.rates(), self.where_measured()])
    }

    fn about(&self) -> String {
        let Effort { rounds, seconds } = self.plan.saturation;
        format!(
            "Median of {rounds} × {seconds} s, in brackets the least and the most; {CONNECTIONS} connections.\n"
        )
    }

    fn rates(&self) -> String {
        let mut text = "| case | subject | requests per second | to the bare server | to HAProxy | CPU beside the server per request, us |\n| --- | --- | --- | --- | --- | --- |\n".to_owned();
        for (case, subjects) in &self.plan.cases {
            let rates = |subject: Subject| self.cell(*case, subject).by_round(Run::rate);
            for subject in subjects {
                let cell = self.cell(*case, *subject);
                let ratio = |other| match *subject == other {
                    true => dash(),
                    false => show(Spread::of_ratios(&cell.by_round(Run::rate), &rates(other))),
                };
                let rate = cell.spread(Run::rate).map(|spread| thousands(spread.median));
                let _ = writeln!(
                    text,
                    "| {} | {} | {} | {} | {} | {} |",
                    case.title(),
                    subject.name(),
                    rate.unwrap_or_else(|| cell.told(Run::rate)),
                    ratio(Subject::Bare),
                    ratio(Subject::Haproxy),
                    cell.told(Run::cpu_us)
                );
            }
        }
        text
    }

    fn where_measured(&self) -> String {
        let mut shown = String::new();
        for run in self.runs.iter().filter(|run| run.round == 0 && run.failure.is_none()) {
            for line in pinned(&run.commands) {
                if !shown.contains(&line) {
                    shown.push_str(&line);
                }
            }
        }
        let how = format!(
            "Server, and what stands before or under it, on processor {SERVER_CPU}; generator on processor {GENERATOR_CPU}; all of it started anew for each run"
        );
        self.conditions.where_measured(&how, &shown)
    }

    fn cell(&self, case: Case, subject: Subject) -> Cell<'_, Run> {
        let case = case.to_string();
        let of_it = |run: &&Run| run.case == case && run.subject == subject.name();
        Cell { runs: self.runs.iter().filter(of_it).collect() }
    }
}
