//! What becomes of a server after a surge, at each load and number of retries.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::map::{Boundary, RecoveryMap, Row};
use super::question::{RecoveryError, RecoveryQuestion};
use super::trial::RecoveryTrial;
use crate::control::Control;
use crate::course::Course;
use crate::draw::{Seed, Service};
use crate::engine::{Length, replicate};
use crate::model::{Model, ModelError, Offered, Patience, Retries};
use crate::parallel::in_parallel;
use crate::subject::{Subject, Surge};
use crate::watch::Watch;

/// A server has come back when so large a share of requests is answered in time, for so many times as long as clients
/// wait.
const SHARE: f64 = 0.95;
const LASTING: usize = 5;

/// The surge comes after so many times as long as clients wait.
const CALM: usize = 20;

/// And of so many requests at least, for of few it is all or nothing.
const REQUESTS: u32 = 40;

/// How long clients wait, in intervals.
const INTERVALS: usize = 10;

/// Finds when the model's server comes back from a surge, if it does. The model's own load and retries do not count,
/// but for how long clients pause before they ask again. `control` is told after each replication.
///
/// # Errors
/// When the model cannot be simulated, or the question makes no sense for it.
pub fn map_recovery(
    model: &Model,
    question: &RecoveryQuestion,
    control: Control<'_>,
) -> Result<RecoveryMap, RecoveryError> {
    let Patience { mean: patience, law } = model.patience.ok_or(RecoveryError::NoPatience)?;
    if law != Service::Constant {
        return Err(RecoveryError::PatienceDiffers);
    }
    if let Some(load) = question.loads.iter().find(|load| !(**load > 0.0 && **load < 1.0)) {
        return Err(RecoveryError::Load(*load));
    }
    let (within, lasting) = (question.within.as_secs_f64(), LASTING as f64 * patience);
    let search = Search { model, question, control, patience };
    let mut rows = Vec::new();
    for retries in &question.retries {
        rows.push(search.row(*retries)?);
    }
    Ok(RecoveryMap {
        surge_load: question.surge.load,
        surge_lasts: question.surge.lasts.as_secs_f64(),
        patience,
        within,
        share: SHARE,
        lasting,
        requests: REQUESTS,
        rows,
        interrupted: control.is_stopped(),
    })
}

struct Search<'a> {
    model: &'a Model,
    question: &'a RecoveryQuestion,
    control: Control<'a>,
    patience: f64,
}

impl Search<'_> {
    fn row(&self, retries: u32) -> Result<Row, RecoveryError> {
        let mut trials = Vec::new();
        for load in &self.question.loads {
            trials.extend(self.trial(*load, retries)?);
        }
        Ok(Row { retries, trials, boundary: self.boundary(retries)? })
    }

    /// Found by halving: at a higher load it comes back less often. Nothing where it was ended before.
    fn boundary(&self, retries: u32) -> Result<Option<Boundary>, RecoveryError> {
        let mut tried: BTreeMap<u32, f64> = BTreeMap::new();
        let mut last = |share: f64| {
            let (mut low, mut high) = (0, 100);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                let probability = match tried.get(&middle) {
                    Some(probability) => *probability,
                    None => {
                        let Some(trial) = self.trial(f64::from(middle) / 100.0, retries)? else {
                            return Ok::<_, RecoveryError>(None);
                        };
                        *tried.entry(middle).or_insert(trial.probability.value)
                    }
                };
                if probability >= share { low = middle } else { high = middle }
            }
            Ok(Some(f64::from(low) / 100.0))
        };
        let (p90, p50, p10) = (last(0.9)?, last(0.5)?, last(0.1)?);
        Ok(p90.zip(p50).zip(p10).map(|((p90, p50), p10)| Boundary { p90, p50, p10 }))
    }

    /// Nothing where it was ended before.
    fn trial(&self, load: f64, retries: u32) -> Result<Option<RecoveryTrial>, RecoveryError> {
        let pauses = self.model.retries.unwrap_or(Retries { share: 1.0, ..Retries::NONE });
        let model = Model {
            offered: Offered::Load(load),
            retries: (retries > 0).then_some(Retries { most: retries, ..pauses }),
            ..self.model.clone()
        };
        match model.check() {
            Err(ModelError::Unstable { .. }) => {
                let never = vec![None; self.question.plan.replications as usize];
                return Ok(RecoveryTrial::new(load, retries, &never, 0.0));
            }
            checked => checked?,
        }
        model.check_without_gate()?;
        let interval = self.patience / INTERVALS as f64;
        let intervals = |seconds: f64| (seconds / interval).ceil() as usize;
        let from = CALM * INTERVALS;
        let until = from + intervals(self.question.surge.lasts.as_secs_f64());
        // At this load so many intervals have enough requests; a server that recovers at the last moment is seen to.
        let enough = intervals(f64::from(REQUESTS) / model.rate().unwrap_or(f64::INFINITY));
        let (within, lasting) =
            (intervals(self.question.within.as_secs_f64()), enough.max(LASTING * INTERVALS));
        let end = until + within + lasting;
        let time = |intervals: usize| intervals as f64 * interval;
        let (times, plan) = (self.question.surge.load / load, &self.question.plan);
        let surge = Surge { from: time(from), until: time(until), times, end: time(end) };
        let subject = Subject { surge: Some(surge), ..Subject::from(&model) };
        let one = |number| {
            let course = Course::new(end, interval, self.patience);
            let blank = Watch { course: Some(course), ..subject.watch() };
            let length = Length { warmup: 0, requests: u64::MAX, stretches: 1, memory: None };
            let mut outcome = (None, 0.0);
            replicate(subject, Seed::new(plan.seed, number), length, &blank, &mut |watch| {
                if let Some(course) = watch.course {
                    let recovered = course.recovers(until, lasting, SHARE).filter(|after| *after <= within);
                    outcome = (recovered.map(time), course.share(from / 2..from));
                }
                ControlFlow::Break(())
            });
            outcome
        };
        let outcomes = in_parallel(plan.cores, 0..plan.replications, self.control, one);
        if self.control.is_stopped() {
            return Ok(None);
        }
        let (times, calm): (Vec<Option<f64>>, Vec<f64>) = outcomes.into_iter().unzip();
        Ok(RecoveryTrial::new(load, retries, &times, stats::mean(calm).unwrap_or(f64::NAN)))
    }
}
