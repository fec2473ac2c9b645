//! `headworks load`: its summary has the names of `docs/load.md`.

use std::collections::BTreeMap;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::ask::{Ask, Reuse};
use super::told::Told;

/// Options of a run at a rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace<'a> {
    pub(crate) rate: u64,
    pub(crate) arrivals: &'a str,
    pub(crate) seconds: u32,
    /// The most requests under way at once; `None` for as many as the schedule wants.
    pub(crate) connections: Option<u32>,
}

/// What the generator says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Client {
    /// How late it began what the schedule wanted.
    pub(crate) lag: Lag,
    pub(crate) valid: bool,
    pub(crate) why_invalid: Vec<String>,
}

/// Seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Lag {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) max: f64,
}

/// From when the schedule wanted a request to the end of its response; seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

#[derive(Debug, Deserialize)]
struct Latencies {
    total: Latency,
}

#[derive(Debug, Deserialize)]
struct Summary {
    bytes: f64,
    rate: Rate,
    status: BTreeMap<u16, u64>,
    errors: BTreeMap<String, u64>,
    latency: Latencies,
    client: Client,
}

#[derive(Debug, Deserialize)]
struct Rate {
    achieved: f64,
}

/// Whether a run leaves a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record {
    Written,
    Omitted,
}

pub(super) fn arguments(ask: &Ask<'_>, record: Record) -> Vec<String> {
    let mut arguments = vec!["load".to_owned(), ask.url.to_owned()];
    let mut add = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    add("--connections", ask.connections.to_string());
    add("--duration", format!("{}s", ask.seconds));
    if ask.reuse == Reuse::Close {
        add("--requests-per-connection", "1".to_owned());
    }
    if record == Record::Written {
        add("--out", ask.record.display().to_string());
        // The report is made after the run, and no part of what a record costs.
        arguments.push("--no-report".to_owned());
    }
    arguments.extend(["--json".to_owned(), "--quiet".to_owned()]);
    arguments
}

/// The arguments of an open loop, connections being kept alive.
pub(crate) fn pace(url: &str, pace: Pace<'_>) -> Vec<String> {
    let (rate, duration) = (pace.rate.to_string(), format!("{}s", pace.seconds));
    // The first requests open the connections, which costs more than to use them.
    let time = ["--warmup", "2s", "--duration", &duration];
    let most = pace.connections.map(|most| most.to_string());
    let limit = most.iter().flat_map(|most| ["--connections", most]);
    let options = ["--rate", &rate, "--arrivals", pace.arrivals];
    ["load", url]
        .into_iter()
        .chain(options)
        .chain(limit)
        .chain(time)
        .chain(["--json", "--quiet"])
        .map(str::to_owned)
        .collect()
}

pub(super) fn read(stdout: &str) -> anyhow::Result<Told> {
    let summary = summary(stdout)?;
    let mut errors: BTreeMap<_, _> = summary.errors.into_iter().filter(|(_, count)| *count > 0).collect();
    let other = summary.status.iter().filter(|(status, _)| **status != 200);
    errors.extend(other.map(|(status, count)| (format!("status {status}"), *count)));
    let requests = summary.status.get(&200).copied().unwrap_or(0);
    Ok(Told { requests, rate: summary.rate.achieved, bytes: summary.bytes, errors })
}

impl Client {
    pub(crate) fn read(stdout: &str) -> anyhow::Result<Self> {
        Ok(summary(stdout)?.client)
    }
}

impl Latency {
    pub(crate) fn read(stdout: &str) -> anyhow::Result<Self> {
        Ok(summary(stdout)?.latency.total)
    }
}

fn summary(stdout: &str) -> anyhow::Result<Summary> {
    serde_json::from_str(stdout).with_context(|| format!("cannot read the summary: {}", stdout.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::ask::ask;

    const SUMMARY: &str = r#"{"requests":6870,"responses":6870,"bytes":7034880,"duration":1.0,
        "rate":{"offered":6806.0,"achieved":6806.0},"status":{"200":6860,"503":10},
        "errors":{"connect":0,"timeout":3,"reset":0,"protocol":0,"body":0},"censored":0,
        "latency":{"total":{"mean":0.01,"p50":0.008,"p90":0.02,"p99":0.03,"p999":0.04,"max":0.05,"count":9}},
        "client":{"cpu":0.36,"lag":{"mean":0.1,"p50":0.2,"p90":0.3,"p99":0.4,"p999":0.5,"max":0.6,"count":9},
        "valid":false,"why_invalid":["others used it"]},"interrupted":false}"#;

    #[test]
    fn responses_are_those_with_200_and_the_rest_are_errors() {
        let told = read(SUMMARY).unwrap();
        assert_eq!((told.requests, told.rate, told.bytes), (6860, 6806.0, 7_034_880.0));
        assert_eq!(told.errors, BTreeMap::from([("status 503".to_owned(), 10), ("timeout".to_owned(), 3)]));
        assert!(read("thread panicked").is_err());
    }

    #[test]
    fn latency_lag_and_validity_are_what_the_generator_says_of_itself() {
        assert_eq!(Latency::read(SUMMARY).unwrap(), Latency { p50: 0.008, p99: 0.03 });
        let client = Client::read(SUMMARY).unwrap();
        assert_eq!(client.lag, Lag { p50: 0.2, p99: 0.4, p999: 0.5, max: 0.6 });
        assert_eq!((client.valid, client.why_invalid.len()), (false, 1));
    }

    #[test]
    fn a_connection_per_request_and_a_record_are_asked_for() {
        assert_eq!(
            arguments(&ask(Reuse::Close), Record::Written).join(" "),
            "load http://127.0.0.1:8080/1024 --connections 64 --duration 5s --requests-per-connection 1 --out record --no-report --json --quiet"
        );
        assert_eq!(
            pace("http://a/", Pace { rate: 10, arrivals: "poisson", seconds: 3, connections: None })
                .join(" "),
            "load http://a/ --rate 10 --arrivals poisson --warmup 2s --duration 3s --json --quiet"
        );
    }
}
