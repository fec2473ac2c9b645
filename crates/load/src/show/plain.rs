//! A run in lines: one that rewrites itself on a terminal, one after the other off it.

use std::io::{IsTerminal, Write, stderr};

use tui::{figures, is_dumb, wants_colour};

use super::snapshot::{Setting, Snapshot};

const RED: &str = "\x1b[31m";
const RESET: &str = "\x1b[0m";
const CLEAR_LINE: &str = "\r\x1b[2K";

/// Lines on standard error.
#[derive(Debug)]
pub(super) struct Lines {
    terminal: bool,
    colour: bool,
}

impl Lines {
    pub(super) fn new() -> Self {
        let terminal = stderr().is_terminal() && !is_dumb();
        Self { terminal, colour: terminal && wants_colour() }
    }

    /// Says something that stays.
    pub(super) fn say(&self, text: &str) {
        let _ = writeln!(stderr(), "{text}");
    }

    pub(super) fn show(&self, setting: &Setting, snapshot: &Snapshot) {
        let mut text = line(setting, snapshot);
        if self.colour && snapshot.recent.errors.total() > 0 {
            text = format!("{RED}{text}{RESET}");
        }
        // A terminal that is no longer read does not stop the run.
        let _ = if self.terminal {
            write!(stderr(), "{CLEAR_LINE}{text}").and_then(|()| stderr().flush())
        } else {
            writeln!(stderr(), "{text}")
        };
    }

    /// Leaves the terminal to what comes next.
    pub(super) fn clear(&self) {
        if self.terminal {
            let _ = write!(stderr(), "{CLEAR_LINE}");
        }
    }
}

/// A snapshot in one line.
pub(super) fn line(setting: &Setting, snapshot: &Snapshot) -> String {
    let recent = &snapshot.recent;
    let mut line = format!(
        "{:6.1} s  {:<9}",
        snapshot.now.since(units::Time::ZERO).as_secs_f64(),
        snapshot.stage(setting.window).name()
    );
    if let Some(level) = snapshot.level {
        line += &format!("  {} {}", figures::number(level.value), level.unit);
    }
    if setting.sessions {
        line += &format!(
            "  sessions {:6.1}/s completed {:6.1}/s lost {:5} running ",
            snapshot.rate(recent.sessions_completed),
            snapshot.rate(recent.sessions_lost),
            snapshot.running
        );
    }
    let total = &recent.latency.total;
    let quantile = |share| match total.count() {
        0 => "-".to_owned(),
        _ => figures::time(total.quantile(share).as_secs_f64()),
    };
    line + &format!(
        "  responses {:>8}/s  p50 {:>7}  p99 {:>7}  errors {}/s",
        figures::number(snapshot.rate(recent.responses)),
        quantile(0.5),
        quantile(0.99),
        figures::number(snapshot.rate(recent.errors.total()))
    )
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn a_snapshot_is_a_line() {
        let setting = samples::setting();
        insta::assert_snapshot!(line(&setting, &samples::snapshot(12)), @r#"  12.0 s  measuring  responses     1960/s  p50  965 us  p99 1.62 ms  errors 1/s"#);
        insta::assert_snapshot!(line(&setting, &Snapshot::default()), @r#"   0.0 s  warm-up    responses        0/s  p50       -  p99       -  errors 0/s"#);
        let sessions = Setting { sessions: true, ..setting };
        insta::assert_snapshot!(line(&sessions, &samples::snapshot(12)), @r#"  12.0 s  measuring  sessions   40.0/s completed    1.0/s lost    37 running   responses     1960/s  p50  965 us  p99 1.62 ms  errors 1/s"#);
    }
}
