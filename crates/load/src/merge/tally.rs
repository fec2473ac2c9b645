//! [`Tally`]: what the rows of all records add up to, and the rows of the new one.

use std::sync::Arc;

use catalogue::load::{self as metrics, recorded};
use record::{RequestRow, RunDirectory, SampleRow, SessionRow};
use units::Time;

use crate::measure::aggregate::Aggregate;
use crate::measure::finished::Finished;
use crate::measure::steps::Steps;
use crate::merge::arrangement::Arrangement;
use crate::merge::source::Source;

/// What they add up to.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) figures: Aggregate,
    pub(super) steps: Steps,
    /// Responses, and sessions completed, inside the window of their record, record by record.
    pub(super) done: Vec<u64>,
    classes: Vec<Arc<str>>,
}

/// So that no two sessions or connections have the same number.
#[derive(Default)]
struct Numbers {
    session: u64,
    connection: u64,
    next_session: u64,
    next_connection: u64,
}

impl Numbers {
    fn next_record(&mut self) {
        (self.session, self.connection) = (self.next_session, self.next_connection);
    }

    fn session(&mut self, number: u64) -> u64 {
        let number = number + self.session;
        self.next_session = self.next_session.max(number + 1);
        number
    }

    fn connection(&mut self, number: u64) -> u64 {
        let number = number + self.connection;
        self.next_connection = self.next_connection.max(number + 1);
        number
    }
}

impl Tally {
    /// Reads all rows, and writes them into `directory`.
    pub(super) fn take(
        sources: &[Source],
        arrangement: &Arrangement,
        directory: &RunDirectory,
    ) -> Result<Self, record::Error> {
        let mut tally = Self::default();
        let mut numbers = Numbers::default();
        let mut requests = directory.write_requests()?;
        let mut sessions = directory.write_sessions()?;
        let mut samples = directory.write_samples()?;
        for source in sources {
            for class in source.summary.sessions.by_class.keys() {
                tally.class(class);
            }
        }
        for (number, source) in sources.iter().enumerate() {
            numbers.next_record();
            tally.done.push(0);
            let place = |time: Time| arrangement.place(number, source.info.window, time);
            for row in source.run.requests()? {
                if let Some(row) = tally.request(source, row?, &place, &mut numbers, &arrangement.steps) {
                    requests.push(row)?;
                }
            }
            for row in source.run.sessions()? {
                if let Some(row) = tally.session(source, row?, &place, &mut numbers, &arrangement.steps) {
                    sessions.push(row)?;
                }
            }
            for row in source.run.samples()? {
                let row = row?;
                // What is under way in each would have to be added up, and they were not looked at at the same moment.
                let of_each = [metrics::CPU, recorded::LAG_P99].iter().any(|metric| row.metric == *metric);
                if of_each && source.info.window.contains(row.time) {
                    samples.push(SampleRow { time: place(row.time), ..row })?;
                }
            }
        }
        requests.finish()?;
        sessions.finish()?;
        samples.finish()?;
        Ok(tally)
    }

    pub(super) fn classes(&self) -> Vec<String> {
        let named = self.classes.iter().map(|class| class.to_string());
        named.collect()
    }

    fn class(&mut self, name: &str) -> usize {
        let known = self.classes.iter().position(|known| **known == *name);
        known.unwrap_or_else(|| {
            self.classes.push(Arc::from(name));
            self.classes.len() - 1
        })
    }

    fn request(
        &mut self,
        source: &Source,
        row: RequestRow,
        place: &impl Fn(Time) -> Time,
        numbers: &mut Numbers,
        steps: &[record::Step],
    ) -> Option<RequestRow> {
        let window = source.info.window;
        if row.error.is_none() && !source.has_sessions() && window.contains(row.ended()) {
            self.done_more();
        }
        // A response to what was due outside of the window is work done in it, and nothing else.
        let inside = window.contains(row.intended);
        let row = RequestRow {
            intended: place(row.intended),
            started: place(row.started),
            session: row.session.map(|number| numbers.session(number)),
            connection: numbers.connection(row.connection),
            ..row
        };
        let finished = Finished::of(&row);
        if inside {
            self.figures.request(&finished);
            self.steps.request(steps, &finished);
        }
        inside.then_some(row)
    }

    fn session(
        &mut self,
        source: &Source,
        row: SessionRow,
        place: &impl Fn(Time) -> Time,
        numbers: &mut Numbers,
        steps: &[record::Step],
    ) -> Option<SessionRow> {
        let window = source.info.window;
        let ended = row.started_ns + row.duration_ns + row.think_ns;
        if row.completed && window.contains(ended) {
            self.done_more();
        }
        if !window.contains(row.started_ns) {
            return None;
        }
        let class = self.class(&row.class);
        let row =
            SessionRow { session: numbers.session(row.session), started_ns: place(row.started_ns), ..row };
        self.figures.session(class, &row);
        self.steps.session(steps, class, &row, place(ended));
        Some(row)
    }

    fn done_more(&mut self) {
        if let Some(done) = self.done.last_mut() {
            *done += 1;
        }
    }
}
