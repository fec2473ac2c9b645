//! [`draw`]: the live view of a [`State`], from top to bottom.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span as Piece, Text};
use ratatui::widgets::{LineGauge, Paragraph, Wrap};
use tui::figures::{clock, number};
use tui::{draw_help, wrapped};
use units::{Span, Time};

use super::super::plain;
use super::super::snapshot::Stage;
use super::state::{Latest, State};
use super::{chart, counts, table};

/// Below this there is only text.
pub(super) const MIN_WIDTH: u16 = 60;
pub(super) const MIN_HEIGHT: u16 = 15;

/// A narrower terminal does not count the steps of a ramp.
const LEVEL_FROM_WIDTH: u16 = 80;

const HELP: &str = "\
q, Ctrl-C  end the run now; what was measured is kept
p          hold the picture; the run goes on
h          show or hide this

begun      requests sent, of those that the schedule wants
now        since the second before
run        the measuring window so far, as the summary
           at the end will have it";

/// Draws what `state` holds into any frame.
pub(super) fn draw(frame: &mut Frame<'_>, state: &State) {
    let area = frame.area();
    let Some(latest) = state.shown() else {
        let waiting = format!("{}\n{}\n\nthe run begins", state.setting.target, state.setting.load);
        return frame.render_widget(Paragraph::new(waiting).wrap(Wrap { trim: false }), area);
    };
    if area.width < MIN_WIDTH || area.height < MIN_HEIGHT {
        return small(frame, state, latest);
    }
    let lines = counts::lines(state, latest);
    // The chart shrinks to its title first; what does not fit even then is left out.
    let table = table::height(area);
    let spare = area.height.saturating_sub(4 + table);
    let texts = u16::try_from(wrapped(&lines, area.width)).unwrap_or(u16::MAX).min(spare);
    let [title, progress, middle, latency, outcome, footer] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(table),
        Constraint::Length(texts),
        Constraint::Length(1),
    ])
    .areas(area);
    draw_title(frame, title, state);
    draw_progress(frame, progress, state, latest);
    chart::draw(frame, middle, state, latest);
    table::draw(frame, latency, state, latest);
    frame.render_widget(Paragraph::new(Text::from(lines)).wrap(Wrap { trim: false }), outcome);
    draw_footer(frame, footer, state);
    if state.controls.help {
        draw_help(frame, state.theme, HELP);
    }
}

fn draw_title(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let target = Piece::styled(state.setting.target.as_str(), state.theme.strong);
    frame.render_widget(
        Line::from(vec![target, Piece::raw("   "), Piece::raw(state.setting.load.as_str())]),
        area,
    );
}

fn draw_progress(frame: &mut Frame<'_>, area: Rect, state: &State, latest: &Latest) {
    let window = state.setting.window;
    let now = latest.snapshot.now;
    let opens = Span::from_nanos(window.from_ns).as_secs_f64();
    let at = now.since(Time::ZERO).as_secs_f64();
    let length = window.length().as_secs_f64();
    let stage = Stage::at(now, window);
    let (done, label) = match stage {
        Stage::WarmUp => (at / opens, format!("{} left", clock(opens - at))),
        Stage::Measuring => (
            (at - opens) / length,
            format!("{} of {}, {} left", clock(at - opens), clock(length), clock(opens + length - at)),
        ),
        Stage::Following => (1.0, "what began in the window to its end".to_owned()),
    };
    let label = format!("{} {label} ", stage.name());
    let level = latest.snapshot.level.map_or(String::new(), |level| {
        let step = if area.width >= LEVEL_FROM_WIDTH {
            format!("step {} of {}: ", level.number, level.of)
        } else {
            String::new()
        };
        format!("{step}{} {}", number(level.value), level.unit)
    });
    let width = u16::try_from(level.chars().count()).unwrap_or(u16::MAX);
    let [left, right] = Layout::horizontal([Constraint::Min(0), Constraint::Length(width)])
        .spacing(u16::from(width > 0))
        .areas(area);
    let gauge = LineGauge::default()
        .ratio(if done.is_finite() { done.clamp(0.0, 1.0) } else { 1.0 })
        .label(Piece::styled(label, state.theme.strong))
        .filled_symbol("█")
        .unfilled_symbol("░")
        .filled_style(state.theme.line)
        .unfilled_style(state.theme.label);
    frame.render_widget(gauge, left);
    frame.render_widget(Line::from(level), right);
}

fn draw_footer(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let theme = state.theme;
    let mut keys = vec![Piece::styled("q end   p pause   h help", theme.label)];
    if state.controls.paused {
        keys.push(Piece::styled("   paused: the run goes on", theme.strong));
    }
    if state.controls.ending {
        keys.push(Piece::styled("   ending", theme.strong));
    }
    frame.render_widget(Line::from(keys), area);
}

/// What is most needed, for a terminal that became small.
fn small(frame: &mut Frame<'_>, state: &State, latest: &Latest) {
    let mut text = Text::from(plain::line(&state.setting, &latest.snapshot).trim_start().to_owned());
    for why in &latest.snapshot.generator.why_invalid {
        text.push_line(Line::styled(format!("not valid: {why}"), state.theme.bad));
    }
    text.push_line(Line::styled("q end", state.theme.label));
    frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), frame.area());
}
