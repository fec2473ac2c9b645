//! The verdicts as a section of a Markdown page: which were right, and what was taken for what.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::case::CASES;
use super::run::Run;
use crate::results::raw::Setting;
use crate::results::text::dash;

const UNKNOWN: &str = "unknown";

#[derive(Debug)]
pub(super) struct Results {
    pub(super) setting: Setting,
    pub(super) runs: Vec<Run>,
    /// Whether the searches had been made before.
    pub(super) again: bool,
}

impl Results {
    pub(super) fn about(&self) -> Value {
        self.setting.about(&[])
    }

    pub(super) fn to_markdown(&self) -> String {
        let right = self.runs.iter().filter(|run| run.is_right()).count();
        let longest = self.runs.iter().map(|run| run.seconds).fold(0.0, f64::max);
        let Setting { host, versions, command, busy } = &self.setting;
        format!(
            "{right} of {} verdicts name what was planted.\n\n{}\n\n{}\n\nThe longest search took {longest:.0} s.{} `{command}` at commit {}, {}. Host: {host}; others used {:.1} % of it before the first run. {}.",
            self.runs.len(),
            self.confusion(),
            self.cases(),
            self.searched(),
            host.commit,
            host.date,
            busy * 100.0,
            versions.join(", ")
        )
    }

    /// When the searches were made, where that was not now.
    fn searched(&self) -> String {
        let mut times: Vec<&str> = self.runs.iter().filter_map(|run| run.searched.as_deref()).collect();
        times.sort_unstable();
        let ([first, ..], [.., last], true) = (&*times, &*times, self.again) else { return String::new() };
        let minute = |time: &str| time.get(..16).unwrap_or(time).replace('T', " ");
        format!(" Searches were made from {} to {} UTC, and judged anew.", minute(first), minute(last))
    }

    /// Rows are what was planted, columns what was found.
    fn confusion(&self) -> String {
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for run in &self.runs {
            *counts.entry((run.planted, run.named())).or_default() += 1;
        }
        let mut names: Vec<&str> = CASES.iter().map(|case| case.cause).collect();
        names.dedup();
        names.retain(|name| self.runs.iter().any(|run| run.planted == *name));
        let planted = names.clone();
        names.extend(self.runs.iter().map(Run::named));
        let mut found: Vec<&str> = Vec::new();
        for name in names {
            if !found.contains(&name) {
                found.push(name);
            }
        }
        let mut text =
            format!("| planted | {} |\n| --- |{}", found.join(" | "), " --- |".repeat(found.len()));
        for planted in planted {
            let cell =
                |found: &&str| counts.get(&(planted, *found)).map_or_else(String::new, usize::to_string);
            let cells: Vec<String> = found.iter().map(cell).collect();
            let _ = write!(text, "\n| {planted} | {} |", cells.join(" | "));
        }
        text
    }

    /// What was found on each server.
    fn cases(&self) -> String {
        let mut text =
            "| planted | server | right | confidence | requests/s |\n| --- | --- | --- | --- | --- |"
                .to_owned();
        for case in CASES {
            let of_case = |run: &&Run| (run.planted, run.server) == (case.cause, case.server);
            let runs: Vec<&Run> = self.runs.iter().filter(of_case).collect();
            if runs.is_empty() {
                continue;
            }
            let right = runs.iter().filter(|run| run.is_right()).count();
            let of_right = runs.iter().filter(|run| run.is_right()).map(|run| run.confidence);
            let confidence =
                of_right.reduce(f64::min).map_or_else(dash, |least| format!("{:.0} %", least * 100.0));
            let rates: Vec<f64> = runs.iter().filter_map(|run| run.capacity).collect();
            let [low, high] = [f64::min, f64::max].map(|of| rates.iter().copied().reduce(of));
            let rates = low.zip(high).map_or_else(dash, |(low, high)| format!("{low:.0}–{high:.0}"));
            let _ = write!(
                text,
                "\n| {} | {} | {right} of {} | {confidence} | {rates} |",
                case.cause,
                case.server,
                runs.len()
            );
        }
        text
    }
}

impl Run {
    fn is_right(&self) -> bool {
        self.found.as_deref() == Some(self.planted)
    }

    fn named(&self) -> &str {
        self.found.as_deref().unwrap_or(UNKNOWN)
    }
}

/// A run as a line.
pub(super) fn progress(run: &Run) -> String {
    let verdict = if run.is_right() { "right" } else { "WRONG" };
    let why = run.failure.as_ref().map_or_else(String::new, |why| format!("; {why}"));
    format!(
        "{:16} {:7} seed {}  {verdict}  {:16} {:.0} s{why}",
        run.planted,
        run.server,
        run.seed,
        run.named(),
        run.seconds
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_for_what_is_told() {
        let run = |planted, server, found: Option<&str>| Run {
            planted,
            server,
            seed: 1,
            searched: Some("2001-02-03T04:05:06.7Z".to_owned()),
            found: found.map(str::to_owned),
            confidence: 0.9,
            capacity: Some(100.0),
            seconds: 20.0,
            failure: None,
        };
        let runs = vec![
            run("disk", "nginx", Some("disk")),
            run("disk", "nginx", Some("memory")),
            run("disk", "apache", None),
            run("none", "nginx", Some("none")),
        ];
        let results = Results { setting: Setting::example(), runs, again: true };
        let text = results.to_markdown();
        assert!(text.contains("Searches were made from 2001-02-03 04:05 to 2001-02-03 04:05 UTC"), "{text}");
        assert!(!Results { again: false, ..results }.to_markdown().contains("anew"));
        assert!(text.starts_with("2 of 4 verdicts name what was planted."), "{text}");
        let expected = "| planted | disk | none | memory | unknown |\n| --- | --- | --- | --- | --- |\n\
            | disk | 1 |  | 1 | 1 |\n| none |  | 1 |  |  |\n";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("| disk | nginx | 1 of 2 | 90 % | 100–100 |"), "{text}");
        assert!(text.contains("| disk | apache | 0 of 1 | – | 100–100 |"), "{text}");
    }
}
