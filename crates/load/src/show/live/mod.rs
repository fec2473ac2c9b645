//! The live view: a picture of the run on the whole terminal, and keys to act on it.

mod chart;
mod counts;
mod draw;
mod state;
mod table;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use ratatui::Frame;
use tui::{Controls, End, Screen, Theme, View, wants_colour};

use self::draw::{MIN_HEIGHT, MIN_WIDTH};
use self::state::State;
use super::snapshot::{Setting, Snapshot};

/// The terminal taken over, when there is one that the view fits on and that is ours to take.
pub(super) fn open() -> Option<Screen> {
    Screen::open(MIN_WIDTH, MIN_HEIGHT)
}

/// Shows what comes until nothing more will; `ask_to_end` is called when the user wants the end.
pub(super) fn run(
    screen: Screen,
    setting: Setting,
    metrics: Option<SocketAddr>,
    looks: &Receiver<Arc<Snapshot>>,
    ask_to_end: impl Fn(),
) -> End {
    let mut state = State::new(setting, metrics, Theme::new(wants_colour()));
    tui::run(screen, &mut state, looks, ask_to_end)
}

impl View for State {
    type Look = Arc<Snapshot>;

    fn see(&mut self, look: Arc<Snapshot>) {
        State::see(self, look);
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        draw::draw(frame, self);
    }

    fn controls(&mut self) -> &mut Controls {
        &mut self.controls
    }

    fn toggle_pause(&mut self) {
        State::toggle_pause(self);
    }
}
