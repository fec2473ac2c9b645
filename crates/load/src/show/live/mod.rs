//! The live view: a picture of the run on the whole terminal, and keys to act on it.

mod chart;
mod counts;
mod draw;
mod state;
mod table;
mod terminal;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use self::draw::{LEAST_HEIGHT, LEAST_WIDTH};
use self::state::State;
pub(super) use self::terminal::Screen;
use super::glance::{Glance, Setting};
use super::theme::{Theme, wants_colour};

/// How long a key, or the end of the run, waits at most until it is seen.
const TURN: Duration = Duration::from_millis(50);

/// Why the view ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Whoever made the looks closed the view.
    Closed,
    /// The terminal cannot be written to, or somebody else restored it.
    TerminalLost,
}

/// The terminal taken over, when there is one that the view fits on and that is ours to take.
pub(super) fn open() -> Option<Screen> {
    Screen::open(LEAST_WIDTH, LEAST_HEIGHT)
}

/// Shows what comes until nothing more will; `ask_to_end` is called when the user wants the end.
pub(super) fn run(
    mut screen: Screen,
    setting: Setting,
    metrics: Option<SocketAddr>,
    looks: &Receiver<Arc<Glance>>,
    ask_to_end: impl Fn(),
) -> End {
    let mut state = State::new(setting, metrics, Theme::new(wants_colour()));
    let mut changed = true;
    loop {
        if changed && screen.draw(|frame| draw::draw(frame, &state)).is_err() {
            return End::TerminalLost;
        }
        changed = match wait_for_event() {
            Some(Event::Key(key)) => act(key, &mut state, &mut screen, &ask_to_end),
            Some(Event::Resize(..)) => true,
            Some(_) | None => false,
        };
        loop {
            match looks.try_recv() {
                Ok(glance) => state.see(glance),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return End::Closed,
            }
            changed = true;
        }
    }
}

fn wait_for_event() -> Option<Event> {
    match event::poll(TURN) {
        Ok(true) => event::read().ok(),
        Ok(false) => None,
        Err(_) => {
            // Without keys the view goes on; it must not spin.
            std::thread::sleep(TURN);
            None
        }
    }
}

/// Does what a key asks for; whether the picture changes.
fn act(key: KeyEvent, state: &mut State, screen: &mut Screen, ask_to_end: &impl Fn()) -> bool {
    if key.kind != KeyEventKind::Press {
        return false;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        // Raw mode swallows the signal that Ctrl-C usually is.
        KeyCode::Char('c') if control => end(state, ask_to_end),
        KeyCode::Char('l') if control => screen.forget(),
        KeyCode::Char('q' | 'Q') => end(state, ask_to_end),
        KeyCode::Char('p' | ' ') => state.toggle_pause(),
        KeyCode::Char('h' | '?') | KeyCode::F(1) => state.help = !state.help,
        KeyCode::Esc if state.help => state.help = false,
        _ => return false,
    }
    true
}

fn end(state: &mut State, ask_to_end: &impl Fn()) {
    state.ending = true;
    ask_to_end();
}
