//! Latency and its phases.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Rect};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Cell, Row, Table};
use record::{LatencySummary, Quantiles};
use tui::figures;

use super::super::snapshot::Latencies;
use super::state::{Latest, State};

/// A lower terminal shows the run only, or until there is something of it, the last second.
const BOTH_FROM_HEIGHT: u16 = 24;
/// A narrower terminal does not say which of the two it is, and shows one.
const WHEN_FROM_WIDTH: u16 = 62;
/// A narrower terminal leaves the count out.
const COUNT_FROM_WIDTH: u16 = 80;
const BOTH: u16 = 9;
const ONE: u16 = 5;

pub(super) fn height(terminal: Rect) -> u16 {
    let both = terminal.height >= BOTH_FROM_HEIGHT && terminal.width >= WHEN_FROM_WIDTH;
    if both { BOTH } else { ONE }
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, latest: &Latest) {
    let count = area.width >= COUNT_FROM_WIDTH;
    let titles = ["mean", "p50", "p90", "p99", "p99.9", "max", "count"];
    let columns = if count { titles.len() } else { titles.len() - 1 };
    let mut rows = Vec::new();
    let (recent, whole) = (by_phase(&latest.recent), by_phase(&latest.whole));
    for ((name, recent), whole) in Latencies::NAMES.into_iter().zip(recent).zip(whole) {
        if area.height >= BOTH {
            rows.push(row(state, name, "now", recent, columns));
            rows.push(row(state, "", "run", whole, columns));
        } else if latest.whole.total.count > 0 {
            rows.push(row(state, name, "run", whole, columns));
        } else {
            rows.push(row(state, name, "now", recent, columns));
        }
    }
    let header = ["latency", ""].map(Text::from).into_iter();
    let header = header.chain(titles.into_iter().take(columns).map(right)).map(Cell::from);
    let wide = if count { 8 } else { 7 };
    let when = if area.width >= WHEN_FROM_WIDTH { 3 } else { 0 };
    let widths = [Constraint::Length(10), Constraint::Length(when)];
    let widths = widths.into_iter().chain(std::iter::repeat_n(Constraint::Length(wide), columns));
    let table = Table::new(rows, widths).header(Row::new(header).style(state.theme.label));
    frame.render_widget(table.column_spacing(1), area);
}

fn by_phase(latency: &LatencySummary) -> [&Quantiles; 4] {
    [&latency.total, &latency.connect, &latency.processing, &latency.transfer]
}

fn row(state: &State, name: &'static str, when: &'static str, q: &Quantiles, columns: usize) -> Row<'static> {
    let times = [q.mean, q.p50, q.p90, q.p99, q.p999, q.max].map(|figure| figures::of(q, figure));
    let figures = times.into_iter().chain([figures::number(q.count as f64)]).take(columns).map(right);
    let names = [Text::styled(name, state.theme.strong), Text::styled(when, state.theme.label)];
    Row::new(names.into_iter().chain(figures).map(Cell::from))
}

fn right(text: impl Into<String>) -> Text<'static> {
    Text::from(Line::from(text.into()).alignment(Alignment::Right))
}
