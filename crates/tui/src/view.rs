//! [`run`]: looks and keys, turn by turn.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::Screen;

/// How long a key, or the end of the run, waits at most until it is seen.
const TURN: Duration = Duration::from_millis(50);

/// What a tool draws, and what it keeps of the looks it is given.
pub trait View {
    /// One look at the run.
    type Snapshot;

    /// Takes a look; while the view is paused it is not shown.
    fn see(&mut self, look: Self::Snapshot);

    /// Draws what is to be shown into a frame of any size.
    fn draw(&self, frame: &mut Frame<'_>);

    /// What the keys that all views have were used for.
    fn controls(&mut self) -> &mut Controls;

    /// The user holds the picture, or lets it go: turns [`Controls::paused`].
    fn toggle_pause(&mut self);

    /// Does what a key of this view alone asks for; whether the picture changes.
    fn press(&mut self, key: KeyCode) -> bool {
        let _ = key;
        false
    }
}

/// What the keys that all views have were used for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Controls {
    /// Whether the picture is held while the run goes on.
    pub paused: bool,
    /// Whether keys and words are explained.
    pub help: bool,
    /// Whether the user asked for the end.
    pub ending: bool,
}

/// Why the view ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The sender of the looks closed the view.
    Closed,
    /// The terminal cannot be written to, or somebody else restored it.
    TerminalLost,
}

/// Shows what comes until nothing more will; `ask_to_end` is called when the user wants the end.
pub fn run<V: View>(
    mut screen: Screen,
    view: &mut V,
    looks: &Receiver<V::Snapshot>,
    ask_to_end: impl Fn(),
) -> End {
    let mut changed = true;
    loop {
        if changed && screen.draw(|frame| view.draw(frame)).is_err() {
            return End::TerminalLost;
        }
        changed = match wait_for_event() {
            Some(Event::Key(key)) => act(key, view, &mut screen, &ask_to_end),
            Some(Event::Resize(..)) => true,
            Some(_) | None => false,
        };
        loop {
            match looks.try_recv() {
                Ok(look) => view.see(look),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return End::Closed,
            }
            changed = true;
        }
    }
}

/// The next event of the terminal, if one comes soon: what is shown is not to wait for it.
pub fn wait_for_event() -> Option<Event> {
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
fn act(key: KeyEvent, view: &mut impl View, screen: &mut Screen, ask_to_end: &impl Fn()) -> bool {
    if key.kind != KeyEventKind::Press {
        return false;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let controls = view.controls();
    match key.code {
        // Raw mode swallows the signal that Ctrl-C usually is.
        KeyCode::Char('c') if control => end(controls, ask_to_end),
        KeyCode::Char('l') if control => screen.forget(),
        KeyCode::Char('q' | 'Q') => end(controls, ask_to_end),
        KeyCode::Char('p' | ' ') => view.toggle_pause(),
        KeyCode::Char('h' | '?') | KeyCode::F(1) => controls.help = !controls.help,
        KeyCode::Esc if controls.help => controls.help = false,
        key => return view.press(key),
    }
    true
}

fn end(controls: &mut Controls, ask_to_end: &impl Fn()) {
    controls.ending = true;
    ask_to_end();
}
