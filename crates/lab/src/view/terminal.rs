//! [`View`]: the progress of an experiment on a terminal, as a table that is updated in place.

use std::cell::{Cell, RefCell};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use record::experiment::Experiment;

use super::row::Row;
use super::state::{Phase, State};
use super::style::Style;
use super::table;
use crate::progress::{Event, Expected, Progress, TestKind};

/// Often enough to look alive, seldom enough not to be noticed by what is measured.
const REFRESH: Duration = Duration::from_millis(250);

/// The progress of one experiment, on standard error, which leaves standard output to results.
#[derive(Debug)]
pub(crate) struct View {
    mode: Mode,
    state: RefCell<State>,
    drawn: Cell<usize>,
    refreshed: Cell<Option<Instant>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// A line for each event.
    Lines,
    /// A table that is updated in place.
    Table(Style),
}

impl Progress for View {
    fn tell(&self, event: Event<'_>) {
        if let Event::Tick = event {
            if self.refreshed.get().is_none_or(|before| before.elapsed() >= REFRESH) {
                self.draw();
            }
            return;
        }
        match event {
            Event::Begins { experiment, tests, kind } => self.begin(experiment, tests, kind),
            Event::Note(sentence) => {
                self.state.borrow_mut().notes.push(sentence.to_owned());
                self.say(&format!("note: {sentence}"));
            }
            Event::CapacitySearchBegins(expected) => {
                self.state.borrow_mut().now = Some(Phase::begin(None, expected));
            }
            Event::CapacityIsKnown(experiment) => self.capacity(experiment),
            Event::TestBegins(index) => {
                let mut state = self.state.borrow_mut();
                let expected =
                    state.rows.get(index).map_or(Duration::ZERO, |row| row.expected.mul_f64(state.pace));
                state.now = Some(Phase::begin(Some(index), expected));
            }
            Event::TestEnds { index, directory, experiment } => self.done(index, directory, experiment),
            Event::Ends => self.state.borrow_mut().now = None,
            Event::Tick => {}
        }
        self.draw();
    }
}

impl View {
    pub(crate) fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let is_table = std::io::stderr().is_terminal() && !dumb;
        let mode = if is_table { Mode::Table(Style::choose()) } else { Mode::Lines };
        Self { mode, state: RefCell::new(State::new()), drawn: Cell::new(0), refreshed: Cell::new(None) }
    }

    fn begin(&self, experiment: &Experiment, tests: Vec<Expected>, kind: TestKind) {
        let server = if experiment.server.version.is_empty() {
            experiment.server.kind.clone()
        } else {
            format!("{} ({})", experiment.server.kind, experiment.server.version)
        };
        let title = format!("{}: {server}", experiment.title);
        self.say(&title);
        let mut state = self.state.borrow_mut();
        state.title = title;
        state.rows = tests.into_iter().map(Row::waiting).collect();
        state.kind = kind;
        if kind == TestKind::AtLoad {
            state.classes = experiment.classes.iter().map(|class| class.name.clone()).collect();
        }
    }

    fn capacity(&self, experiment: &Experiment) {
        let mut state = self.state.borrow_mut();
        if let Some(found) = &experiment.capacity {
            let [low, high] = found.ci;
            let text = format!("{:.2} {} (95 % confidence: {low:.2} to {high:.2})", found.rate, found.unit);
            self.say(&format!("capacity: {text}"));
            state.capacity = Some(text);
        }
        state.now = None;
    }

    fn done(&self, index: usize, directory: &std::path::Path, experiment: &Experiment) {
        let state = &mut *self.state.borrow_mut();
        let phase = state.now.take();
        let number = state.rows.len();
        let Some(row) = state.rows.get_mut(index) else { return };
        if let Some(phase) = phase {
            state.pace = phase.since.elapsed().as_secs_f64() / row.expected.as_secs_f64().max(1.0);
        }
        if let Some(test) = experiment.tests.iter().find(|test| test.directory == row.directory) {
            row.finish(test, directory, &state.classes);
            let line = table::sentence(row, &state.classes);
            self.say(&format!("{}/{number} {line}", index + 1));
        }
    }

    fn say(&self, line: &str) {
        if self.mode == Mode::Lines {
            // That it cannot be written does not end the measuring.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }

    fn draw(&self) {
        let Mode::Table(style) = self.mode else { return };
        self.refreshed.set(Some(Instant::now()));
        let lines = table::lines(&self.state.borrow(), style);
        let mut text = String::new();
        if self.drawn.get() > 0 {
            text.push_str(&format!("\x1b[{}A", self.drawn.get()));
        }
        for line in &lines {
            text.push_str("\x1b[2K");
            text.push_str(line);
            text.push('\n');
        }
        self.drawn.set(lines.len());
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}
