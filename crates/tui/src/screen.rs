//! [`Screen`]: the terminal while it is ours, and given back whatever happens.

use std::io::{self, BufWriter, IsTerminal, Stderr, stderr};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use ratatui::layout::{Position, Rect};
use ratatui::{Frame, Terminal};
use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;

use crate::theme::is_dumb;

/// Whether the terminal is in the state that only we can live with.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal of standard error, in raw mode and on its alternate screen.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stderr>>>,
}

impl Screen {
    /// Takes the terminal over; `None` when there is no terminal, it is smaller than this, or it is not
    /// ours to take.
    pub fn open(least_width: u16, least_height: u16) -> Option<Self> {
        let (width, height) = is_ours().then(size)?.ok()?;
        if width < least_width || height < least_height {
            return None;
        }
        Self::take().inspect_err(|_| restore()).ok()
    }

    fn take() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                // What a panic has to say is lost on the alternate screen.
                restore();
                before(info);
            }));
        });
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::Release);
        execute!(stderr(), EnterAlternateScreen)?;
        Ok(Self { terminal: Terminal::new(CrosstermBackend::new(BufWriter::new(stderr())))? })
    }

    /// Draws one picture.
    pub fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if !TAKEN.load(Ordering::Acquire) {
            return Err(io::Error::other("the terminal was restored"));
        }
        self.terminal.draw(picture).map(drop)
    }

    /// Draws everything next time, because somebody else wrote on the screen.
    pub fn forget(&mut self) {
        // Terminal::clear asks the terminal where its cursor is, and not every terminal answers.
        let _ =
            self.terminal.size().and_then(|size| self.terminal.resize(Rect::from((Position::ORIGIN, size))));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// A program in the background is stopped when it changes the terminal, and one whose keys go to
/// somebody else could not be ended.
fn is_ours() -> bool {
    stderr().is_terminal() && !is_dumb() && tcgetpgrp(stderr()).is_ok_and(|group| group == getpgrp())
}

/// Gives the terminal back, once.
fn restore() {
    if TAKEN.swap(false, Ordering::AcqRel) {
        // There is nothing to be done when it is gone.
        let _ = execute!(stderr(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}
