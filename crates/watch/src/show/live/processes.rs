//! What the programs' processes use: the paper's table 8.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span as Piece};
use tui::figures::number;

use super::body::{chart, table};
use super::state::State;
use crate::snapshot::Snapshot;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, snapshot: &Snapshot) {
    let processes = &snapshot.latest.processes;
    let height = u16::try_from(processes.len()).unwrap_or(u16::MAX).saturating_add(2);
    let [picture, below] = Layout::vertical([Constraint::Min(1), Constraint::Length(height)]).areas(area);
    let cpu = |snapshot: &Snapshot| {
        let processes = &snapshot.latest.processes;
        (!processes.is_empty()).then(|| processes.values().map(|used| used.cpu * 100.0).sum())
    };
    let now = cpu(snapshot).map_or("-".to_owned(), number);
    let title = Line::from(vec![
        Piece::styled(format!(" programs {now} % "), state.theme.strong),
        Piece::styled(" of a processor, all together ", state.theme.label),
    ]);
    chart(frame, picture, state, title, &[(state.theme.line, &cpu)], 1.0);
    let titles = ["cpu %", "MiB", "processes", "threads", "running", "faults/s"];
    let rows = processes.iter().map(|(name, used)| {
        let figures = vec![
            number((used.cpu * 1000.0).round() / 10.0),
            number((used.memory as f64 / 1_048_576.0 * 10.0).round() / 10.0),
            used.processes.to_string(),
            used.threads.to_string(),
            used.running.to_string(),
            number(used.major_faults),
        ];
        (Line::styled(name.clone(), state.theme.strong), figures)
    });
    table(frame, below, state.theme, ("program", 16), (&titles, 9), rows.collect());
}
