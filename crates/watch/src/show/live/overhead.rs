//! What watching costs, and how it is done.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span as Piece, Text};
use ratatui::widgets::{Paragraph, Wrap};
use tui::figures::{number, of};

use super::state::State;
use crate::snapshot::Snapshot;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, snapshot: &Snapshot) {
    let (theme, setting, overhead) = (state.theme, &state.setting, &snapshot.overhead);
    let line = |name: &str, text: String| {
        Line::from(vec![Piece::styled(format!("{name:<14}"), theme.label), Piece::raw(text)])
    };
    let cost = &overhead.sample_cost;
    let mut lines = vec![
        line("cpu", format!("{:.2} % of a processor, programs in the kernel included", overhead.cpu * 100.0)),
        line(
            "a look",
            format!(
                "{} in the mean, p99 {}, of {}",
                of(cost, cost.mean),
                of(cost, cost.p99),
                number(cost.count as f64)
            ),
        ),
    ];
    if !setting.budget.is_empty() {
        lines.push(line("budget", setting.budget.clone()));
        lines.push(line("followed", followed(snapshot)));
    }
    if let Some(address) = setting.metrics {
        lines.push(line("Prometheus", format!("http://{address}/metrics")));
    }
    if let Some(collector) = &setting.collector {
        lines.push(line("OpenTelemetry", collector.clone()));
    }
    lines.extend(snapshot.untold.iter().map(|why| Line::styled(format!("  {why}"), theme.bad)));
    lines.push(Line::default());
    lines.extend(snapshot.notes.iter().map(|note| Line::from(note.clone())));
    frame.render_widget(Paragraph::new(Text::from(lines)).wrap(Wrap { trim: false }), area);
}

/// How much of the requests is seen.
fn followed(snapshot: &Snapshot) -> String {
    let count: u64 = snapshot.requests.values().map(|rates| rates.count).sum();
    let share = snapshot.overhead.duty * 100.0;
    format!("{} requests, in {} % of the time", number(count as f64), number((share * 100.0).round() / 100.0))
}
