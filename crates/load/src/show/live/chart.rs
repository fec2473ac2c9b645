//! The rate over time.

use console::figures::{clock, number};
use console::round_up;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span as Piece};
use ratatui::widgets::{Axis, Block, Borders, Chart, Dataset, GraphType};

use super::state::{Latest, State};

/// Below this only its title is shown.
const LEAST_HEIGHT: u16 = 5;

/// Braille cells are two points wide.
const POINTS_PER_COLUMN: usize = 2;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, latest: &Latest) {
    let theme = state.theme;
    let points = state.points(usize::from(area.width) * POINTS_PER_COLUMN);
    let glance = &latest.glance;
    let block = Block::new().borders(Borders::TOP).border_style(theme.label).title(title(state, latest));
    let Some((first, last)) = points.first().zip(points.last()).filter(|_| area.height >= LEAST_HEIGHT)
    else {
        return frame.render_widget(block, area);
    };
    // A single look is a line too, and a run that stands still has a height.
    let begin = first.at.min(last.at - glance.elapsed);
    let seconds = |at: units::Time| at.since(begin).as_secs_f64() - last.at.since(begin).as_secs_f64();
    let series = |read: fn(&super::state::Point) -> f64| -> Vec<(f64, f64)> {
        points.iter().map(|point| (seconds(point.at), read(point))).collect()
    };
    let (responses, errors) = (series(|point| point.responses), series(|point| point.errors));
    let most = responses.iter().chain(&errors).map(|(_, rate)| *rate).fold(1.0, f64::max);
    let top = round_up(most);
    let mut datasets = vec![line(&responses).style(theme.line)];
    if errors.iter().any(|(_, rate)| *rate > 0.0) {
        datasets.push(line(&errors).style(theme.bad));
    }
    let past = last.at.since(begin).as_secs_f64();
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

fn line(data: &[(f64, f64)]) -> Dataset<'_> {
    Dataset::default().marker(Marker::Braille).graph_type(GraphType::Line).data(data)
}

fn title(state: &State, latest: &Latest) -> Line<'static> {
    let (theme, glance) = (state.theme, &latest.glance);
    let recent = &glance.recent;
    let mut pieces = Vec::new();
    let mut say = |style, text: String| pieces.push(Piece::styled(text, style));
    say(theme.strong, format!(" responses {}/s ", number(glance.rate(recent.responses))));
    let errors = recent.errors.total();
    let style = if errors > 0 { theme.bad } else { theme.strong };
    say(style, format!(" errors {}/s ", number(glance.rate(errors))));
    let begun = number(glance.rate(recent.requests));
    let offered = glance.offered.map(|offered| number(offered.as_f64()));
    if state.setting.sessions {
        let offered = offered.map_or(String::new(), |rate| format!("offered {rate}/s, "));
        let (completed, lost) = (glance.rate(recent.sessions_completed), glance.rate(recent.sessions_lost));
        let (completed, lost) = (number(completed), number(lost));
        say(theme.label, format!(" begun {begun}/s "));
        say(theme.label, format!(" sessions {offered}completed {completed}/s, lost {lost}/s "));
    } else {
        let offered = offered.map_or(String::new(), |rate| format!(" of {rate}"));
        say(theme.label, format!(" begun {begun}{offered}/s "));
    }
    say(theme.label, format!(" {}B/s ", number(glance.rate(recent.bytes))));
    say(theme.label, format!(" {} under way ", number(glance.running as f64)));
    Line::from(pieces)
}
