//! The live view on a terminal that is taken over.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use ratatui::Frame;
use tui::{Controls, End, Screen, Theme, View, wants_colour};

use super::super::snapshot::{Setting, Snapshot};
use super::draw::{self, MIN_HEIGHT, MIN_WIDTH};
use super::state::State;

/// The terminal taken over, when there is one that the view fits on and that is ours to take.
pub(in crate::show) fn open() -> Option<Screen> {
    Screen::open(MIN_WIDTH, MIN_HEIGHT)
}

/// Shows what comes until nothing more will; `ask_to_end` is called when the user wants the end.
pub(in crate::show) fn run(
    screen: Screen,
    setting: Setting,
    metrics: Option<SocketAddr>,
    snapshots: &Receiver<Arc<Snapshot>>,
    ask_to_end: impl Fn(),
) -> End {
    let mut state = State::new(setting, metrics, Theme::new(wants_colour()));
    tui::run(screen, &mut state, snapshots, ask_to_end)
}

impl View for State {
    type Snapshot = Arc<Snapshot>;

    fn see(&mut self, snapshot: Arc<Snapshot>) {
        State::see(self, snapshot);
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
