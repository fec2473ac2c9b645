//! The verdicts as a section of a Markdown page: which were right, and what was taken for what.

use std::collections::BTreeMap;
use std::fmt::Write;

use record::search::Relief;
use serde_json::Value;
use stats::Estimate;

use super::case::POPULATIONS;
use super::run::{Relieved, Run, UNKNOWN};
use crate::results::raw::Setting;
use crate::results::text::dash;

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
        let longest = self.runs.iter().map(|run| run.seconds).fold(0.0, f64::max);
        let Setting { host, versions, command, busy } = &self.setting;
        let parts = POPULATIONS.into_iter().map(|population| {
            let runs: Vec<&Run> = self.runs.iter().filter(|run| run.population == population.name).collect();
            (population.name, runs)
        });
        let parts: Vec<String> = parts
            .filter(|(_, runs)| !runs.is_empty())
            .map(|(name, runs)| format!("### {name}\n\n{}\n\n{}", confusion(&runs), cases(&runs)))
            .collect();
        format!(
            "{}{}\n\n{}\n\n### Where\n\nThe longest search took {longest:.0} s.{} `{command}` at commit {}, {}. Host: {host}; others used {:.1} % of it before the first run. {}.",
            self.scores(),
            reliefs(&self.runs),
            parts.join("\n\n"),
            self.searched(),
            host.commit,
            host.date,
            busy * 100.0,
            versions.join(", ")
        )
    }

    /// How often what was planted is named, population by population, and all together.
    fn scores(&self) -> String {
        let mut text = "| population | verdicts | named first | 95 % interval | both of two | unknown | Brier score |\n| --- | --- | --- | --- | --- | --- | --- |".to_owned();
        let of = |name: Option<&str>| -> Vec<&Run> {
            self.runs.iter().filter(|run| name.is_none_or(|name| run.population == name)).collect()
        };
        let each = POPULATIONS.iter().map(|population| (population.name, of(Some(population.name))));
        let rows: Vec<_> = each.filter(|(_, runs)| !runs.is_empty()).collect();
        let all = (rows.len() > 1).then(|| ("all", of(None)));
        for (name, runs) in rows.into_iter().chain(all) {
            let right = runs.iter().filter(|run| run.is_right()).count() as u64;
            let share = Estimate::share(right, runs.len() as u64);
            let value = share.map_or(f64::NAN, |share| share.value * 100.0);
            let [low, high] = share.and_then(|share| share.ci).unwrap_or([0.0, 1.0]).map(|end| end * 100.0);
            let two: Vec<&&Run> = runs.iter().filter(|run| run.planted.len() > 1).collect();
            let both = two.iter().filter(|run| run.has_all()).count();
            let unknown = runs.iter().filter(|run| run.found.is_none()).count();
            let missed = |run: &&Run| (1.0 - run.probability()).powi(2);
            let brier = stats::mean(runs.iter().map(missed)).unwrap_or(f64::NAN);
            let _ = write!(
                text,
                "\n| {name} | {} | {right} ({value:.1} %) | {low:.1}–{high:.1} % | {} | {unknown} | {brier:.3} |",
                runs.len(),
                if two.is_empty() { dash() } else { format!("{both} of {}", two.len()) },
            );
        }
        text
    }

    /// When the searches were made, where that was not now.
    fn searched(&self) -> String {
        let mut times: Vec<&str> = self.runs.iter().filter_map(|run| run.searched.as_deref()).collect();
        times.sort_unstable();
        let ([first, ..], [.., last], true) = (&*times, &*times, self.again) else { return String::new() };
        let minute = |time: &str| time.get(..16).unwrap_or(time).replace('T', " ");
        format!(" Searches were made from {} to {} UTC, and judged anew.", minute(first), minute(last))
    }
}

