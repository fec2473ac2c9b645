//! [`draw`]: the screen of a [`Model`], from top to bottom.

use std::time::Instant;

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};
use tui::draw_help;
use tui::figures::clock;

use super::hints::hints;
use super::model::{Model, Page};
use super::{lists, overview};
use crate::figures::gate;

const HELP: &str = "\
d, f     choose differentiation or favour
arrows   move what is chosen
Enter    apply, Esc discard, u undo
g        let the gate suggest both
s        shadow mode: on, off (y/n)
x        drain: begin, end (y/n)
w        who waits; / searches
c        what operators changed
q        end; Ctrl-L draws anew

offered     requests that came
waits for   in the gate, before a server
95 % within so long took 95 % of the responses
            of the last ten seconds (p95)
lost        sessions that were refused, or
            given up by their users
window      requests inside servers
capacity    what the servers could do
lately      the last five seconds";

/// Rows of a question on the narrowest terminal.
const MAX_BELOW: u16 = 7;

/// Draws what is known into a frame of any size.
pub(super) fn draw(frame: &mut Frame<'_>, model: &Model, now: Instant) {
    let below = below(model, now);
    let below_rows = u16::try_from(tui::wrapped(&below, frame.area().width)).unwrap_or(1).min(MAX_BELOW);
    let below_rows = if below.is_empty() { 0 } else { below_rows.max(1) };
    let [title, body, told, footer] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(below_rows),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    draw_title(frame, title, model);
    match model.page {
        Page::Overview => overview::draw(frame, body, model, now),
        Page::Queue => lists::queue(frame, body, model),
        Page::Changes => lists::changes(frame, body, model),
    }
    frame.render_widget(Paragraph::new(below).wrap(Wrap { trim: true }), told);
    frame.render_widget(Line::styled(hints(model, footer.width), model.theme.label), footer);
    if model.help {
        draw_help(frame, model.theme, HELP);
    }
}

fn draw_title(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let state = &model.state;
    let mut right = vec![];
    if state.is_shadow() {
        right.push("SHADOW");
    }
    if state.draining {
        right.push("DRAINING");
    }
    if model.is_barred().is_some() && model.lost.is_none() {
        right.push("read-only");
    }
    let right = right.join(" ");
    let width = u16::try_from(right.len()).unwrap_or(u16::MAX);
    let [left, rest] =
        Layout::horizontal([Constraint::Min(0), Constraint::Length(width)]).spacing(1).areas(area);
    let title = vec![
        Span::styled(model.place.as_str(), model.theme.strong),
        Span::styled(format!("  {}", gate(state)), model.theme.label),
    ];
    frame.render_widget(Line::from(title), left);
    frame.render_widget(Line::styled(right, model.theme.bad).alignment(Alignment::Right), rest);
}

/// What the user is asked or told: a question, that the gate is gone, what came of an order.
fn below(model: &Model, now: Instant) -> Vec<Line<'_>> {
    let theme = model.theme;
    let mut lines = Vec::new();
    if let Some((since, why)) = &model.lost {
        let gone = clock(now.saturating_duration_since(*since).as_secs_f64());
        lines.push(Line::styled(format!("Lost for {gone}, and tried again: {why}"), theme.bad));
    }
    if let Some(why) = model.polling.as_ref().filter(|_| model.lost.is_none()) {
        lines.push(Line::styled(
            format!("The gate is asked every 2 s, as it tells no events: {why}"),
            theme.label,
        ));
    }
    if let Some(question) = &model.question {
        lines.push(Line::styled(format!("{} y/n", question.text), theme.strong));
    } else if let Some(note) = &model.note {
        lines.push(Line::styled(note.text.as_str(), if note.is_bad { theme.bad } else { theme.good }));
    }
    lines
}
