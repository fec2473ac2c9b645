//! [`draw_chart`]: figures over the last while, up to now.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::{Axis, Block, Borders, Chart, Dataset, GraphType};

use crate::Theme;
use crate::figures::{clock, number};
use crate::scale::round_up;

/// Below this only its title is shown.
const MIN_HEIGHT: u16 = 5;

/// Braille cells are two points wide.
const POINTS_PER_COLUMN: usize = 2;

/// How many points of a line there is room for.
pub fn points_in(area: Rect) -> usize {
    usize::from(area.width) * POINTS_PER_COLUMN
}

/// A line: its style, and points at so many seconds, none of them after 0, which is now.
pub type Series = (Style, Vec<(f64, f64)>);

/// Draws lines over the last `past` seconds, with a border and `title` above them: only that where there is
/// nothing, or no room. The scale begins at 0 and ends at a round number, at least at `least`.
pub fn draw_chart(
    frame: &mut Frame<'_>,
    area: Rect,
    theme: Theme,
    title: Line<'_>,
    series: &[Series],
    past: f64,
    least: f64,
) {
    let block = Block::new().borders(Borders::TOP).border_style(theme.label).title(title);
    let values = series.iter().flat_map(|(_, points)| points).map(|(_, value)| *value);
    if area.height < MIN_HEIGHT || values.clone().next().is_none() {
        return frame.render_widget(block, area);
    }
    let top = round_up(values.fold(least, f64::max));
    let line = |(style, points)| {
        let line = Dataset::default().marker(Marker::Braille).graph_type(GraphType::Line);
        line.style(style).data(points)
    };
    let datasets = series.iter().map(|(style, points)| line((*style, points.as_slice()))).collect();
    let chart = Chart::new(datasets)
        .block(block)
        .x_axis(
            Axis::default()
                .style(theme.label)
                .bounds([-past, 0.0])
                .labels([format!("{} ago", clock(past)), "now".to_owned()]),
        )
        .y_axis(
            Axis::default().style(theme.label).bounds([0.0, top]).labels([0.0, top / 2.0, top].map(number)),
        );
    frame.render_widget(chart, area);
}
