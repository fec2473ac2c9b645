//! The table and its lines, as text.

use std::time::Duration;

use record::experiment::TestState;

use super::row::{Reading, Row, RowOutcome};
use super::state::{Phase, State};
use super::style::Style;
use crate::progress::TestKind;

/// Room for the names of tests: enough for subject and load, and not so much that two classes do not
/// fit beside it on 80 columns.
const NAME: std::ops::RangeInclusive<usize> = 15..=33;
const COLUMN: usize = 18;
/// More would not fit beside each other on 80 columns, and a line that wraps spoils the update.
const CLASSES: usize = 3;
const BAR: usize = 24;

/// All lines of the table as it stands.
pub(super) fn lines(state: &State, style: Style) -> Vec<String> {
    let mut lines = vec![style.bold(&cut(&state.title))];
    lines.push(match (&state.capacity, state.now) {
        (Some(capacity), _) => format!("capacity {capacity}"),
        (None, Some(now)) if now.test.is_none() => format!("capacity {}", bar(now)),
        (None, _) => String::new(),
    });
    let longest = state.rows.iter().map(|row| row.name.chars().count() + 1).max().unwrap_or(0);
    let width = longest.clamp(*NAME.start(), *NAME.end());
    let classes = CLASSES.min((79 - width - 10) / COLUMN);
    let mut head =
        format!("{:width$}{:>10}", "", if state.kind == TestKind::Search { "capacity" } else { "offered" });
    for class in state.classes.iter().take(classes) {
        head.push_str(&format!("{:>COLUMN$}", class.chars().take(COLUMN - 2).collect::<String>()));
    }
    lines.push(style.dim(&head));
    for (index, row) in state.rows.iter().enumerate() {
        let name: String = row.name.chars().take(width - 1).collect();
        let name = format!("{name:width$}");
        lines.push(match (&row.outcome, state.now) {
            (Some(outcome), _) => format!("{name}{}", cells(outcome, classes, style)),
            (None, Some(now)) if now.test == Some(index) => format!("{name}{:>10}  {}", "", bar(now)),
            (None, _) => style.dim(&name),
        });
    }
    for note in &state.notes {
        lines.push(style.warning(&cut(&format!("note: {note}"))));
    }
    let remaining = state.remaining();
    lines.push(style.dim(&if remaining.is_zero() {
        state.meaning().to_owned()
    } else {
        format!("{}; about {} left", state.meaning(), clock(remaining))
    }));
    lines
}

/// A row as a sentence, for where there is no terminal.
pub(super) fn sentence(row: &Row, classes: &[String]) -> String {
    let Some(outcome) = &row.outcome else { return row.name.clone() };
    let mut text = match &outcome.capacity {
        Some(capacity) => format!("{}: {capacity};", row.name),
        None => format!("{}, {:.2} sessions/s offered:", row.name, outcome.offered),
    };
    if let Some(why) = verdict(outcome) {
        text.push_str(&format!(" {why};"));
    }
    for (name, reading) in classes.iter().zip(&outcome.classes) {
        if let Some(reading) = reading {
            text.push_str(&format!(" {name} {}", figures(*reading)));
            text.push(',');
        }
    }
    text.truncate(text.trim_end_matches([',', ';', ':']).len());
    for why in &outcome.why {
        text.push_str(&format!("; {why}"));
    }
    text
}

fn cells(outcome: &RowOutcome, classes: usize, style: Style) -> String {
    if let Some(capacity) = &outcome.capacity {
        return match verdict(outcome) {
            Some(why) => format!("  {capacity}  {}", style.warning(why)),
            None => format!("  {capacity}"),
        };
    }
    let mut text = format!("{:>10}", format!("{:.1}/s", outcome.offered));
    for reading in outcome.classes.iter().take(classes) {
        text.push_str(&match reading {
            Some(reading) => style.share(reading.completed, &format!("{:>COLUMN$}", figures(*reading))),
            None => format!("{:>COLUMN$}", "-"),
        });
    }
    if let Some(why) = verdict(outcome) {
        text.push_str("  ");
        text.push_str(&style.warning(why));
    }
    text
}

fn figures(reading: Reading) -> String {
    let completed = format!("{:.0} %", reading.completed * 100.0);
    if reading.completed > 0.0 { format!("{completed} {}", duration(reading.median)) } else { completed }
}

fn duration(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

fn verdict(outcome: &RowOutcome) -> Option<&'static str> {
    match outcome.state {
        TestState::Measured => None,
        TestState::Broken => Some("broken"),
        TestState::NotValid => Some("not valid"),
    }
}

fn bar(phase: Phase) -> String {
    let part = phase.since.elapsed().as_secs_f64() / phase.expected.as_secs_f64().max(0.001);
    let full = ((part.min(1.0)) * BAR as f64) as usize;
    let left = phase.expected.saturating_sub(phase.since.elapsed());
    format!("[{}{}] {}", "#".repeat(full), "-".repeat(BAR - full), clock(left))
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min {} s", seconds / 60, seconds % 60) }
}

/// As much as fits on one line of an 80-column terminal.
fn cut(text: &str) -> String {
    text.chars().take(79).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(state: TestState, classes: Vec<Option<Reading>>) -> Row {
        let why = vec!["the generator was late".to_owned()];
        let why = if state == TestState::Measured { Vec::new() } else { why };
        let (name, directory, expected) = ("gate at 3x".to_owned(), String::new(), Duration::ZERO);
        let outcome = Some(RowOutcome { state, offered: 24.0, classes, why, capacity: None });
        Row { name, directory, expected, outcome }
    }

    #[test]
    fn a_row_reads_as_a_sentence() {
        let classes = ["premium".to_owned(), "basic".to_owned()];
        let premium = Some(Reading { completed: 1.0, median: 0.31 });
        let basic = Some(Reading { completed: 0.125, median: 1.5 });
        assert_eq!(
            sentence(&row(TestState::Measured, vec![premium, basic]), &classes),
            "gate at 3x, 24.00 sessions/s offered: premium 100 % 310 ms, basic 12 % 1.50 s"
        );
        assert_eq!(
            sentence(
                &row(TestState::NotValid, vec![None, Some(Reading { completed: 0.0, median: 0.0 })]),
                &classes
            ),
            "gate at 3x, 24.00 sessions/s offered: not valid; basic 0 %; the generator was late"
        );
        assert_eq!(
            sentence(&row(TestState::Broken, vec![None, None]), &classes),
            "gate at 3x, 24.00 sessions/s offered: broken; the generator was late"
        );
    }

    #[test]
    fn colours_can_be_done_without() {
        let row = row(TestState::Measured, vec![Some(Reading { completed: 1.0, median: 0.31 })]);
        let outcome = row.outcome.unwrap();
        assert_eq!(cells(&outcome, CLASSES, Style::Plain), "    24.0/s      100 % 310 ms");
        assert_eq!(cells(&outcome, CLASSES, Style::Coloured), "    24.0/s\x1b[32m      100 % 310 ms\x1b[0m");
    }
}