/// What was carried with what was named relieved, and with what was next likely; nothing where that was not tried.
fn reliefs(runs: &[Run]) -> String {
    let tried: Vec<&Run> = runs.iter().filter(|run| run.relieved.is_some()).collect();
    if tried.is_empty() {
        return String::new();
    }
    let raised = |relieved: &&Relieved| relieved.times >= Relief::MORE;
    let count = |of: fn(&Run) -> Option<&Relieved>| {
        let all: Vec<&Relieved> = tried.iter().filter_map(|run| of(run)).collect();
        (all.iter().copied().filter(|relieved| raised(relieved)).count(), all.len())
    };
    let (named, all) = count(|run| run.relieved.as_ref());
    let (others, of_others) = count(|run| run.runner_up.as_ref());
    let mut text = format!(
        "\n\nWith what was named relieved {named} of {all} carried at least {} times as much; with the next likely alone, {others} of {of_others}.\n\n| spec | relieved | times | next likely | times |\n| --- | --- | --- | --- | --- |",
        Relief::MORE
    );
    let cells = |relieved: Option<&Relieved>| {
        relieved.map_or_else(|| [dash(), dash()], |it| [it.name.clone(), format!("{:.2}", it.times)])
    };
    for run in tried {
        let ([name, times], [next, then]) = (cells(run.relieved.as_ref()), cells(run.runner_up.as_ref()));
        let _ = write!(text, "\n| {} | {name} | {times} | {next} | {then} |", run.spec);
    }
    text
}

