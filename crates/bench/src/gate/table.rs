//! The results as a section of a Markdown page.

use std::fmt::Write;

use super::case::{CONNECTIONS, Case, REFUSED_CONNECTIONS};
use super::plan::GatePlan;
use super::proxy::Proxy;
use super::run::Run;
use crate::harness::cell::Cell;
use crate::harness::conditions::{Conditions, page_of, pinned};
use crate::harness::plan::Effort;
use stats::Spread;

use crate::results::text::{dash, show, thousands};
use crate::servers::server::{GENERATOR_CPU, SERVER_CPU};

/// All that a run of the benchmark found.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) conditions: Conditions,
    pub(super) plan: GatePlan,
    pub(super) runs: Vec<Run>,
    /// Requests per second at which latency was measured.
    pub(super) rate: Option<f64>,
}

impl Results {
    /// What the raw results say of all runs.
    pub(super) fn about_all(&self) -> serde_json::Value {
        self.conditions.about_all("latency_rate", self.rate)
    }

    pub(super) fn to_markdown(&self) -> String {
        page_of([
            self.about(),
            self.ratios(),
            self.costs(),
            self.latency(),
            self.idle(),
            self.where_measured(),
        ])
    }

    fn about(&self) -> String {
        let Effort { rounds, seconds } = self.plan.plan.saturation;
        let costs = self.runs.iter().filter_map(|run| Some(run.good()?.1));
        let noise = self.conditions.noise(costs.map(|cost| (cost.others, cost.machine)));
        format!(
            "{}Median of {rounds} × {seconds} s, in brackets the least and the most; {CONNECTIONS} connections, {REFUSED_CONNECTIONS} where they are refused. {}\n",
            noise.warning(),
            noise.meanwhile()
        )
    }

    fn ratios(&self) -> String {
        let mut text = String::new();
        for (case, proxies) in &self.plan.plan.cases {
            if !proxies.contains(&Proxy::Gate) {
                continue;
            }
            let ours = self.cell(&case.to_string(), Proxy::Gate.name());
            let _ = write!(text, "| {} | {} |", case.title(), ours.told(Run::cpu_us));
            for value in [Run::cpu_us, Run::rate] {
                for other in [Proxy::Haproxy, Proxy::Nginx] {
                    let theirs = self.cell(&case.to_string(), other.name()).by_round(value);
                    let _ = write!(text, " {} |", show(Spread::of_ratios(&ours.by_round(value), &theirs)));
                }
            }
            text.push('\n');
        }
        if text.is_empty() {
            return text;
        }
        format!(
            "### The gate, as a ratio to the others\n\n| case | CPU per request of the gate, us | CPU to haproxy | CPU to nginx | requests per second to haproxy | to nginx |\n| --- | --- | --- | --- | --- | --- |\n{text}"
        )
    }

    fn costs(&self) -> String {
        let mut text = String::new();
        for (case, proxies) in &self.plan.plan.cases {
            let _ = write!(
                text,
                "{}### {}\n\n| proxy | CPU per request, us | of it in the kernel | requests per second | of its processor in use |\n| --- | --- | --- | --- | --- |\n",
                if text.is_empty() { "" } else { "\n" },
                case.title(),
            );
            for proxy in proxies {
                let cell = self.cell(&case.to_string(), proxy.name());
                let share = |value: fn(&Run) -> Option<f64>| {
                    let spread = cell.spread(value);
                    spread.map_or_else(dash, |spread| format!("{:.0} %", spread.median * 100.0))
                };
                let _ = writeln!(
                    text,
                    "| {} | {} | {} | {} | {} |",
                    proxy.name(),
                    cell.told(Run::cpu_us),
                    share(|run| Some(run.good()?.1.kernel)),
                    cell.spread(Run::rate).map_or_else(dash, |spread| thousands(spread.median)),
                    share(Run::load)
                );
            }
        }
        text
    }

    fn latency(&self) -> String {
        let Some(rate) = self.rate else { return String::new() };
        let mut text = format!(
            "### Latency\n\nUs, {}, at {} requests per second with Poisson arrivals, a quarter of what the slowest proxy carries: {} × {} s each. What is added is paired by round with the runs without a proxy.\n\n| way | p50 | p99 | added, p50 | added, p99 | valid |\n| --- | --- | --- | --- | --- | --- |\n",
            Case::FIRST.title(),
            thousands(rate),
            self.plan.plan.open_loop.rounds,
            self.plan.plan.open_loop.seconds
        );
        let quantiles: [fn(&Run) -> Option<f64>; 2] =
            [|run| Some(run.latency?.p50 * 1e6), |run| Some(run.latency?.p99 * 1e6)];
        let direct = self.cell(GatePlan::LATENCY, Run::DIRECT);
        for way in [Run::DIRECT].into_iter().chain(Proxy::ALL.map(Proxy::name)) {
            let cell = self.cell(GatePlan::LATENCY, way);
            let _ = write!(text, "| {way} |");
            for value in quantiles {
                let _ = write!(text, " {} |", cell.told(value));
            }
            for value in quantiles {
                let without = direct.by_round(value);
                let added = cell.by_round(value).into_iter();
                let added = added.filter_map(|(round, through)| Some(through - without.get(&round)?));
                let added = if way == Run::DIRECT { dash() } else { show(Spread::of(added)) };
                let _ = write!(text, " {added} |");
            }
            let valid = cell.runs.iter().filter(|run| run.client.as_ref().is_some_and(|client| client.valid));
            let _ = writeln!(text, " {} of {} |", valid.count(), cell.runs.len());
        }
        text
    }

