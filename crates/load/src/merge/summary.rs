//! The summary of several records.

use record::{ClientSummary, ConnectionSummary, Quantiles, RateSummary, Summary};
use units::Rate;

use crate::measure::steps::Telling;
use crate::merge::arrangement::Arrangement;
use crate::merge::source::Source;
use crate::merge::tally::Tally;

pub(super) fn of(sources: &[Source], arrangement: &Arrangement, tally: &Tally) -> Summary {
    let summaries = || sources.iter().map(|source| &source.summary);
    let figures = &tally.figures;
    let classes = tally.classes();
    Summary {
        requests: figures.requests,
        responses: figures.responses,
        bytes: figures.bytes,
        duration: arrangement.window.length().as_secs_f64(),
        rate: rate(sources, arrangement, tally),
        status: figures.status.clone(),
        errors: figures.errors,
        error_details: figures.error_details(),
        censored: figures.censored,
        latency: figures.phases.summary(&[]),
        sessions: figures.sessions(classes.iter().map(String::as_str)),
        client: client(sources),
        connections: ConnectionSummary {
            opened: figures.opened,
            reused: figures.reused,
            syn_retransmits: figures.syn_retransmits,
            waits: summaries().map(|summary| summary.connections.waits).sum(),
            limit: summaries().map(|summary| summary.connections.limit).sum(),
            queued: summaries().map(|summary| summary.connections.queued).sum(),
            needed: None,
        },
        address: summaries().next().map(|summary| summary.address.clone()).unwrap_or_default(),
        interrupted: summaries().any(|summary| summary.interrupted),
        stopped: summaries().find_map(|summary| summary.stopped.clone()),
        steps: steps(sources, arrangement, tally),
        objectives: Vec::new(),
    }
}

fn rate(sources: &[Source], arrangement: &Arrangement, tally: &Tally) -> RateSummary {
    let parts = sources.iter().zip(&tally.done).map(|(source, done)| {
        let window = source.info.window;
        let weight = arrangement.weight(window);
        (source.summary.rate.offered * weight, Rate::of(*done, window.length()).as_f64() * weight)
    });
    parts.fold(RateSummary::default(), |sum, (offered, achieved)| RateSummary {
        offered: sum.offered + offered,
        achieved: sum.achieved + achieved,
    })
}

/// They are valid if all are. Of what each says of itself the worst is told.
fn client(sources: &[Source]) -> ClientSummary {
    let clients = || sources.iter().map(|source| &source.summary.client);
    let most = |figure: fn(&ClientSummary) -> f64| clients().map(figure).fold(0.0, f64::max);
    let lag = |figure: fn(&Quantiles) -> f64| clients().map(|client| figure(&client.lag)).fold(0.0, f64::max);
    let why = sources.iter().flat_map(|source| {
        source.summary.client.why_invalid.iter().map(|why| format!("{}: {why}", source.name()))
    });
    ClientSummary {
        cpu: most(|client| client.cpu),
        waited: most(|client| client.waited),
        without_port: clients().map(|client| client.without_port).sum(),
        lag: Quantiles {
            mean: lag(|q| q.mean),
            min: lag(|q| q.min),
            p50: lag(|q| q.p50),
            p90: lag(|q| q.p90),
            p95: lag(|q| q.p95),
            p99: lag(|q| q.p99),
            p999: lag(|q| q.p999),
            max: lag(|q| q.max),
            count: clients().map(|client| client.lag.count).sum(),
            ..Quantiles::default()
        },
        valid: clients().all(|client| client.valid),
        why_invalid: why.collect(),
    }
}

fn steps(sources: &[Source], arrangement: &Arrangement, tally: &Tally) -> Vec<record::StepSummary> {
    let unit = sources.first().and_then(|source| source.info.step_unit.as_deref()).unwrap_or_default();
    let telling = Telling {
        unit,
        open: sources.iter().all(Source::is_open),
        sessions: sources.iter().all(Source::has_sessions),
        percentiles: &[],
        objectives: &[],
    };
    tally.steps.summary(&arrangement.steps, &telling)
}
