//! The kernel as a whole: the paper's table 7.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span as Piece};
use ratatui::widgets::Paragraph;
use tui::figures::number;

use super::body::{chart, table};
use super::state::State;
use crate::kernel::Rates;
use crate::snapshot::Snapshot;

/// A figure's name, and how it is read.
type Figure = (&'static str, fn(&Rates) -> f64);

/// In percent of all processors.
const SHARES: [Figure; 8] = [
    ("user %", |k| k.cpu_user * 100.0),
    ("system %", |k| k.cpu_system * 100.0),
    ("interrupt %", |k| k.cpu_interrupt * 100.0),
    ("soft interrupt %", |k| k.cpu_soft_interrupt * 100.0),
    ("stolen %", |k| k.cpu_stolen * 100.0),
    ("i/o wait %", |k| k.cpu_io_wait * 100.0),
    ("idle %", |k| k.cpu_idle * 100.0),
    ("run queue", |k| f64::from(k.run_queue)),
];

/// Per second.
const RATES: [Figure; 11] = [
    ("context switches", |k| k.context_switches),
    ("interrupts", |k| k.interrupts),
    ("of the network", |k| k.network_interrupts),
    ("of disks", |k| k.disk_interrupts),
    ("reads", |k| k.reads),
    ("blocks read", |k| k.blocks_read),
    ("writes", |k| k.writes),
    ("blocks written", |k| k.blocks_written),
    ("KiB paged in", |k| k.paged_in),
    ("KiB paged out", |k| k.paged_out),
    ("major faults", |k| k.major_faults),
];

/// Looks over which means and maxima are taken.
const MAX_LOOKS: usize = 1000;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, snapshot: &Snapshot) {
    let Some(kernel) = &snapshot.latest.kernel else {
        return frame.render_widget(Paragraph::new("not looked at"), area);
    };
    let height = RATES.len() as u16 + 1;
    let [picture, tables] = Layout::vertical([Constraint::Min(1), Constraint::Length(height)]).areas(area);
    let busy = |snapshot: &Snapshot| {
        let kernel = snapshot.latest.kernel.as_ref()?;
        Some((1.0 - kernel.cpu_idle - kernel.cpu_io_wait).max(0.0) * 100.0)
    };
    let title = Line::from(vec![
        Piece::styled(
            format!(" processors busy {} % ", number(busy(snapshot).unwrap_or(0.0))),
            state.theme.strong,
        ),
        Piece::styled(format!(" {} tasks run or wait ", kernel.run_queue), state.theme.label),
    ]);
    chart(frame, picture, state, title, &[(state.theme.line, &busy)], 100.0);
    let [left, right] = Layout::horizontal([Constraint::Fill(1); 2]).spacing(2).areas(tables);
    figures(frame, left, state, kernel, "of all processors", &SHARES);
    figures(frame, right, state, kernel, "per second", &RATES);
}

fn figures(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &State,
    now: &Rates,
    name: &'static str,
    figures: &[Figure],
) {
    let looks = state.looks(MAX_LOOKS);
    let looks: Vec<&Rates> = looks.iter().filter_map(|look| look.latest.kernel.as_ref()).collect();
    let rows = figures.iter().map(|(name, read)| {
        let values = looks.iter().map(|rates| read(rates));
        let mean = stats::mean(values.clone()).unwrap_or(0.0);
        let figures = [read(now), mean, values.fold(0.0, f64::max)].map(rounded);
        (Line::from(*name), figures.to_vec())
    });
    table(frame, area, state.theme, (name, 17), (&["now", "mean", "max"], 6), rows.collect());
}

/// Shares and rates are not known to a thousandth.
fn rounded(value: f64) -> String {
    number((value * 10.0).round() / 10.0)
}
