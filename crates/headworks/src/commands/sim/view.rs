//! [`View`]: how far a long computation is.

use std::io::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is done sooner needs no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where no terminal shows a bar, a line so often.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// A bar with the time left on a terminal, a line now and then elsewhere.
pub(super) struct View {
    bar: ProgressBar,
    /// What is counted.
    what: &'static str,
    lines: bool,
    /// When progress is told next; a bar, at any time from then on.
    next: Mutex<Instant>,
}

impl View {
    /// Shows nothing when `quiet`.
    pub(super) fn new(what: &'static str, quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg}, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        bar.set_message(what);
        Self { lines: !quiet && bar.is_hidden(), what, bar, next: Mutex::new(Instant::now() + PATIENCE) }
    }

    /// The bar, for code that has to take it away.
    pub(super) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// So many are done, of `all`.
    pub(super) fn tell(&self, done: usize, all: usize) {
        let Ok(mut next) = self.next.lock() else { return };
        if Instant::now() < *next {
            return;
        }
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        if self.lines && done > 0 {
            *next = Instant::now() + LINE_EVERY;
            // The simulation goes on where the reader of its output has left.
            let _ = writeln!(
                std::io::stderr(),
                "{done}/{all} {}, {:.0} s left",
                self.what,
                self.bar.eta().as_secs_f64()
            );
        }
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
