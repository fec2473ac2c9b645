//! Connections by state (the paper's table 10), listen queues, and interfaces.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span as Piece};
use tui::figures::number;

use super::body::{chart, table};
use super::state::State;
use crate::snapshot::Snapshot;

/// Looks over which maxima are taken.
const MAX_LOOKS: usize = 1000;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, snapshot: &Snapshot) {
    let latest = &snapshot.latest;
    let busy = latest.network.values().filter(|rates| rates.received_packets + rates.sent_packets > 0.0);
    let upper = latest.connections.len().max(latest.listen_queues.len()) + 2;
    let heights = [upper, busy.count() + 1].map(|rows| u16::try_from(rows).unwrap_or(u16::MAX));
    let [picture, middle, below] = Layout::vertical([
        Constraint::Min(1),
        Constraint::Length(heights[0]),
        Constraint::Length(heights[1]),
    ])
    .areas(area);
    let established =
        |snapshot: &Snapshot| snapshot.latest.connections.get("ESTAB").map(|count| *count as f64);
    let waiting = |snapshot: &Snapshot| {
        let queues = &snapshot.latest.listen_queues;
        let waiting = queues.values().map(|queue| queue.waiting as f64).sum();
        (!queues.is_empty()).then_some(waiting)
    };
    let figure = |count: Option<f64>| number(count.unwrap_or(0.0));
    let title = Line::from(vec![
        Piece::styled(format!(" established {} ", figure(established(snapshot))), state.theme.line),
        Piece::styled(format!(" wait to be accepted {} ", figure(waiting(snapshot))), state.theme.bad),
    ]);
    let curves: [super::body::Curve<'_>; 2] = [(state.theme.line, &established), (state.theme.bad, &waiting)];
    chart(frame, picture, state, title, &curves, 1.0);
    let [left, right] = Layout::horizontal([Constraint::Fill(1); 2]).spacing(2).areas(middle);
    states(frame, left, state, snapshot);
    queues(frame, right, state, snapshot);
    interfaces(frame, below, state, snapshot);
}

fn states(frame: &mut Frame<'_>, area: Rect, state: &State, snapshot: &Snapshot) {
    let looks = state.looks(MAX_LOOKS);
    let rows = snapshot.latest.connections.iter().map(|(name, count)| {
        let most = looks.iter().filter_map(|look| look.latest.connections.get(name)).max();
        let figures = vec![number(*count as f64), number(*most.unwrap_or(count) as f64)];
        (Line::from(name.clone()), figures)
    });
    table(frame, area, state.theme, ("connections", 12), (&["now", "max"], 7), rows.collect());
}

fn queues(frame: &mut Frame<'_>, area: Rect, state: &State, snapshot: &Snapshot) {
    let rows = snapshot.latest.listen_queues.iter().map(|(port, queue)| {
        let known = |count: Option<f64>| count.map_or("-".to_owned(), number);
        let figures =
            vec![number(queue.waiting as f64), known(queue.room.map(|room| room as f64)), known(queue.drops)];
        let style = match queue.drops {
            Some(drops) if drops > 0.0 => state.theme.bad,
            _ => state.theme.strong,
        };
        (Line::styled(format!("port {port}"), style), figures)
    });
    table(frame, area, state.theme, ("listen queue", 12), (&["waiting", "of", "drops/s"], 7), rows.collect());
}

fn interfaces(frame: &mut Frame<'_>, area: Rect, state: &State, snapshot: &Snapshot) {
    let busy = snapshot.latest.network.iter();
    let busy = busy.filter(|(_, rates)| rates.received_packets + rates.sent_packets > 0.0);
    let rows = busy.map(|(name, rates)| {
        let figures = [
            rates.received_bytes * 8e-6,
            rates.received_packets,
            rates.received_errors + rates.received_drops,
            rates.sent_bytes * 8e-6,
            rates.sent_packets,
            rates.sent_errors + rates.sent_drops,
        ];
        (Line::styled(name.clone(), state.theme.strong), figures.map(number).to_vec())
    });
    let titles = ["Mbit/s in", "packets", "lost", "Mbit/s out", "packets", "lost"];
    table(frame, area, state.theme, ("interface", 12), (&titles, 10), rows.collect());
}
