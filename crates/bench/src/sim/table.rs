//! The results as a section of a Markdown page.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};
use stats::MeanEstimate;
use stats::Spread;

use super::agreement::Agreement;
use super::plan::Plan;
use super::run::Run;
use super::simulator::Simulator;
use super::textbook::{self, answer::Answer};
use crate::results::machine::Noise;
use crate::results::raw::Setting;
use crate::results::text::{dash, show, thousands};

/// All that a run of the benchmark found.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) setting: Setting,
    pub(super) plan: Plan,
    pub(super) runs: Vec<Run>,
    /// What was said of queues of which the mean is known.
    pub(super) answers: Vec<Answer>,
}

impl Results {
    pub(super) fn to_markdown(&self) -> String {
        let textbook = textbook::table::to_markdown(&self.answers);
        let parts = [self.noise(), self.speeds(), self.scaling(), self.agreement(), textbook];
        parts.into_iter().chain([self.where_measured()]).collect::<Vec<_>>().join("\n")
    }

    /// What the raw results say of all runs.
    pub(super) fn about_all(&self) -> Value {
        self.setting.about(&[("textbook", json!(self.answers))])
    }

    fn noise(&self) -> String {
        let costs = self.runs.iter().filter_map(|run| run.cost);
        let noise = Noise::of(self.setting.busy, costs.map(|cost| (cost.others, cost.machine)));
        format!(
            "{}Median of {} rounds, in brackets the least and the most. {}\n",
            noise.warning(),
            self.plan.rounds,
            noise.meanwhile()
        )
    }

    fn speeds(&self) -> String {
        let mut text = "### Events per second of one core\n\n| simulator | million events per second | headworks to it |\n| --- | --- | --- |\n".to_owned();
        let ours = self.by_round(Simulator::Headworks, Run::speed);
        for simulator in Simulator::ALL.into_iter().filter(|simulator| *simulator != Simulator::AllCores) {
            let theirs = self.by_round(simulator, Run::speed);
            let speed = || {
                let spread = Spread::of(theirs.values().map(|speed| speed / 1e6));
                spread.map_or_else(dash, |Spread { median, least, most }| {
                    let digits = if median < 1.0 { 3 } else { 1 };
                    format!("{median:.digits$} ({least:.digits$}–{most:.digits$})")
                })
            };
            let _ = writeln!(
                text,
                "| {} | {} | {} |",
                simulator.name(),
                self.failure(simulator).unwrap_or_else(speed),
                show(Spread::of_ratios(&ours, &theirs)),
            );
        }
        text
    }

    fn scaling(&self) -> String {
        let [one, all] = [Simulator::Headworks, Simulator::AllCores]
            .map(|simulator| self.by_round(simulator, Run::speed_by_clock));
        let speed = |speeds: &BTreeMap<u32, f64>| show(Spread::of(speeds.values().map(|speed| speed / 1e6)));
        let told = self.failure(Simulator::AllCores);
        let ratio = || show(Spread::of_ratios(&all, &one));
        format!(
            "### All cores\n\nBy the clock, in million events per second: {} on one core, {} on {}; the ratio is {}.\n",
            speed(&one),
            speed(&all),
            self.setting.host.processors,
            told.unwrap_or_else(ratio),
        )
    }

