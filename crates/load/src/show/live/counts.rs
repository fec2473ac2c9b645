//! What came of the requests, the generator's health and the objectives, in lines.

use std::net::SocketAddr;

use ratatui::style::Style;
use ratatui::text::{Line, Span as Piece};
use record::{ObjectiveResult, RequestError};
use tui::Theme;
use tui::figures::{self, number, time};

use super::super::snapshot::Snapshot;
use super::state::{Latest, State};

/// The most important first: what does not fit is left out from the end.
pub(super) fn lines(state: &State, latest: &Latest) -> Vec<Line<'static>> {
    let (theme, snapshot) = (state.theme, &*latest.snapshot);
    let mut lines = vec![generator(theme, snapshot)];
    lines.extend(
        snapshot.generator.why_invalid.iter().map(|why| Line::styled(format!("  - {why}"), theme.bad)),
    );
    lines.extend([status(theme, snapshot), errors(theme, snapshot)]);
    lines.extend(snapshot.objectives.iter().map(|result| objective(theme, result)));
    lines.push(connections(theme, snapshot));
    lines.extend(state.metrics.map(|address| metrics(theme, address)));
    lines
}

fn begin(theme: Theme, name: &'static str) -> Vec<Piece<'static>> {
    vec![Piece::styled(format!("{name:<13}"), theme.label)]
}

fn status(theme: Theme, snapshot: &Snapshot) -> Line<'static> {
    let mut line = begin(theme, "status");
    if snapshot.whole.status.is_empty() {
        line.push(Piece::raw("none yet"));
    }
    for (code, count) in &snapshot.whole.status {
        let style = if *code >= 400 { theme.bad } else { Style::new() };
        line.push(Piece::styled(format!("{code}: {}", number(*count as f64)), style));
        line.push(Piece::raw("   "));
    }
    Line::from(line)
}

fn errors(theme: Theme, snapshot: &Snapshot) -> Line<'static> {
    let whole = &snapshot.whole;
    let mut line = begin(theme, "errors");
    let kinds = RequestError::ALL.into_iter().filter(|kind| whole.errors.get(*kind) > 0);
    for kind in kinds {
        line.push(Piece::styled(
            format!("{}: {}", kind.name(), number(whole.errors.get(kind) as f64)),
            theme.bad,
        ));
        line.push(Piece::raw("   "));
    }
    if whole.errors.total() == 0 {
        line.push(Piece::raw("none"));
    }
    if whole.censored > 0 {
        line.push(Piece::styled(format!("({} cut off)", number(whole.censored as f64)), theme.label));
    }
    Line::from(line)
}

fn connections(theme: Theme, snapshot: &Snapshot) -> Line<'static> {
    let whole = &snapshot.whole;
    let mut line = begin(theme, "connections");
    let figures = [
        (snapshot.connections, "open"),
        (whole.opened, "opened"),
        (whole.reused, "reused"),
        (whole.syn_retransmits, "SYNs resent"),
        (whole.connect_timeouts, "timed out"),
    ];
    let texts = figures.map(|(count, what)| format!("{} {what}", number(count as f64)));
    line.push(Piece::raw(texts.join("   ")));
    Line::from(line)
}

fn metrics(theme: Theme, address: SocketAddr) -> Line<'static> {
    let mut line = begin(theme, "metrics");
    line.push(Piece::raw(format!("http://{address}/metrics")));
    Line::from(line)
}

fn generator(theme: Theme, snapshot: &Snapshot) -> Line<'static> {
    let generator = &snapshot.generator;
    let mut line = begin(theme, "generator");
    let valid = generator.why_invalid.is_empty();
    let (style, verdict) = if valid { (theme.good, "valid so far") } else { (theme.bad, "NOT VALID") };
    line.push(Piece::styled(verdict, style));
    line.push(Piece::raw(format!("   {:.0} % of a processor", generator.cpu * 100.0)));
    if snapshot.offered.is_some() {
        let (p99, max) = (time(generator.lag_p99.as_secs_f64()), time(generator.lag_max.as_secs_f64()));
        line.push(Piece::raw(format!("   lag p99 {p99}, max {max}")));
    }
    Line::from(line)
}

fn objective(theme: Theme, result: &ObjectiveResult) -> Line<'static> {
    let mut line = begin(theme, "objective");
    let (style, verdict) = match (result.measured, result.met) {
        (None, _) => (theme.label, "nothing measured yet"),
        (Some(_), true) => (theme.good, "met so far"),
        (Some(_), false) => (theme.bad, "NOT MET"),
    };
    line.push(Piece::raw(format!("{:<16}", result.objective)));
    line.push(Piece::styled(format!(" {verdict}"), style));
    if let Some(measured) = figures::objective(result) {
        line.push(Piece::raw(format!("   {measured}")));
    }
    Line::from(line)
}
