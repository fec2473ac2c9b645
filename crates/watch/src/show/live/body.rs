//! What tabs are made of: a chart over the last while, and tables of figures.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Cell, Row, Table};
use tui::{Theme, draw_chart, points_in};
use units::Span;

use super::state::State;
use crate::snapshot::Snapshot;

/// A line of a chart: its style and what it reads from a look; points that it cannot read are left out.
pub(super) type Curve<'a> = (Style, &'a dyn Fn(&Snapshot) -> Option<f64>);

/// Draws curves over the looks that are remembered.
pub(super) fn chart(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &State,
    title: Line<'_>,
    curves: &[Curve<'_>],
    least: f64,
) {
    let looks = state.looks(points_in(area));
    let now = looks.last().map_or(Span::ZERO, |look| look.age);
    let first = looks.first().map_or(Span::ZERO, |look| look.age);
    let seconds = |look: &Snapshot| -now.saturating_sub(look.age).as_secs_f64();
    let series: Vec<_> = curves
        .iter()
        .map(|(style, read)| {
            let points = looks.iter().filter_map(|look| Some((seconds(look), read(look)?)));
            (*style, points.collect())
        })
        .collect();
    // A single look has a width, too.
    let past = now.saturating_sub(first).as_secs_f64().max(1.0);
    draw_chart(frame, area, state.theme, title, &series, past, least);
}

/// Draws rows of a name and figures below their titles, `wide` columns each; what does not fit is left out,
/// from the right and from below.
pub(super) fn table(
    frame: &mut Frame<'_>,
    area: Rect,
    theme: Theme,
    (name, name_width): (&str, u16),
    (titles, wide): (&[&str], u16),
    rows: Vec<(Line<'static>, Vec<String>)>,
) {
    let room = usize::from(area.width.saturating_sub(name_width) / (wide + 1));
    let columns = titles.len().min(room);
    let header = std::iter::once(Text::from(name.to_owned())).chain(titles.iter().take(columns).map(right));
    let header = Row::new(header.map(Cell::from)).style(theme.label);
    let rows = rows.into_iter().map(|(name, figures)| {
        let figures = figures.into_iter().take(columns).map(right);
        Row::new(std::iter::once(Text::from(name)).chain(figures).map(Cell::from))
    });
    let widths = std::iter::once(Constraint::Length(name_width))
        .chain(std::iter::repeat_n(Constraint::Length(wide), columns));
    frame.render_widget(Table::new(rows, widths).header(header).column_spacing(1), area);
}

fn right(text: impl ToString) -> Text<'static> {
    Text::from(Line::from(text.to_string()).alignment(Alignment::Right))
}
