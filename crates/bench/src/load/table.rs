//! The results as a section of a Markdown page.

use std::fmt::Write;

use super::case::{Case, LoadPlan, Pacing};
use super::run::Run;
use crate::generators::generator::Generator;
use crate::harness::cell::Cell;
use crate::harness::conditions::{Conditions, page_of, pinned};
use crate::harness::plan::Effort;
use stats::Spread;

use crate::results::text::{dash, show, thousands};
use crate::servers::server::{GENERATOR_CPU, SERVER_CPU};

/// Generators that ours is compared with, in the order of the columns.
const OTHERS: [Generator; 4] = [Generator::Wrk, Generator::Shb, Generator::H2load, Generator::Hey];

/// All that a run of the benchmark found.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) conditions: Conditions,
    pub(super) plan: LoadPlan,
    pub(super) runs: Vec<Run>,
    /// Requests per second of which the rates of pacing are shares.
    pub(super) highest: Option<f64>,
}

impl Results {
    /// What the raw results say of all runs.
    pub(super) fn about_all(&self) -> serde_json::Value {
        self.conditions.about_all("highest_rate", self.highest)
    }

    pub(super) fn to_markdown(&self) -> String {
        page_of([self.about(), self.ratios(), self.costs(), self.pacing(), self.where_measured()])
    }

    fn about(&self) -> String {
        let Effort { rounds, seconds } = self.plan.plan.saturation;
        let costs = || self.runs.iter().filter_map(|run| Some(run.good()?.1));
        let noise = self.conditions.noise(costs().map(|cost| (cost.others, cost.machine)));
        format!(
            "{}Median of {rounds} × {seconds} s, in brackets the least and the most. {}\n",
            noise.warning(),
            noise.meanwhile()
        )
    }

    fn ratios(&self) -> String {
        let mut text = String::new();
        for (case, peers) in &self.plan.plan.cases {
            if !peers.contains(&Generator::Headworks) {
                continue;
            }
            let ours = self.cell(*case, Generator::Headworks);
            let _ = write!(
                text,
                "| {}, {}, {} connections | {} |",
                case.size_name(),
                case.reuse_name(),
                case.connections,
                ours.told(Run::cpu_us)
            );
            let cpu = ours.by_round(Run::cpu_us);
            for other in OTHERS {
                let theirs = self.cell(*case, other).by_round(Run::cpu_us);
                let _ = write!(text, " {} |", show(Spread::of_ratios(&cpu, &theirs)));
            }
            let record = self.cell(*case, Generator::HeadworksRecord).by_round(Run::cpu_us);
            let _ = writeln!(text, " {} |", show(Spread::of_ratios(&record, &cpu)));
        }
        if text.is_empty() {
            return text;
        }
        format!(
            "### CPU per request, as a ratio\n\n| case | headworks, us | to wrk | to shb | to h2load | to hey | with the record, to without |\n| --- | --- | --- | --- | --- | --- | --- |\n{text}"
        )
    }

    fn costs(&self) -> String {
        let mut text = String::new();
        for (case, peers) in &self.plan.plan.cases {
            let _ = write!(
                text,
                "{}### {}, {}, {} connections\n\n| generator | CPU per request, us | of it in the kernel | requests per second | CPU per request of nginx, us |\n| --- | --- | --- | --- | --- |\n",
                if text.is_empty() { "" } else { "\n" },
                case.size_name(),
                case.reuse_name(),
                case.connections
            );
            for peer in peers {
                let cell = self.cell(*case, *peer);
                let _ = writeln!(
                    text,
                    "| {} | {} | {} | {} | {} |",
                    peer.name(),
                    cell.told(Run::cpu_us),
                    cell.spread(kernel_share)
                        .map_or_else(dash, |spread| format!("{:.0} %", spread.median * 100.0)),
                    cell.spread(|run| Some(run.good()?.0.rate))
                        .map_or_else(dash, |spread| thousands(spread.median)),
                    cell.spread(Run::server_us).map_or_else(dash, |spread| format!("{:.1}", spread.median)),
                );
            }
        }
        text
    }

    fn pacing(&self) -> String {
        let Some(highest) = self.highest else { return String::new() };
        let mut text = format!(
            "### Pacing\n\nHow late `headworks load` began what its schedule wanted, in us: {} × {} s each, 1 KiB, connections kept alive, from `headworks origin --mode static`. The highest rate is its {} requests per second in the closed loop with 64 connections. Lag at the quantiles is the median of the rounds.\n\n| rate | arrivals | p50 | p99 | p99.9 | max | valid |\n| --- | --- | --- | --- | --- | --- | --- |\n",
            self.plan.plan.open_loop.rounds,
            self.plan.plan.open_loop.seconds,
            thousands(highest)
        );
        for pacing in &self.plan.paces {
            let cell = self.cell_named(&pacing.to_string(), Generator::Headworks);
            let Pacing { percent, arrivals } = pacing;
            let lag = |of: fn(&Run) -> Option<f64>| cell.told(of);
            let valid = cell.runs.iter().filter(|run| run.client.as_ref().is_some_and(|client| client.valid));
            let _ = writeln!(
                text,
                "| {percent} %, {} /s | {arrivals} | {} | {} | {} | {} | {} of {} |",
                thousands(highest * f64::from(*percent) / 100.0),
                lag(|run| Some(run.client.as_ref()?.lag.p50 * 1e6)),
                lag(|run| Some(run.client.as_ref()?.lag.p99 * 1e6)),
                lag(|run| Some(run.client.as_ref()?.lag.p999 * 1e6)),
                lag(|run| Some(run.client.as_ref()?.lag.max * 1e6)),
                valid.count(),
                cell.runs.len()
            );
        }
        text
    }

