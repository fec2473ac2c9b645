//! What is seen while an experiment is done: on a terminal a table that is updated in place,
//! elsewhere a line per event. It goes to standard error, which leaves standard output to results.

mod row;
mod style;
mod table;

use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use record::experiment::Experiment;
use units::Span;

use crate::plan::Planned;
use crate::spec::Spec;
use row::Row;
use style::Style;

/// Time that a test takes besides warm-up and duration, until the first one has shown it: starting
/// and stopping programs, waiting for rest, following the last sessions to their end.
pub(crate) const AROUND: Duration = Duration::from_secs(3);

/// What most searches take.
pub(crate) const SEARCH: Duration = Duration::from_secs(40);

/// Often enough to look alive, seldom enough not to be noticed by what is measured.
const REFRESH: Duration = Duration::from_millis(250);

/// The progress of one experiment.
#[derive(Debug)]
pub(crate) struct View {
    mode: Mode,
    title: String,
    /// Whether each test is a search.
    is_search: bool,
    capacity: Option<String>,
    classes: Vec<String>,
    rows: Vec<Row>,
    notes: Vec<String>,
    now: Option<Phase>,
    /// Over the time that tests should take, what the last took.
    pace: f64,
    drawn: Cell<usize>,
    refreshed: Cell<Option<Instant>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Quiet,
    Lines,
    Table(Style),
}

/// What is going on, since when, and how long it should take.
#[derive(Debug, Clone, Copy)]
struct Phase {
    /// `None` while the capacity is searched for.
    test: Option<usize>,
    since: Instant,
    expected: Duration,
}

impl View {
    pub(crate) fn new(quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let mode = match quiet {
            true => Mode::Quiet,
            false if std::io::stderr().is_terminal() && !dumb => Mode::Table(Style::choose()),
            false => Mode::Lines,
        };
        Self {
            mode,
            title: String::new(),
            is_search: false,
            capacity: None,
            classes: Vec::new(),
            rows: Vec::new(),
            notes: Vec::new(),
            now: None,
            pace: 1.0,
            drawn: Cell::new(0),
            refreshed: Cell::new(None),
        }
    }

    /// The experiment starts.
    pub(crate) fn begin(&mut self, experiment: &Experiment, plan: &[Planned], spec: &Spec) {
        let server = if experiment.server.version.is_empty() {
            experiment.server.kind.clone()
        } else {
            format!("{} ({})", experiment.server.kind, experiment.server.version)
        };
        self.title = format!("{}: {server}", experiment.title);
        self.classes = experiment.classes.iter().map(|class| class.name.clone()).collect();
        self.rows = plan.iter().map(|planned| Row::waiting(planned, spec)).collect();
        self.is_search = spec.is_search();
        if self.is_search {
            self.classes.clear();
        }
        self.say(&self.title);
        self.draw();
    }

    /// Something that the reader of the figures should know.
    pub(crate) fn note(&mut self, sentence: &str) {
        self.notes.push(sentence.to_owned());
        self.say(&format!("note: {sentence}"));
        self.draw();
    }

    /// The search for the capacity starts.
    pub(crate) fn searching(&mut self, length: Span) {
        let expected = Duration::from(length) + AROUND / 3;
        self.now = Some(Phase { test: None, since: Instant::now(), expected });
        self.draw();
    }

    /// The capacity is known.
    pub(crate) fn found(&mut self, experiment: &Experiment) {
        if let Some(found) = &experiment.capacity {
            let [low, high] = found.ci;
            let text = format!("{:.2} {} (95 % confidence: {low:.2} to {high:.2})", found.rate, found.unit);
            self.say(&format!("capacity: {text}"));
            self.capacity = Some(text);
        }
        self.now = None;
        self.draw();
    }

    /// A test starts.
    pub(crate) fn testing(&mut self, index: usize) {
        let expected = self.rows.get(index).map_or(Duration::ZERO, |row| row.expected.mul_f64(self.pace));
        self.now = Some(Phase { test: Some(index), since: Instant::now(), expected });
        self.draw();
    }

    /// Time has passed.
    pub(crate) fn tick(&self) {
        if self.refreshed.get().is_none_or(|before| before.elapsed() >= REFRESH) {
            self.draw();
        }
    }

    /// A test has ended; the last one of the experiment unless it was done in an earlier run.
    pub(crate) fn done(&mut self, index: usize, directory: &Path, experiment: &Experiment) {
        let phase = self.now.take();
        let Some(row) = self.rows.get_mut(index) else { return };
        if let Some(phase) = phase {
            self.pace = phase.since.elapsed().as_secs_f64() / row.expected.as_secs_f64().max(1.0);
        }
        if let Some(test) = experiment.tests.iter().find(|test| test.directory == row.directory) {
            row.finish(test, directory, &self.classes);
            let line = table::sentence(row, &self.classes);
            self.say(&format!("{}/{} {line}", index + 1, self.rows.len()));
        }
        self.draw();
    }

    /// Nothing more will come.
    pub(crate) fn finish(&mut self) {
        self.now = None;
        self.draw();
    }

    /// What the columns are.
    fn meaning(&self) -> &'static str {
        if self.is_search {
            "the highest rate that it keeps up with, its interval, and what sets it"
        } else {
            "completed sessions, median duration without pauses"
        }
    }

    /// How long it will still take.
    fn remaining(&self) -> Duration {
        let left = self.now.map_or(Duration::ZERO, |now| now.expected.saturating_sub(now.since.elapsed()));
        let waiting = self.rows.iter().enumerate();
        let waiting = waiting.filter(|(index, row)| {
            row.outcome.is_none() && self.now.is_none_or(|now| now.test != Some(*index))
        });
        left + waiting.map(|(_, row)| row.expected).sum::<Duration>().mul_f64(self.pace)
    }

    fn say(&self, line: &str) {
        if self.mode == Mode::Lines {
            // Nobody reads it; that is no reason to stop measuring.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }

    fn draw(&self) {
        let Mode::Table(style) = self.mode else { return };
        self.refreshed.set(Some(Instant::now()));
        let lines = table::lines(self, style);
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
