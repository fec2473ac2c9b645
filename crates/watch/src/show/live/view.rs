//! The live view on the terminal, from when it is taken over until it is given back.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use rustix::process::{Signal, getpid, kill_process};
use tui::{Controls, End, Screen, Theme, View, wants_colour};

use super::draw::{MIN_HEIGHT, MIN_WIDTH, draw};
use super::state::State;
use super::tab::Tab;
use crate::snapshot::{Setting, Snapshot};

/// The terminal taken over, when there is one that the view fits on and that is ours to take.
pub(in crate::show) fn open() -> Option<Screen> {
    Screen::open(MIN_WIDTH, MIN_HEIGHT)
}

/// Shows what comes until nothing more will; `ask_to_end` is called when the user wants the end.
pub(in crate::show) fn run(
    screen: Screen,
    setting: Setting,
    looks: &Receiver<Arc<Snapshot>>,
    ask_to_end: impl Fn(),
) -> End {
    let mut state = State::new(setting, Theme::new(wants_colour()));
    tui::run(screen, &mut state, looks, ask_to_end)
}

impl View for State {
    type Snapshot = Arc<Snapshot>;

    fn see(&mut self, look: Arc<Snapshot>) {
        State::see(self, look);
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        draw(frame, self);
    }

    fn controls(&mut self) -> &mut Controls {
        &mut self.controls
    }

    fn toggle_pause(&mut self) {
        State::toggle_pause(self);
    }

    fn press(&mut self, key: KeyCode) -> bool {
        match key {
            KeyCode::Char('w') => self.whole = !self.whole,
            // As anybody else may ask.
            KeyCode::Char('k') if self.setting.keeps => {
                let _ = kill_process(getpid(), Signal::USR1);
            }
            KeyCode::Tab | KeyCode::Right => self.tab = self.tab.next(),
            KeyCode::BackTab | KeyCode::Left => self.tab = self.tab.previous(),
            KeyCode::Char(digit) => match Tab::of(digit) {
                Some(tab) => self.tab = tab,
                None => return false,
            },
            _ => return false,
        }
        true
    }
}
