//! What came out of a run, in words, from its figures and nothing else.

use record::{ObjectiveResult, ObjectiveUnit, Summary};
use stats::Estimate;
use units::Span;

use super::model::{Counted, RunReport, Steps};
use crate::conclusion::{Conclusion, KeyFigure};
use crate::text::{level, number, percent, seconds, setting};

pub(super) fn of(report: &RunReport) -> Conclusion {
    let summary = &report.summary;
    Conclusion { headline: headline(report), details: details(report), figures: figures(report, summary) }
}

/// What must be known first: that the figures are not the server's, that nothing answered, that
/// an objective was missed; else how much was done and how long it took.
fn headline(report: &RunReport) -> String {
    let summary = &report.summary;
    if summary.requests == 0 {
        return "Nothing was asked for in the measuring window".to_owned();
    }
    if summary.responses == 0 {
        return format!("None of {} requests was answered", summary.requests);
    }
    if !summary.client.valid {
        return "Not valid: these figures are the load generator’s, not the server’s".to_owned();
    }
    if let Some(why) = &summary.stopped {
        return format!("Stopped after {}: {why}", seconds(summary.duration));
    }
    let missed: Vec<&ObjectiveResult> = summary.objectives.iter().filter(|o| !o.met).collect();
    if let Some(first) = missed.first() {
        let measured = first.measured.map_or("not measured".to_owned(), |x| objective_figure(first, x));
        return format!("The objective {} was missed: {measured}", first.objective);
    }
    if let Some(rise) = rise(&report.steps) {
        return rise;
    }
    let (offered, achieved) = (summary.rate.offered, summary.rate.achieved);
    let verb = if report.unit == Counted::Sessions { "completed" } else { "answered" };
    // In a closed loop nothing is offered beyond what is achieved.
    let of = if offered == achieved { String::new() } else { format!("of {} ", number(offered)) };
    format!(
        "{} {of}{} per second {verb}; 99 % of requests took {} or less",
        number(achieved),
        report.unit,
        seconds(summary.latency.total.p99)
    )
}

/// What a ramp showed, from its lowest to its highest level.
fn rise(steps: &Steps) -> Option<String> {
    let (first, last) = (steps.rows.first()?, steps.rows.last()?);
    let (low, high) = (first.total.mean?, last.total.mean?);
    steps.ramp.then(|| {
        format!(
            "From {} to {} the mean response time went from {} to {}",
            first.level,
            level(last.level, &steps.unit),
            seconds(low.value),
            seconds(high.value)
        )
    })
}

/// A figure of an objective in its unit: a share, a rate, else a length of time.
pub(super) fn objective_figure(objective: &ObjectiveResult, measured: f64) -> String {
    match objective.unit() {
        ObjectiveUnit::Share => percent(measured),
        ObjectiveUnit::PerSecond => format!("{}/s", number(measured)),
        ObjectiveUnit::Seconds => seconds(measured),
    }
}

fn details(report: &RunReport) -> Vec<String> {
    let summary = &report.summary;
    let mut details = Vec::new();
    if summary.client.valid && summary.responses > 0 {
        details.push(answers(summary));
    }
    if summary.responses > 0 {
        details.push(where_time_went(report));
    }
    details.extend(connections(report));
    let censored = summary.censored;
    if censored > 0 {
        let requests = if censored == 1 { "request was" } else { "requests were" };
        details.push(format!(
            "{censored} {requests} cut off by the timeout or the end of the run; their latencies are longer than shown."
        ));
    }
    details
}

fn answers(summary: &Summary) -> String {
    let refused: u64 = summary.status.iter().filter(|(status, _)| **status >= 400).map(|(_, n)| n).sum();
    let share = percent(summary.responses as f64 / summary.requests.max(1) as f64);
    let refused = match refused {
        0 => String::new(),
        n => format!(", {n} of them with a status of 400 or more"),
    };
    format!("{} of {} requests were answered ({share}){refused}.", summary.responses, summary.requests)
}

fn where_time_went(report: &RunReport) -> String {
    let latency = &report.summary.latency;
    format!(
        "Half of the requests took {} or less. On average, connecting took {}, processing {} and transfer {}.",
        seconds(latency.total.p50),
        if latency.connect.count > 0 { seconds(latency.connect.mean) } else { "no time".to_owned() },
        seconds(latency.processing.mean),
        seconds(latency.transfer.mean),
    )
}

/// Said only where it happened; of a ramp, from where on.
fn connections(report: &RunReport) -> Option<String> {
    let Steps { rows, unit, ramp, .. } = &report.steps;
    let (begun, timed_out) =
        rows.iter().fold((0, 0), |(begun, out), step| (begun + step.connections, out + step.timed_out));
    let share = Estimate::share(timed_out, begun).filter(|_| timed_out > 0)?;
    let first = rows.iter().find(|step| step.timed_out > 0).filter(|_| *ramp);
    let from =
        first.map_or(String::new(), |step| format!(", the first of them at {}", level(step.level, unit)));
    Some(format!(
        "{timed_out} of {begun} connections ({}) met a timeout{from}: nothing answered their SYN in time, and it was sent again.",
        percent(share.value)
    ))
}

fn offer(summary: &Summary) -> String {
    let time = setting(Span::from_secs_f64(summary.duration));
    if summary.rate.offered == summary.rate.achieved {
        return format!("in {time}");
    }
    format!("{}/s offered for {time}", number(summary.rate.offered))
}

fn figures(report: &RunReport, summary: &Summary) -> Vec<KeyFigure> {
    let figure =
        |value: String, label: &str, note: String| KeyFigure { value, label: label.to_owned(), note };
    let total = &summary.latency.total;
    let measured = total.count > 0;
    let time = |x: f64| if measured { seconds(x) } else { "–".to_owned() };
    let failed = summary.requests - summary.responses.min(summary.requests);
    let share = if summary.requests > 0 { failed as f64 / summary.requests as f64 } else { 0.0 };
    let connections = &summary.connections;
    vec![
        figure(
            format!("{}/s", number(summary.rate.achieved)),
            if report.unit == Counted::Sessions { "sessions completed" } else { "requests answered" },
            offer(summary),
        ),
        figure(
            time(total.p50),
            "median latency",
            format!("mean {}, longest {}", time(total.mean), time(total.max)),
        ),
        figure(
            time(total.p99),
            "99th percentile",
            format!("90th {}, 99.9th {}", time(total.p90), time(total.p999)),
        ),
        figure(percent(share), "without a response", format!("{failed} of {} requests", summary.requests)),
        figure(
            connections.syn_retransmits.to_string(),
            "SYNs sent again",
            format!("{} connections, {} requests on open ones", connections.opened, connections.reused),
        ),
        figure(
            format!("{:.0} %", summary.client.cpu * 100.0),
            "of a processor for the generator",
            if summary.client.lag.count > 0 {
                format!("99th percentile of its lateness {}", seconds(summary.client.lag.p99))
            } else {
                "it followed no schedule".to_owned()
            },
        ),
    ]
}
