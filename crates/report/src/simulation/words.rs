//! What was simulated and what came out, in words.

use record::{Environment, RunInfo};
use stats::Estimate;
use toml::{Table, Value};

use super::model::OutcomeRow;
use super::summary::{Observed, Precision, SimulationSummary};
use crate::conclusion::{Conclusion, KeyFigure};
use crate::method::fact::Fact;
use crate::method::fact::{command, fact};
use crate::method::machine::machine;
use crate::text::{number, percent, seconds};

pub(super) fn title(info: &RunInfo) -> String {
    [arrivals(info), server(info)].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

pub(super) fn verdict(outcome: &SimulationSummary, rows: &[OutcomeRow]) -> Conclusion {
    let mean = outcome.latency.mean.estimate();
    let lost = outcome.lost.and_then(Observed::estimate);
    let headline = match (lost.or(outcome.rejected.estimate()), mean, outcome.latency.p90.estimate()) {
        (Some(rejected), Some(mean), Some(p90)) if rejected.value > 0.0 => format!(
            "{} of the requests are {}; the others take {} on average, nine of ten at most {}",
            share(rejected.value),
            if lost.is_some() { "never answered in time, after all attempts" } else { "rejected" },
            seconds(mean.value),
            seconds(p90.value)
        ),
        (_, Some(mean), Some(p90)) => format!(
            "No request is {}; they take {} on average, nine of ten at most {}",
            if lost.is_some() { "lost, after all attempts" } else { "rejected" },
            seconds(mean.value),
            seconds(p90.value)
        ),
        _ => "No request was completed".to_owned(),
    };
    Conclusion { headline, details: details(outcome, rows), figures: figures(outcome) }
}

/// In per cent; below 0.1 % with three digits.
fn share(value: f64) -> String {
    if value > 0.0 && value < 0.001 { format!("{} %", number(value * 100.0)) } else { percent(value) }
}

fn details(outcome: &SimulationSummary, rows: &[OutcomeRow]) -> Vec<String> {
    let work = [outcome.utilization, outcome.throughput, outcome.present].map(|known| known.estimate());
    let work = match work {
        [Some(busy), Some(served), Some(present)] => Some(format!(
            "The processors work {} of the time and serve {} requests per second; on average {} are in the server, queue included.",
            percent(busy.value),
            number(served.value),
            number(present.value)
        )),
        _ => None,
    };
    let classes: Vec<String> = rows
        .iter()
        .skip(1)
        .filter_map(|class| Some(format!("{} {}", class.name, seconds(class.mean?.value))))
        .collect();
    let classes =
        (!classes.is_empty()).then(|| format!("Mean latency of each class: {}.", classes.join(", ")));
    let tiers = outcome.tiers.iter().filter_map(|tier| {
        let [utilization, threads, waiting] =
            [tier.utilization, tier.threads, tier.waiting].map(Observed::estimate);
        Some(format!(
            "Of the tier {} {} of the processors and {} of the threads are in use; on average {} calls wait for it.",
            tier.name,
            percent(utilization?.value),
            percent(threads?.value),
            number(waiting?.value)
        ))
    });
    work.into_iter().chain(tiers).chain(classes).collect()
}

fn figures(outcome: &SimulationSummary) -> Vec<KeyFigure> {
    let figure = |label: &str, estimate: Option<Estimate>, factor: f64, unit: &str| KeyFigure {
        value: estimate.map_or("–".to_owned(), |e| with_unit(sure(e, factor).0, unit)),
        label: label.to_owned(),
        note: estimate
            .and_then(|e| sure(e, factor).1)
            .map_or(String::new(), |half| format!("± {}", with_unit(half, unit))),
    };
    let latency = |label: &str, estimate: Option<Estimate>| {
        let (factor, unit) = match estimate.map_or(1.0, |e| e.value) {
            s if s < 0.000_999_5 => (1e6, "µs"),
            s if s < 0.999_5 => (1e3, "ms"),
            _ => (1.0, "s"),
        };
        figure(label, estimate, factor, unit)
    };
    let of_clients = [("given up", outcome.given_up), ("lost", outcome.lost)].into_iter();
    let of_clients =
        of_clients.filter_map(|(label, share)| Some(figure(label, share?.estimate(), 100.0, "%")));
    let others = [
        figure("rejected", outcome.rejected.estimate(), 100.0, "%"),
        latency("mean latency", outcome.latency.mean.estimate()),
        latency("90th percentile", outcome.latency.p90.estimate()),
        figure("processors working", outcome.utilization.estimate(), 100.0, "%"),
        figure("served per second", outcome.throughput.estimate(), 1.0, ""),
        figure("requests in the server", outcome.present.estimate(), 1.0, ""),
    ];
    of_clients.chain(others).collect()
}

fn with_unit(figure: String, unit: &str) -> String {
    format!("{figure} {unit}").trim_end().to_owned()
}

/// A figure and half its interval, with the digits that the interval leaves sure and one more.
fn sure(estimate: Estimate, factor: f64) -> (String, Option<String>) {
    let half = estimate.ci.map(|[low, high]| (high - low) / 2.0 * factor).filter(|half| half.is_finite());
    let least = half.filter(|half| *half > 0.0);
    let digits = match least {
        Some(half) => (1.0 - half.log10().floor()).clamp(0.0, 6.0) as usize,
        None => return (number(estimate.value * factor), half.map(number)),
    };
    (format!("{:.digits$}", estimate.value * factor), half.map(|half| format!("{half:.digits$}")))
}

pub(super) fn warnings(outcome: &SimulationSummary, info: &RunInfo) -> Vec<String> {
    let missed = match outcome.precision {
        Precision::Missed { relative, replications } => Some(format!(
            "Not as precise as asked for: known to {}; it would take about {replications} replications.",
            percent(relative)
        )),
        Precision::Unsettled { requests } => Some(format!(
            "Pilot runs of {requests} requests did not come to rest: what was simulated may not be typical."
        )),
        Precision::Interrupted => {
            Some("Somebody ended it early: less was simulated than was asked for.".to_owned())
        }
        Precision::Fixed | Precision::Reached => None,
    };
    let alone = (outcome.replications < 2 && !long_run(info))
        .then(|| "There was one replication; nothing is known of how far it may be off.".to_owned());
    missed.into_iter().chain(alone).collect()
}

/// What the record tells of how it was simulated.
pub(super) fn facts(
    outcome: &SimulationSummary,
    info: &RunInfo,
    environment: Option<&Environment>,
) -> Vec<Fact> {
    let (replications, intervals) = if long_run(info) {
        ("one run".to_owned(), "from overlapping batch means")
    } else {
        let replications = format!("{} replications", outcome.replications);
        (replications, "from how replications differ (delta method, Student’s t)")
    };
    let simulated = format!("{replications} of {} after {} of warm-up", outcome.requests, outcome.warmup);
    let events = format!("{:.1} million", outcome.events as f64 / 1e6);
    let mut facts = vec![
        fact("Arrivals", arrivals(info)),
        fact("Requests", requests(info)),
        fact("Server", server(info)),
        fact("Simulated requests", simulated),
        fact("Arrivals and completions", events),
        fact("Intervals", format!("95 % confidence, {intervals}")),
        command("Command", &info.command),
        fact("Seed", info.seed.to_string()),
    ];
    let machine = environment.iter().flat_map(|environment| machine(environment));
    facts.extend(machine.filter(|fact| ["Host", "Processors"].contains(&fact.label.as_str())));
    facts.push(fact("Time", format!("{:.0}", info.started)));
    facts.push(fact("Headworks", info.version.clone()));
    facts.retain(|fact| !fact.value.is_empty());
    facts
}

fn part<'a>(info: &'a RunInfo, name: &str) -> Option<&'a Table> {
    info.spec.get(name)?.as_table()
}

