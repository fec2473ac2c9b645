//! Progress on standard error: one line that rewrites itself on a terminal, plain lines off it.

use std::io::{IsTerminal, Write, stderr};

use record::Window;
use units::{Span, Time};

use crate::recorder::Recent;

const RED: &str = "\x1b[31m";
const RESET: &str = "\x1b[0m";
const CLEAR_LINE: &str = "\r\x1b[2K";

pub(crate) struct Progress {
    terminal: bool,
    colour: bool,
    sessions: bool,
    window: Window,
}

/// What to show of the time since the last line.
pub(crate) struct Glance<'a> {
    pub(crate) now: Time,
    pub(crate) elapsed: Span,
    pub(crate) running: usize,
    pub(crate) recent: &'a Recent,
}

impl Progress {
    /// `sessions`: whether the workload has any.
    pub(crate) fn new(window: Window, sessions: bool) -> Self {
        let terminal = stderr().is_terminal();
        // https://no-color.org: set, and not to nothing.
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { terminal, colour: terminal && !no_colour, sessions, window }
    }

    pub(crate) fn show(&self, glance: &Glance<'_>) {
        let line = self.line(glance);
        // Nobody reads it any more; that is no reason to stop.
        let _ = if self.terminal {
            write!(stderr(), "{CLEAR_LINE}{line}").and_then(|()| stderr().flush())
        } else {
            writeln!(stderr(), "{line}")
        };
    }

    /// Leaves the terminal to what comes next.
    pub(crate) fn clear(&self) {
        if self.terminal {
            let _ = write!(stderr(), "{CLEAR_LINE}");
        }
    }

    fn line(&self, glance: &Glance<'_>) -> String {
        let recent = glance.recent;
        let per_second = |count: u64| count as f64 / glance.elapsed.as_secs_f64().max(1e-9);
        let phase = match (glance.now - glance.elapsed / 2).as_nanos() {
            middle if middle < self.window.from_ns => "warm-up  ",
            middle if middle < self.window.to_ns => "measuring",
            _ => "following",
        };
        let mut line = format!("{:6.1} s  {phase}", glance.now.since(Time::ZERO).as_secs_f64());
        if self.sessions {
            line += &format!(
                "  sessions {:6.1}/s completed {:6.1}/s lost {:5} running ",
                per_second(recent.sessions_completed),
                per_second(recent.sessions_lost),
                glance.running
            );
        }
        line += &format!(
            "  responses {:8.1}/s  p50 {:>7.1}  p99 {:>7.1}",
            per_second(recent.responses),
            Padded(recent.latency.quantile(0.5)),
            Padded(recent.latency.quantile(0.99))
        );
        let errors = format!("  errors {:.1}/s", per_second(recent.errors));
        if recent.errors > 0 && self.colour { line + RED + &errors + RESET } else { line + &errors }
    }
}

/// A span that keeps its column.
struct Padded(Span);

impl std::fmt::Display for Padded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>8}", format!("{:.1}", self.0))
    }
}