    fn agreement(&self) -> String {
        let mut text = "### The same model\n\n| simulator | requests | rejected, % | mean latency, s |\n| --- | --- | --- | --- |\n".to_owned();
        let estimate = |MeanEstimate { mean, ci }: MeanEstimate, scale: f64| {
            format!("{:.3} ± {:.3}", mean * scale, (ci[1] - ci[0]) / 2.0 * scale)
        };
        for simulator in Simulator::ALL.into_iter().filter(|simulator| *simulator != Simulator::AllCores) {
            let found = Agreement::of(&self.runs, simulator);
            let runs = self.runs.iter().filter(|run| run.of == simulator && run.told.is_some()).count();
            let each = self
                .plan
                .length(simulator)
                .map_or(0, |length| u64::from(length.replications) * u64::from(length.requests));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                simulator.name(),
                thousands((each * runs as u64) as f64),
                estimate(found.rejected, 100.0),
                estimate(found.latency, 1.0),
            );
        }
        text
    }

    fn where_measured(&self) -> String {
        let host = &self.setting.host;
        let mut shown = String::new();
        for simulator in Simulator::ALL {
            if let Some(run) = self.runs.iter().find(|run| run.of == simulator) {
                let _ = writeln!(shown, "    {}", run.command);
            }
        }
        format!(
            "### Where\n\n`{}` at commit {}, {}.\n\n{shown}\nHost: {host}. {}.\n",
            self.setting.command,
            host.commit,
            host.date,
            self.setting.versions.join(", ")
        )
    }

    /// Why a simulator has no figure; one failed round makes the others doubtful too.
    fn failure(&self, simulator: Simulator) -> Option<String> {
        let runs = || self.runs.iter().filter(|run| run.of == simulator);
        let failed: Vec<_> = runs().filter_map(|run| run.failure.as_deref()).collect();
        let why = failed.first()?.replace('|', "/").replace('\n', " ");
        Some(format!("{why} in {} of {} rounds", failed.len(), runs().count()))
    }

    fn by_round(&self, simulator: Simulator, value: fn(&Run) -> Option<f64>) -> BTreeMap<u32, f64> {
        match self.failure(simulator) {
            Some(_) => BTreeMap::new(),
            None => {
                let runs = self.runs.iter().filter(|run| run.of == simulator);
                runs.filter_map(|run| Some((run.round, value(run)?))).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::machine::Shares;
    use crate::sim::run::Cost;
    use crate::sim::simulator::Told;

    fn run(of: Simulator, round: u32, events: u64, cpu_s: f64) -> Run {
        let machine = Shares { busy: 0.5, steal: 0.0 };
        Run {
            of,
            simulator: of.name(),
            round,
            command: of.name().to_owned(),
            failure: None,
            cost: Some(Cost { cpu_s, wall_s: 2.0, machine, others: 0.02 }),
            told: Some(Told { events, rejected: vec![0.05, 0.06], latency: vec![4.0, 5.0] }),
        }
    }

    fn text(runs: Vec<Run>) -> String {
        Results { setting: Setting::example(), plan: Plan::quick(), runs, answers: Vec::new() }.to_markdown()
    }

    #[test]
    fn ratios_are_of_speeds_in_the_same_round() {
        // The machine was twice as slow in the second round, for both.
        let runs = [(Simulator::Headworks, 1.0), (Simulator::SimPyCallbacks, 100.0)];
        let runs = runs
            .into_iter()
            .flat_map(|(of, cpu)| [run(of, 0, 20_000_000, cpu), run(of, 1, 20_000_000, cpu * 2.0)]);
        let text = text(runs.collect());
        assert!(text.contains("| headworks sim | 15.0 (10.0–20.0) | 1.00 (1.00–1.00) |"), "{text}");
        assert!(text.contains("| SimPy, callbacks | 0.150 (0.100–0.200) | 100 (100–100) |"), "{text}");
        assert!(text.contains("| Ciw | – | – |"), "{text}");
    }

    #[test]
    fn all_cores_are_compared_by_the_clock() {
        let both =
            vec![run(Simulator::Headworks, 0, 20_000_000, 2.0), run(Simulator::AllCores, 0, 38_000_000, 4.0)];
        let text = text(both);
        assert!(
            text.contains(
                "10.0 (10.0–10.0) on one core, 19.0 (19.0–19.0) on 2; the ratio is 1.90 (1.90–1.90)."
            ),
            "{text}"
        );
    }

    #[test]
    fn who_simulates_something_else_has_no_speed_but_what_it_found() {
        let other = Run { failure: Some("another model".to_owned()), ..run(Simulator::Ciw, 0, 100, 1.0) };
        let text = text(vec![run(Simulator::Headworks, 0, 20_000_000, 1.0), other]);
        assert!(text.contains("| Ciw | another model in 1 of 1 rounds | – |"), "{text}");
        assert!(text.contains("| Ciw | 80 000 | 5.500 ± "), "{text}");
    }
}