    fn idle(&self) -> String {
        if self.plan.idle.is_empty() {
            return String::new();
        }
        let mut text = format!(
            "### Memory\n\nResident memory of the proxy for each of {} connections that are idle after a request.\n\n| proxy | bytes per connection |\n| --- | --- |\n",
            thousands(f64::from(self.plan.connections))
        );
        for proxy in &self.plan.idle {
            let cell = self.cell(GatePlan::IDLE, proxy.name());
            let _ = writeln!(text, "| {} | {} |", proxy.name(), cell.told(|run| run.per_connection));
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
            "Proxy on processor {SERVER_CPU}; generator and server on processor {GENERATOR_CPU}; a fresh server and proxy for each run"
        );
        self.conditions.where_measured(&how, &shown)
    }

    fn cell(&self, case: &str, proxy: &str) -> Cell<'_, Run> {
        Cell { runs: self.runs.iter().filter(|run| run.case == case && run.proxy == proxy).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::run::Cost;
    use super::*;
    use crate::generators::headworks::{Client, Latency};
    use crate::generators::told::Told;
    use crate::results::machine::Shares;

    fn run(case: &str, proxy: &str, round: u32, cpu_us: f64) -> Run {
        let cost = Cost {
            proxy_cpu_s: cpu_us / 1e3,
            kernel: 0.75,
            server_cpu_s: 0.01,
            generator_cpu_s: 0.01,
            wall_s: 0.02,
            machine: Shares { busy: 0.5, steal: 0.0 },
            others: 0.02,
        };
        let lag = r#"{"lag":{"p50":0,"p99":0,"p999":0,"max":0},"valid":true,"why_invalid":[]}"#;
        Run {
            case: case.to_owned(),
            proxy: proxy.to_owned(),
            round,
            commands: vec![format!("start {proxy}"), "wrk".to_owned()],
            failure: None,
            cost: Some(cost),
            told: Some(Told { requests: 1000, rate: 1e6 / cpu_us, bytes: 1e9, errors: BTreeMap::new() }),
            latency: Some(Latency { p50: cpu_us / 1e6, p99: cpu_us / 1e5 }),
            client: serde_json::from_str::<Client>(lag).ok(),
            per_connection: Some(cpu_us * 100.0),
        }
    }

    #[track_caller]
    fn check(runs: Vec<Run>, lines: &[&str]) {
        let results = Results {
            conditions: Conditions::example(),
            plan: GatePlan::quick(),
            runs,
            rate: Some(20_000.0),
        };
        let text = results.to_markdown();
        for line in lines {
            assert!(text.contains(line), "no {line} in {text}");
        }
    }

    #[test]
    fn ratios_are_paired_by_round() {
        let case = Case::FIRST.to_string();
        // The machine was twice as slow in the second round, for all.
        let each = [("gate", 20.0), ("haproxy", 10.0), ("nginx", 40.0)];
        let runs = each.into_iter().flat_map(|(proxy, us)| [0, 1].map(|round| (proxy, us, round)));
        let runs = runs.map(|(proxy, us, round)| run(&case, proxy, round, us * f64::from(round + 1)));
        check(
            runs.collect(),
            &[
                "| 1 KiB, keep-alive | 30.0 (20.0–40.0) | 2.00 (2.00–2.00) | 0.50 (0.50–0.50) | 0.50 (0.50–0.50) | 2.00 (2.00–2.00) |",
                "| gate | 30.0 (20.0–40.0) | 75 % | 37 500 | 150 % |",
                "    taskset -c 0 start gate\n    taskset -c 1 wrk\n",
            ],
        );
    }

    #[test]
    fn a_failed_round_is_told_instead_of_a_figure() {
        let case = Case::FIRST.to_string();
        let failed = Run { failure: Some("3 timeouts".to_owned()), ..run(&case, "haproxy", 1, 8.0) };
        check(
            vec![run(&case, "gate", 0, 6.0), run(&case, "haproxy", 0, 8.0), failed],
            &[
                "| haproxy | 3 timeouts in 1 of 2 rounds | – | – | – |",
                "| 1 KiB, keep-alive | 6.00 (6.00–6.00) | – |",
            ],
        );
    }

    #[test]
    fn latency_is_told_with_what_the_proxy_adds() {
        let of = |proxy, us| run(GatePlan::LATENCY, proxy, 0, us);
        check(
            vec![of("direct", 100.0), of("gate", 150.0), run(GatePlan::IDLE, "gate", 0, 50.0)],
            &[
                "| direct | 100 (100–100) | 1000 (1000–1000) | – | – | 1 of 1 |",
                "| gate | 150 (150–150) | 1500 (1500–1500) | 50.0 (50.0–50.0) | 500 (500–500) | 1 of 1 |",
                "| gate | 5000 (5000–5000) |",
            ],
        );
    }
}
