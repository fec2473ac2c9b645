//! Requests by class and phase: the paper's table 5.

use std::collections::BTreeMap;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span as Piece, Text};
use ratatui::widgets::{Paragraph, Wrap};
use record::PhaseName;
use tui::figures::{number, of, time};

use super::body::{chart, table};
use super::state::State;
use crate::requests::{Followed, Rates, Waits, by_size};
use crate::snapshot::Snapshot;

const NAME_WIDTH: u16 = 11;
const PHASE_WIDTH: u16 = 18;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, snapshot: &Snapshot) {
    let requests = if state.whole { &snapshot.requests } else { &snapshot.latest.requests };
    let waits = if state.whole { &snapshot.waits } else { &snapshot.latest.waits };
    let lines = lines(state, snapshot, waits.as_ref(), requests.is_empty());
    let classes = u16::try_from(requests.len()).unwrap_or(u16::MAX);
    let heights = if classes == 0 { [0, 0] } else { [classes + 1, classes * 3 + 1] };
    let [picture, by_class, by_phase, rest] = Layout::vertical([
        Constraint::Min(1),
        Constraint::Length(heights[0]),
        Constraint::Length(heights[1]),
        Constraint::Length(u16::try_from(tui::wrapped(&lines, area.width)).unwrap_or(u16::MAX)),
    ])
    .areas(area);
    let total = |snapshot: &Snapshot| {
        let seen = snapshot.latest.followed.is_some();
        seen.then(|| snapshot.latest.requests.values().map(|rates| rates.rate).sum())
    };
    let followed = if state.whole { &snapshot.followed } else { &snapshot.latest.followed };
    let is_counted = followed.is_some_and(|followed| followed.is_counted);
    let title = title(state, requests, if is_counted { "counted" } else { "estimated" });
    chart(frame, picture, state, title, &[(state.theme.line, &total)], 1.0);
    draw_classes(frame, by_class, state, requests);
    draw_phases(frame, by_phase, state, requests);
    frame.render_widget(Paragraph::new(Text::from(lines)).wrap(Wrap { trim: false }), rest);
}

/// `how` says whether rates are of every request.
fn title(state: &State, requests: &BTreeMap<String, Rates>, how: &str) -> Line<'static> {
    let rate: f64 = requests.values().map(|rates| rates.rate).sum();
    let bits: f64 = requests.values().map(|rates| rates.bytes_rate * 8e-6).sum();
    let when = if state.whole { "in all" } else { "last look" };
    Line::from(vec![
        Piece::styled(format!(" requests {}/s ", number(rate)), state.theme.strong),
        Piece::styled(format!(" {} Mbit/s   {when}, {how} ", number(bits)), state.theme.label),
    ])
}

/// A figure, where a request was followed that it is of.
fn known(value: f64, show: fn(f64) -> String) -> String {
    if value.is_finite() { show(value) } else { "-".to_owned() }
}

fn draw_classes(frame: &mut Frame<'_>, area: Rect, state: &State, requests: &BTreeMap<String, Rates>) {
    let titles =
        ["req/s", "Mbit/s", "p50", "p99", "user", "kernel", "soft", "disk", "reads", "writes", "blocks"];
    let rows = by_size(requests).into_iter().map(|(class, rates)| {
        let duration = &rates.duration;
        let figures = vec![
            number(rates.rate),
            number(rates.bytes_rate * 8e-6),
            of(duration, duration.p50),
            of(duration, duration.p99),
            known(rates.cpu_user, time),
            known(rates.cpu_kernel, time),
            known(rates.cpu_soft_interrupt, time),
            known(rates.disk_wait, time),
            known(rates.reads, number),
            known(rates.writes, number),
            known(rates.blocks, number),
        ];
        (Line::styled(class.to_owned(), state.theme.strong), figures)
    });
    let (rows, theme) = (rows.collect(), state.theme);
    table(frame, area, theme, ("class", NAME_WIDTH), (&titles, 7), rows);
}

fn draw_phases(frame: &mut Frame<'_>, area: Rect, state: &State, requests: &BTreeMap<String, Rates>) {
    let titles = ["elapsed", "p50", "p90", "p99", "max", "cpu", "p99", "max"];
    let mut rows = Vec::new();
    for (class, rates) in by_size(requests) {
        for phase in PhaseName::ALL {
            let clocks = &rates.phases[phase.name()];
            let (elapsed, cpu) = (&clocks.elapsed, &clocks.cpu);
            let times = [elapsed.mean, elapsed.p50, elapsed.p90, elapsed.p99, elapsed.max];
            let figures = times.map(|figure| of(elapsed, figure)).into_iter();
            let figures = figures.chain([cpu.mean, cpu.p99, cpu.max].map(|figure| of(cpu, figure)));
            let name = Line::from(vec![
                Piece::styled(format!("{class:<10} "), state.theme.label),
                Piece::raw(phase.name()),
            ]);
            rows.push((name, figures.collect()));
        }
    }
    table(frame, area, state.theme, ("by phase", PHASE_WIDTH), (&titles, 7), rows);
}

/// Waits, and what was not seen.
fn lines(state: &State, snapshot: &Snapshot, waits: Option<&Waits>, is_empty: bool) -> Vec<Line<'static>> {
    let theme = state.theme;
    let label = |name: &str| Piece::styled(format!("{name:<12}"), theme.label);
    let mut lines = Vec::new();
    if let Some(waits) = waits {
        let (accept, read) = (&waits.accept, &waits.read);
        lines.push(Line::from(vec![
            label("waits"),
            Piece::raw(format!(
                "to be accepted {}, p99 {} ({} connections/s)   to be read {}, p99 {}",
                of(accept, accept.mean),
                of(accept, accept.p99),
                number(waits.connections),
                of(read, read.mean),
                of(read, read.p99),
            )),
        ]));
    }
    let followed = if state.whole { &snapshot.followed } else { &snapshot.latest.followed };
    let why = followed.as_ref().map(Followed::not_counted).unwrap_or_default();
    if !why.is_empty() {
        lines.push(Line::from(vec![label("not counted"), Piece::raw(why.join("; "))]));
    }
    let Some(followed) =
        followed.as_ref().filter(|followed| followed.watched > 0.0 || followed.status.is_some())
    else {
        let why = if state.setting.budget.is_empty() {
            "requests are not followed: see overhead".to_owned()
        } else {
            "no window was open yet: they are earned by what the server does".to_owned()
        };
        lines.push(Line::from(vec![label("requests"), Piece::raw(why)]));
        return lines;
    };
    if is_empty {
        lines.push(Line::from(vec![label("requests"), Piece::raw("none")]));
    }
    let counts = &followed.counts;
    let missing = [
        (counts.unfinished, "unfinished"),
        (counts.unanswered, "unanswered"),
        (counts.unparsed, "unparsed"),
        (counts.lost, "lost"),
        (counts.crowded, "crowded out"),
    ];
    let missing = missing.iter().filter(|(count, _)| *count > 0);
    let missing: Vec<_> = missing.map(|(count, what)| format!("{count} {what}")).collect();
    if !missing.is_empty() {
        lines.push(Line::from(vec![label("not in it"), Piece::styled(missing.join(", "), theme.bad)]));
    }
    lines
}
