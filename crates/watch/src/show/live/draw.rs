//! [`draw`]: the live view of a [`State`], from top to bottom.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::text::{Line, Span as Piece, Text};
use ratatui::widgets::{Paragraph, Wrap};
use tui::draw_help;
use tui::figures::{clock, number};

use super::state::State;
use super::tab::Tab;
use super::{kernel, network, overhead, processes, requests};
use crate::snapshot::Snapshot;

/// Below this there is only text.
pub(super) const MIN_WIDTH: u16 = 60;
pub(super) const MIN_HEIGHT: u16 = 15;

const HELP: &str = "\
1 to 5, Tab  what is shown
w            requests of the last look, or of all of the time
k            with --keep: writes what is kept
p            hold the picture; the watch goes on
q, Ctrl-C    end the watch; what was seen is kept
h            show or hide this

parse        from when a request could be read to its
             header understood
process      to the last of the response handed to the kernel
log          to when its thread is ready for something else
elapsed      time that passed; cpu: processor time";

/// Draws what `state` holds into any frame.
pub(super) fn draw(frame: &mut Frame<'_>, state: &State) {
    let area = frame.area();
    let Some(snapshot) = state.shown() else {
        let text = format!("{}\n\nthe watch begins", state.setting.title);
        return frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: false }), area);
    };
    if area.width < MIN_WIDTH || area.height < MIN_HEIGHT {
        return small(frame, state, snapshot);
    }
    let [title, tabs, body, footer] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(area);
    draw_title(frame, title, state, snapshot);
    draw_tabs(frame, tabs, state);
    match state.tab {
        Tab::Requests => requests::draw(frame, body, state, snapshot),
        Tab::Kernel => kernel::draw(frame, body, state, snapshot),
        Tab::Processes => processes::draw(frame, body, state, snapshot),
        Tab::Network => network::draw(frame, body, state, snapshot),
        Tab::Overhead => overhead::draw(frame, body, state, snapshot),
    }
    draw_footer(frame, footer, state);
    if state.controls.help {
        draw_help(frame, state.theme, HELP);
    }
}

fn draw_title(frame: &mut Frame<'_>, area: Rect, state: &State, snapshot: &Snapshot) {
    let busy = snapshot.latest.kernel.map_or_else(String::new, |kernel| {
        format!("cpu {:.0} %   ", (1.0 - kernel.cpu_idle - kernel.cpu_io_wait).max(0.0) * 100.0)
    });
    let right = format!("{busy}{}", clock(snapshot.age.as_secs_f64()));
    let width = u16::try_from(right.chars().count()).unwrap_or(u16::MAX);
    let [left, rest] =
        Layout::horizontal([Constraint::Min(0), Constraint::Length(width)]).spacing(1).areas(area);
    frame.render_widget(Line::styled(state.setting.title.as_str(), state.theme.strong), left);
    frame.render_widget(Line::from(right).alignment(Alignment::Right), rest);
}

fn draw_tabs(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let theme = state.theme;
    let tabs = Tab::ALL.iter().zip(1..).flat_map(|(tab, number)| {
        let style = if *tab == state.tab { theme.strong.reversed() } else { theme.label };
        [Piece::styled(format!(" {number} {} ", tab.name()), style), Piece::raw(" ")]
    });
    frame.render_widget(Line::from(tabs.collect::<Vec<_>>()), area);
}

fn draw_footer(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let theme = state.theme;
    let mut keys = vec![Piece::styled("q end   p pause   1-5 tab   w whole   h help", theme.label)];
    if state.controls.paused {
        keys.push(Piece::styled("   paused: the watch goes on", theme.strong));
    }
    if state.controls.ending {
        keys.push(Piece::styled("   ending", theme.strong));
    }
    frame.render_widget(Line::from(keys), area);
}

/// What is most needed, for a terminal that became small.
fn small(frame: &mut Frame<'_>, state: &State, snapshot: &Snapshot) {
    let mut text = Text::from(state.setting.title.clone());
    if let Some(kernel) = &snapshot.latest.kernel {
        text.push_line(format!(
            "user {:.0} % system {:.0} % idle {:.0} %",
            kernel.cpu_user * 100.0,
            kernel.cpu_system * 100.0,
            kernel.cpu_idle * 100.0
        ));
    }
    for (class, rates) in &snapshot.latest.requests {
        text.push_line(format!("{class}: {}/s", number(rates.rate)));
    }
    text.push_line(Line::styled("q end", state.theme.label));
    frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), frame.area());
}