    fn where_measured(&self) -> String {
        let first = |generator: Generator| {
            let ours = |run: &&Run| run.generator == generator.name() && !run.command.is_empty();
            self.runs.iter().find(ours).map(|run| run.command.clone())
        };
        let shown = Generator::ALL.into_iter().filter_map(first).flat_map(|command| pinned(&[command]));
        let how = format!(
            "Server on processor {SERVER_CPU}, generator on processor {GENERATOR_CPU}, a fresh server for each run"
        );
        self.conditions.where_measured(&how, &shown.collect::<String>())
    }

    fn cell(&self, case: Case, peer: Generator) -> Cell<'_, Run> {
        self.cell_named(&case.to_string(), peer)
    }

    fn cell_named(&self, case: &str, peer: Generator) -> Cell<'_, Run> {
        let of_it = |run: &&Run| run.case == case && run.generator == peer.name();
        Cell { runs: self.runs.iter().filter(of_it).collect() }
    }
}

fn kernel_share(run: &Run) -> Option<f64> {
    let (_, cost) = run.good()?;
    Some(cost.system_s / (cost.user_s + cost.system_s))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::generators::headworks::Client;
    use crate::generators::told::Told;
    use crate::load::run::Cost;
    use crate::results::machine::Shares;

    fn run(case: &str, peer: Generator, round: u32, cpu_us: f64) -> Run {
        let cost = Cost {
            user_s: cpu_us / 4e3,
            system_s: cpu_us / 4e3 * 3.0,
            wall_s: 1.0,
            server_cpu_s: 0.01,
            machine: Shares { busy: 0.5, steal: 0.0 },
            others: 0.02,
        };
        Run {
            case: case.to_owned(),
            generator: peer.name().to_owned(),
            round,
            command: peer.name().to_owned(),
            failure: None,
            cost: Some(cost),
            told: Some(Told { requests: 1000, rate: 45_912.0, bytes: 1e9, errors: BTreeMap::new() }),
            client: None,
        }
    }

    fn results(runs: Vec<Run>) -> String {
        let results = Results {
            conditions: Conditions::example(),
            plan: LoadPlan::quick(),
            runs,
            highest: Some(40_000.0),
        };
        results.to_markdown()
    }

    #[test]
    fn ratios_are_paired_and_a_generator_that_took_no_part_has_a_dash() {
        let case = Case::FIRST.to_string();
        // The machine was twice as slow in the second round, for both.
        let runs = [(Generator::Headworks, 6.0), (Generator::Wrk, 8.0), (Generator::HeadworksRecord, 9.0)];
        let runs =
            runs.into_iter().flat_map(|(peer, us)| [run(&case, peer, 0, us), run(&case, peer, 1, us * 2.0)]);
        let text = results(runs.collect());
        assert!(
            text.contains(
                "| 1 KiB, keep-alive, 64 connections | 9.00 (6.00–12.00) | 0.75 (0.75–0.75) | – | – | – | 1.50 (1.50–1.50) |"
            ),
            "{text}"
        );
        assert!(text.contains("| headworks | 9.00 (6.00–12.00) | 75 % | 45 900 | 10.0 |"), "{text}");
    }

    #[test]
    fn a_failed_round_is_told_instead_of_a_figure() {
        let case = Case::FIRST.to_string();
        let failed = Run { failure: Some("3 timeouts".to_owned()), ..run(&case, Generator::Wrk, 1, 8.0) };
        let runs = vec![run(&case, Generator::Headworks, 0, 6.0), run(&case, Generator::Wrk, 0, 8.0), failed];
        let text = results(runs);
        assert!(text.contains("| wrk | 3 timeouts in 1 of 2 rounds | – | – | – |"), "{text}");
        assert!(text.contains("| 6.00 (6.00–6.00) | – |"), "{text}");
    }

    #[test]
    fn lag_is_in_microseconds_and_validity_is_counted() {
        let client = |p99: f64, valid| {
            let text = format!(
                r#"{{"lag":{{"p50":1e-6,"p99":{p99},"p999":1e-4,"max":1e-3}},"valid":{valid},"why_invalid":[]}}"#
            );
            Some(serde_json::from_str::<Client>(&text).unwrap())
        };
        let of = |round, p99, valid| Run {
            client: client(p99, valid),
            ..run("pacing/50/constant", Generator::Headworks, round, 5.0)
        };
        let text = results(vec![of(0, 2e-5, true), of(1, 4e-5, true), of(2, 3e-5, false)]);
        assert!(
            text.contains(
                "| 50 %, 20 000 /s | constant | 1.00 (1.00–1.00) | 30.0 (20.0–40.0) | 100 (100–100) | 1000 (1000–1000) | 2 of 3 |"
            ),
            "{text}"
        );
    }
}
