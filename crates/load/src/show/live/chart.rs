//! The rate over time.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span as Piece};
use tui::figures::number;
use tui::{Series, draw_chart, points_in};
use units::Time;

use super::state::{Latest, Point, State};

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, latest: &Latest) {
    let theme = state.theme;
    let points = state.points(points_in(area));
    let (first, last) = (points.first().map_or(Time::ZERO, |point| point.at), latest.snapshot.now);
    // A single snapshot is a line too, and a run that stands still has a height.
    let begin = first.min(last - latest.snapshot.elapsed);
    let seconds = |at: Time| at.since(begin).as_secs_f64() - last.since(begin).as_secs_f64();
    let series = |style, read: fn(&Point) -> f64| -> Series {
        (style, points.iter().map(|point| (seconds(point.at), read(point))).collect())
    };
    let mut lines = vec![series(theme.line, |point| point.responses)];
    if points.iter().any(|point| point.errors > 0.0) {
        lines.push(series(theme.bad, |point| point.errors));
    }
    let past = last.since(begin).as_secs_f64();
    draw_chart(frame, area, theme, title(state, latest), &lines, past, 1.0);
}

fn title(state: &State, latest: &Latest) -> Line<'static> {
    let (theme, snapshot) = (state.theme, &latest.snapshot);
    let recent = &snapshot.recent;
    let mut pieces = Vec::new();
    let mut say = |style, text: String| pieces.push(Piece::styled(text, style));
    say(theme.strong, format!(" responses {}/s ", number(snapshot.rate(recent.responses))));
    let errors = recent.errors.total();
    let style = if errors > 0 { theme.bad } else { theme.strong };
    say(style, format!(" errors {}/s ", number(snapshot.rate(errors))));
    let begun = number(snapshot.rate(recent.requests));
    let offered = snapshot.offered.map(|offered| number(offered.as_f64()));
    if state.setting.sessions {
        let offered = offered.map_or(String::new(), |rate| format!("offered {rate}/s, "));
        let (completed, lost) =
            (snapshot.rate(recent.sessions_completed), snapshot.rate(recent.sessions_lost));
        let (completed, lost) = (number(completed), number(lost));
        say(theme.label, format!(" begun {begun}/s "));
        say(theme.label, format!(" sessions {offered}completed {completed}/s, lost {lost}/s "));
    } else {
        let offered = offered.map_or(String::new(), |rate| format!(" of {rate}"));
        say(theme.label, format!(" begun {begun}{offered}/s "));
    }
    say(theme.label, format!(" {}B/s ", number(snapshot.rate(recent.bytes))));
    say(theme.label, format!(" {} under way ", number(snapshot.running as f64)));
    Line::from(pieces)
}