fn long_run(info: &RunInfo) -> bool {
    part(info, "plan").and_then(|plan| plan.get("long-run")?.as_bool()).unwrap_or(false)
}

/// A value of the model as its file has it.
fn value(info: &RunInfo, key: &str) -> Option<String> {
    part(info, "model")?.get(key).map(written)
}

fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn arrivals(info: &RunInfo) -> String {
    let [clients, think, arrivals, load, rate] =
        ["clients", "think", "arrivals", "load", "rate"].map(|key| value(info, key));
    match (clients, think, arrivals, load, rate) {
        (Some(clients), Some(think), ..) => format!("{clients} clients that think for {think}"),
        (_, _, Some(arrivals), Some(load), _) => format!("{arrivals} at load {load}"),
        (_, _, Some(arrivals), _, Some(rate)) => format!("{arrivals} at {rate} requests/s"),
        _ => String::new(),
    }
}

fn server(info: &RunInfo) -> String {
    let [threads, queue, discipline, processors] =
        ["threads", "queue", "discipline", "processors"].map(|key| value(info, key).unwrap_or_default());
    if threads.is_empty() {
        return String::new();
    }
    let queue = match queue.as_str() {
        "none" => "a queue without limit".to_owned(),
        "0" => "no queue".to_owned(),
        queue => format!("a queue of {queue}"),
    };
    let processors =
        if processors == "1" { "one processor".to_owned() } else { format!("{processors} processors") };
    format!("{threads} threads, {queue}, {processors} ({discipline})")
}

fn requests(info: &RunInfo) -> String {
    let Some(classes) = part(info, "model").and_then(|model| model.get("class")?.as_array()) else {
        return String::new();
    };
    let share = |class: &Value| {
        class.get("share").and_then(|share| share.as_float().or_else(|| Some(share.as_integer()? as f64)))
    };
    let total: f64 = classes.iter().filter_map(share).sum();
    let classes: Vec<String> = classes
        .iter()
        .filter_map(|class| {
            let [name, demand] = [class.get("name")?, class.get("demand")?].map(written);
            Some(format!("{name} {}: {demand}", percent(share(class)? / total)))
        })
        .collect();
    let service = value(info, "service").map_or(String::new(), |law| format!("; {law}"));
    format!("{}{service}", classes.join(", "))
}
