//! The report's data: what the page is filled with and `headworks report --json` prints.

use record::Timestamp;
use record::experiment::{Class, Factor, Server, TestState};
use serde::Serialize;
use stats::Estimate;

use crate::conclusion::Conclusion;
use crate::limit::Limit;
use crate::method::fact::{Fact, Source};

/// Everything that the page and the terminal show. Times in seconds, rates per second, shares 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ExperimentReport {
    /// What the experiment is about.
    pub title: String,
    /// When it began.
    #[cfg_attr(test, ts(type = "string"))]
    pub started: Timestamp,
    /// When it ended; none when it has not, or was killed.
    #[cfg_attr(test, ts(type = "string | null"))]
    pub ended: Option<Timestamp>,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// The version of Headworks that measured.
    pub version: String,
    /// The server under test.
    pub server: Server,
    /// What was varied along the axis of figures.
    pub factor: Factor,
    /// What was compared: the subjects, those with settings of their own once for each, such as
    /// `gate, look-ahead 4`.
    pub subjects: Vec<String>,
    /// The classes of the workload, the most important first.
    pub classes: Vec<Class>,
    /// What the server carries, where that is known.
    pub capacity: Option<Capacity>,
    /// What came out, in words.
    pub verdict: Conclusion,
    /// What sets the limit of each subject, where that was judged.
    pub limits: Vec<Limit>,
    /// The figures: one for each subject and level with at least one test that counts.
    pub points: Vec<Point>,
    /// Every test, in the order in which they were run.
    pub tests: Vec<Test>,
    /// How it was measured.
    pub method: Vec<Fact>,
    /// The texts that it was made by.
    pub sources: Vec<Source>,
}

/// What the server carries.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Capacity {
    /// In `unit`.
    pub rate: Estimate,
    /// Such as `sessions/s`.
    pub unit: String,
    /// The run that found it.
    pub directory: String,
}

/// One subject at one level, over all tests that count.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Point {
    /// One of the report's subjects.
    pub subject: String,
    /// The factor's value.
    pub level: f64,
    /// Sessions per second that were offered.
    pub offered: f64,
    /// How many tests are in it.
    pub repeats: usize,
    /// Sessions started in the measuring windows.
    pub started: u64,
    /// How many of those were completed, then or later.
    pub completed: u64,
    /// Sessions completed inside the measuring windows, whenever started.
    pub completed_inside: u64,
    /// The measuring windows together, in seconds.
    pub window: f64,
    /// `completed_inside` per second of the windows.
    pub goodput: Option<Estimate>,
    /// Class by class, in the experiment's order.
    pub classes: Vec<ClassPoint>,
    /// The requests of all classes.
    pub requests: Requests,
}

/// One class at a point.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ClassPoint {
    /// The class.
    pub name: String,
    /// Sessions started in the measuring windows.
    pub started: u64,
    /// How many of those were completed.
    pub completed: u64,
    /// The share completed; none when none started.
    pub share: Option<Estimate>,
    /// How long the completed ones took; none when none was.
    pub duration: Option<Duration>,
}

/// Durations of completed sessions, think time taken out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Duration {
    /// How many sessions.
    pub count: usize,
    /// The mean.
    pub mean: Estimate,
    /// The median.
    pub median: Estimate,
    /// The 90th percentile.
    pub p90: Estimate,
}

/// The requests at a point.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Requests {
    /// Begun in the measuring windows.
    pub requests: u64,
    /// Complete responses to them.
    pub responses: u64,
    /// Where their time went.
    pub phases: Phases,
    /// Those that got no useful response, by reason; reasons that did not occur are left out.
    pub errors: Vec<ErrorCount>,
}

/// The phases of a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Phases {
    /// Until the connection stands.
    pub connect: Phase,
    /// Until the first byte of the response.
    pub processing: Phase,
    /// Until the last byte.
    pub transfer: Phase,
}

/// One phase.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Phase {
    /// Over all requests that came so far.
    pub mean: f64,
    /// The 99th percentile of the test in which it was highest; percentiles cannot be pooled.
    pub p99: f64,
    /// How many requests.
    pub count: u64,
}

/// Requests that ended in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ErrorCount {
    /// Such as `timeout`, or `status 503`.
    pub kind: String,
    /// How many.
    pub count: u64,
}

/// One test as it was run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Test {
    /// Its run directory, from the experiment's.
    pub directory: String,
    /// What was measured.
    pub subject: String,
    /// At which level.
    pub level: f64,
    /// Which repetition, from 1.
    pub repeat: u32,
    /// Sessions per second that were offered.
    pub offered: f64,
    /// Whether it counts. A test whose record cannot be read is broken, whatever the index says.
    pub state: TestState,
    /// Why not.
    pub why: Vec<String>,
    /// The files in its directory.
    pub files: Vec<String>,
    /// Sessions completed per second; none when broken.
    pub goodput: Option<f64>,
    /// Class by class; empty when broken.
    pub classes: Vec<ClassReading>,
    /// The generator; none when broken.
    pub client: Option<ClientReading>,
}

/// One class in one test.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ClassReading {
    /// The class.
    pub name: String,
    /// The share of sessions completed.
    pub share: Option<f64>,
    /// The mean duration of those.
    pub mean: Option<f64>,
    /// The median duration of them.
    pub median: Option<f64>,
}

/// The generator in one test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ClientReading {
    /// Share of a processor that its busiest thread used.
    pub cpu: f64,
    /// How late it was, 99th percentile.
    pub lag_p99: f64,
}

impl ExperimentReport {
    /// The figures of a subject at a level.
    pub fn point(&self, subject: &str, level: f64) -> Option<&Point> {
        self.points.iter().find(|point| point.subject == subject && point.level == level)
    }
}

impl Point {
    /// The figures of a class.
    pub fn class(&self, name: &str) -> Option<&ClassPoint> {
        self.classes.iter().find(|class| class.name == name)
    }

    /// The share of all sessions that were completed.
    pub fn share(&self) -> Option<Estimate> {
        Estimate::share(self.completed, self.started)
    }
}