/// Rows are what was planted, columns what was found.
fn confusion(runs: &[&Run]) -> String {
    let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let (mut rows, mut columns): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    for run in runs {
        let planted = run.planted.join(" and ");
        *counts.entry((planted.clone(), run.named())).or_default() += 1;
        if !rows.contains(&planted) {
            rows.push(planted);
        }
    }
    let planted = runs.iter().flat_map(|run| &run.planted).map(|name| &**name);
    for name in planted.chain(runs.iter().map(|run| run.named()).filter(|name| *name != UNKNOWN)) {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    columns.push(UNKNOWN);
    let mut text =
        format!("| planted | {} |\n| --- |{}", columns.join(" | "), " --- |".repeat(columns.len()));
    for planted in rows {
        let cell =
            |found: &&str| counts.get(&(planted.clone(), *found)).map_or_else(String::new, usize::to_string);
        let cells: Vec<String> = columns.iter().map(cell).collect();
        let _ = write!(text, "\n| {planted} | {} |", cells.join(" | "));
    }
    text
}

/// What was found with each spec on each server.
fn cases(runs: &[&Run]) -> String {
    let mut text = "| spec | planted | server | right | otherwise | least confidence | requests/s |\n| --- | --- | --- | --- | --- | --- | --- |".to_owned();
    let mut seen = Vec::new();
    for case in runs {
        let key = (&case.spec, &case.server);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let runs: Vec<&&Run> = runs.iter().filter(|run| (&run.spec, &run.server) == key).collect();
        let right: Vec<&&&Run> = runs.iter().filter(|run| run.is_right()).collect();
        let mut others: Vec<&str> =
            runs.iter().filter(|run| !run.is_right()).map(|run| run.named()).collect();
        others.dedup();
        let confidence = right.iter().map(|run| run.confidence()).reduce(f64::min);
        let confidence = confidence.map_or_else(dash, |least| format!("{:.0} %", least * 100.0));
        let rates: Vec<f64> = runs.iter().filter_map(|run| run.capacity).collect();
        let [low, high] = [f64::min, f64::max].map(|of| rates.iter().copied().reduce(of));
        let rates = low.zip(high).map_or_else(dash, |(low, high)| format!("{low:.0}–{high:.0}"));
        let _ = write!(
            text,
            "\n| {} | {} | {} | {} of {} | {} | {confidence} | {rates} |",
            case.spec,
            case.planted.join(" and "),
            case.server,
            right.len(),
            runs.len(),
            others.join(", ")
        );
    }
    text
}

/// A run as a line.
pub(super) fn progress(run: &Run) -> String {
    let verdict = if run.is_right() { "right" } else { "WRONG" };
    let why = run.failure.as_ref().map_or_else(String::new, |why| format!("; {why}"));
    format!(
        "{:28} {:22} seed {}  {verdict}  {:16} {:.0} s{why}",
        run.spec,
        run.server,
        run.seed,
        run.named(),
        run.seconds
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(planted: &[&str], server: &str, found: &[(&str, f64)]) -> Run {
        Run {
            population: POPULATIONS[0].name,
            spec: planted[0].to_owned(),
            planted: planted.iter().map(|name| (*name).to_owned()).collect(),
            server: server.to_owned(),
            seed: 1,
            searched: Some("2001-02-03T04:05:06.7Z".to_owned()),
            found: found.first().map(|(name, _)| (*name).to_owned()),
            candidates: found.iter().map(|(name, likely)| ((*name).to_owned(), *likely)).collect(),
            capacity: Some(100.0),
            seconds: 20.0,
            relieved: None,
            runner_up: None,
            failure: None,
        }
    }

    #[test]
    fn what_was_taken_for_what_is_told() {
        let runs = vec![
            run(&["disk"], "nginx", &[("disk", 0.9)]),
            run(&["disk"], "nginx", &[("memory", 0.8), ("disk", 0.1)]),
            run(&["disk"], "apache", &[]),
            run(&["none"], "nginx", &[("none", 1.0)]),
        ];
        let results = Results { setting: Setting::example(), runs, again: true };
        let text = results.to_markdown();
        assert!(text.contains("Searches were made from 2001-02-03 04:05 to 2001-02-03 04:05 UTC"), "{text}");
        assert!(!Results { again: false, ..results }.to_markdown().contains("anew"));
        // (0.1^2 + 0.9^2 + 1 + 0) / 4
        assert!(text.contains("| Resources | 4 | 2 (50.0 %) | 15.0–85.0 % | – | 1 | 0.455 |"), "{text}");
        let expected = "| planted | disk | none | memory | unknown |\n| --- | --- | --- | --- | --- |\n\
            | disk | 1 |  | 1 | 1 |\n| none |  | 1 |  |  |\n";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("| disk | disk | nginx | 1 of 2 | memory | 90 % | 100–100 |"), "{text}");
        assert!(text.contains("| disk | disk | apache | 0 of 1 | unknown | – | 100–100 |"), "{text}");
    }

    #[test]
    fn what_relief_did_is_told() {
        let relieved = |name: &str, times: f64| Some(Relieved { name: name.to_owned(), times });
        let runs = vec![
            Run {
                relieved: relieved("disk", 1.9),
                runner_up: relieved("memory", 1.0),
                ..run(&["disk"], "nginx", &[("disk", 0.9)])
            },
            Run { relieved: relieved("disk", 1.1), ..run(&["disk"], "nginx", &[("disk", 0.9)]) },
            run(&["disk"], "nginx", &[("disk", 0.9)]),
        ];
        let text = Results { setting: Setting::example(), runs, again: false }.to_markdown();
        assert!(
            text.contains(
                "relieved 1 of 2 carried at least 1.15 times as much; with the next likely alone, 0 of 1."
            ),
            "{text}"
        );
        assert!(text.contains("| disk | disk | 1.90 | memory | 1.00 |"), "{text}");
    }

    #[test]
    fn of_two_causes_both_have_to_come_first() {
        let two = ["disk", "other-program"];
        let runs = vec![
            run(&two, "nginx", &[("disk", 0.6), ("other-program", 0.3)]),
            run(&two, "nginx", &[("disk", 0.6), ("memory", 0.3), ("other-program", 0.05)]),
        ];
        let text = Results { setting: Setting::example(), runs, again: false }.to_markdown();
        assert!(
            text.contains("| Resources | 2 | 2 (100.0 %) | 34.2–100.0 % | 1 of 2 | 0 | 0.066 |"),
            "{text}"
        );
    }
}
