//! [`Seen`]: what came of sessions and requests, as a whole and over time.

use units::{Span, Time};

use super::model::SessionModel;
use super::tally::{Fate, SessionTally};

/// What came of sessions and requests by interval, then by class, of all replications together.
#[derive(Debug, Default)]
pub(super) struct Intervals(pub(super) Vec<Vec<SessionTally>>);

impl Intervals {
    /// Adds those of a replication.
    pub(super) fn add(&mut self, other: Vec<Vec<SessionTally>>) {
        if self.0.is_empty() {
            self.0 = other;
            return;
        }
        let all = self.0.iter_mut().flatten().zip(other.iter().flatten());
        all.for_each(|(tally, other)| tally.add(other));
    }
}

/// What came of those that count.
#[derive(Debug)]
pub(super) struct Seen {
    /// From when on they do.
    from: Time,
    /// By class.
    pub(super) all: Vec<SessionTally>,
    /// By level, then by class: of sessions that started and requests that were sent while it held. Empty where there is one.
    pub(super) levels: Vec<Vec<SessionTally>>,
    /// When each level ends.
    ends: Vec<Time>,
    /// By interval, then by class, in the same way.
    pub(super) intervals: Vec<Vec<SessionTally>>,
    interval: Option<Span>,
}

impl Seen {
    pub(super) fn new(model: &SessionModel) -> Self {
        let (from, classes) = (Time::ZERO + model.warmup, model.script.classes.len());
        let held = model.levels();
        let ends: Vec<Time> = held
            .iter()
            .filter(|_| held.len() > 1)
            .scan(from, |end, level| {
                *end += level.hold;
                Some(*end)
            })
            .collect();
        let number =
            model.interval.map_or(0.0, |it| (model.duration.as_secs_f64() / it.as_secs_f64()).ceil());
        let each = vec![SessionTally::default(); classes];
        Self {
            from,
            levels: vec![each.clone(); ends.len()],
            intervals: vec![each.clone(); number as usize],
            all: each,
            ends,
            interval: model.interval,
        }
    }

    /// A session of that class has started.
    pub(super) fn started(&mut self, class: usize, at: Time) {
        self.each(class, at, |tally| tally.started += 1);
    }

    /// A request of that class is sent once more.
    pub(super) fn retried(&mut self, class: usize, at: Time) {
        self.each(class, at, |tally| tally.retried += 1);
    }

    /// A request was answered that was sent then.
    pub(super) fn answered(&mut self, class: usize, sent: Time, after: Span) {
        self.each(class, sent, |tally| tally.answered(after));
    }

    /// A session ended that started then, and took so long without its pauses.
    pub(super) fn ended(&mut self, class: usize, started: Time, fate: Fate, duration: Span) {
        self.each(class, started, |tally| tally.ended(fate, duration));
    }

    fn each(&mut self, class: usize, at: Time, mut change: impl FnMut(&mut SessionTally)) {
        // What goes on after the last level has ended belongs to it.
        let level = self.ends.iter().position(|end| at < *end).unwrap_or(self.levels.len().saturating_sub(1));
        let interval =
            self.interval.map(|it| (at.since(self.from).as_nanos() / it.as_nanos().max(1)) as usize);
        let interval = interval.and_then(|number| self.intervals.get_mut(number));
        let all = [Some(&mut self.all), self.levels.get_mut(level), interval];
        all.into_iter().flatten().filter_map(|classes| classes.get_mut(class)).for_each(&mut change);
    }
}
