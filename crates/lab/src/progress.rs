//! [`Progress`]: whom an experiment tells how far it is.

use std::path::Path;
use std::time::Duration;

use record::experiment::Experiment;

/// What happens in the course of an experiment.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// It begins.
    Begins {
        /// The record, in which nothing has been measured yet.
        experiment: &'a Experiment,
        /// In the order in which they will be done.
        tests: Vec<Expected>,
        /// What each test is.
        kind: TestKind,
    },
    /// Something that the reader of the figures should know.
    Note(&'a str),
    /// The search for the capacity begins, which should take so long.
    CapacitySearchBegins(Duration),
    /// The capacity is known.
    CapacityIsKnown(&'a Experiment),
    /// The test of this index begins.
    TestBegins(usize),
    /// Time has passed.
    Tick,
    /// A test has ended.
    TestEnds {
        /// Of [`Event::Begins`].
        index: usize,
        /// That of the experiment.
        directory: &'a Path,
        /// The record; this test is its last one unless it was done in an earlier run.
        experiment: &'a Experiment,
    },
    /// Nothing more will come.
    Ends,
}

/// A test that will be done.
#[derive(Debug)]
pub(crate) struct Expected {
    /// Subject and levels.
    pub(crate) name: String,
    /// From the experiment's directory.
    pub(crate) directory: String,
    /// How long it should take.
    pub(crate) length: Duration,
}

/// What a test is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestKind {
    /// At a given load.
    AtLoad,
    /// A search for the capacity.
    Search,
}

/// Is told how far an experiment is.
pub(crate) trait Progress {
    /// Takes note of what happens.
    fn tell(&self, event: Event<'_>);
}

/// Says nothing.
#[derive(Debug)]
pub(crate) struct Quiet;

impl Progress for Quiet {
    fn tell(&self, _: Event<'_>) {}
}
