//! [`Steps`]: the figures of each level of a ramp.

use record::{RateSummary, SessionRow, Step, StepSummary};
use units::{Rate, Span, Time};

use crate::measure::aggregate::Aggregate;
use crate::measure::finished::Finished;
use crate::measure::objective::Objective;
use crate::measure::percentile::Percentile;

/// What came of each step, in the order of the ramp; as many as have seen something.
#[derive(Debug, Clone, Default)]
pub(crate) struct Steps(Vec<Tally>);

#[derive(Debug, Clone)]
struct Tally {
    /// Of what was intended in the step. There may be many, so its histograms are coarse.
    figures: Aggregate,
    /// Responses whose last byte came in the step.
    responses: u64,
    /// Sessions that were completed in it.
    sessions: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self { figures: Aggregate::coarse(), responses: 0, sessions: 0 }
    }
}

/// How a step is told.
pub(crate) struct Telling<'a> {
    /// What levels count, such as `requests/s`.
    pub(crate) unit: &'a str,
    /// Whether levels are rates that the schedule asks for.
    pub(crate) open: bool,
    pub(crate) sessions: bool,
    pub(crate) percentiles: &'a [Percentile],
    pub(crate) objectives: &'a [Objective],
}

/// Which of the steps, which follow upon one another, a time is in.
fn place(steps: &[Step], time: Time) -> Option<usize> {
    let index = steps.partition_point(|step| step.to_ns <= time.as_nanos());
    steps.get(index).filter(|step| step.contains(time)).map(|_| index)
}

impl Steps {
    fn at(&mut self, index: usize) -> Option<&mut Tally> {
        if self.0.len() <= index {
            self.0.resize_with(index + 1, Tally::default);
        }
        self.0.get_mut(index)
    }

    pub(crate) fn request(&mut self, steps: &[Step], finished: &Finished) {
        let answered = finished.error.is_none().then(|| place(steps, finished.ended())).flatten();
        if let Some(tally) = answered.and_then(|index| self.at(index)) {
            tally.responses += 1;
        }
        if let Some(tally) = place(steps, finished.intended).and_then(|index| self.at(index)) {
            tally.figures.request(finished);
        }
    }

    /// A session that ended at `ended`.
    pub(crate) fn session(&mut self, steps: &[Step], class: usize, row: &SessionRow, ended: Time) {
        let completed = row.completed.then(|| place(steps, ended)).flatten();
        if let Some(tally) = completed.and_then(|index| self.at(index)) {
            tally.sessions += 1;
        }
        if let Some(tally) = place(steps, row.started_ns).and_then(|index| self.at(index)) {
            tally.figures.session(class, row);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (index, theirs) in other.0.iter().enumerate() {
            if let Some(mine) = self.at(index) {
                mine.figures.add(&theirs.figures);
                mine.responses += theirs.responses;
                mine.sessions += theirs.sessions;
            }
        }
    }

    /// What is said of the steps.
    pub(crate) fn summary(&self, steps: &[Step], telling: &Telling<'_>) -> Vec<StepSummary> {
        let nothing = Tally::default();
        let tallies = self.0.iter().chain(std::iter::repeat(&nothing));
        steps.iter().zip(tallies).map(|(step, tally)| tally.summary(step, telling)).collect()
    }
}

impl Tally {
    fn summary(&self, step: &Step, telling: &Telling<'_>) -> StepSummary {
        let done = if telling.sessions { self.sessions } else { self.responses };
        let achieved = Rate::of(done, step.length()).as_f64();
        let rate = RateSummary { offered: if telling.open { step.level } else { achieved }, achieved };
        let (completed, lost) = self.figures.session_ends();
        let at = |nanos| Span::from_nanos(nanos).as_secs_f64();
        let judged = telling.objectives.iter();
        StepSummary {
            level: step.level,
            unit: telling.unit.to_owned(),
            from: at(step.from_ns),
            to: at(step.to_ns),
            requests: self.figures.requests,
            responses: self.figures.responses,
            rate,
            status: self.figures.status.clone(),
            errors: self.figures.errors,
            sessions_started: completed + lost,
            sessions_completed: completed,
            latency: self.figures.phases.summary(telling.percentiles),
            objectives: judged.map(|objective| objective.judge(&self.figures, Some(achieved))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_belongs_to_one_step() {
        let step = |from_ns, to_ns| Step { from_ns, to_ns, level: 1.0 };
        let steps = [step(10, 20), step(20, 30)];
        let place = |nanos| place(&steps, Time::from_nanos(nanos));
        assert_eq!([9, 10, 19, 20, 29, 30].map(place), [None, Some(0), Some(0), Some(1), Some(1), None]);
    }
}
