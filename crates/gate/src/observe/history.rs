//! [`History`]: what each second of the last hour was like.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::Serialize;

use crate::admission::second::{Second, p95};

/// What each second of the last hour was like.
#[derive(Debug, Default)]
pub(crate) struct History {
    samples: VecDeque<Sample>,
    /// Of the last seconds, by class, how long requests took.
    times: VecDeque<Vec<Second>>,
}

/// A second, or several together. Rates are per second, levels means, times in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Sample {
    /// When it ended, in seconds since 1970.
    pub(crate) at: f64,
    /// How long it was, in seconds.
    pub(crate) span: f32,
    pub(crate) window: f32,
    pub(crate) in_service: f32,
    /// Requests that waited in the gate.
    pub(crate) waiting: f32,
    /// Requests per second that the server could have done, if that was known.
    pub(crate) capacity: Option<f32>,
    /// Requests per second that it did.
    pub(crate) finished: f32,
    /// Requests per second that were refused before their class was known.
    pub(crate) unclassified: f32,
    /// How much of the gate's connections and memory was used.
    pub(crate) pressure: f32,
    /// In the order of the classes, most important first.
    pub(crate) classes: Vec<ClassSample>,
}

/// The same of one class.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ClassSample {
    /// Requests per second that came.
    pub(crate) offered: f32,
    /// Requests per second that were served.
    pub(crate) served: f32,
    /// Requests per second that were refused, without visitors of the waiting room; in shadow mode: would have been.
    pub(crate) refused: f32,
    /// Requests per second whose clients went away first, without those that ended a stream.
    pub(crate) aborted: f32,
    /// Requests in its class queue.
    pub(crate) queued: f32,
    /// From the arrival of a request to the end of its response, mean; null where none was served.
    pub(crate) response: Option<f32>,
    /// 95th percentile of these; of several seconds the greatest.
    pub(crate) p95: Option<f32>,
    /// Where requests spent that time, means.
    pub(crate) waits: Option<StageWaits>,
}

/// Means by stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct StageWaits {
    pub(crate) acceptor: f32,
    pub(crate) pending: f32,
    pub(crate) discard: f32,
    pub(crate) class: f32,
    pub(crate) server: f32,
}

impl History {
    /// Seconds that are kept.
    pub(crate) const SECONDS: usize = 3600;

    /// As many of the last are together what is "lately": a second of a few requests says little.
    pub(crate) const LATELY: usize = 10;

    /// A second is over, in which requests took so long, by class.
    pub(crate) fn add(&mut self, sample: Sample, times: Vec<Second>) {
        if self.samples.len() >= Self::SECONDS {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
        if self.times.len() >= Self::LATELY {
            self.times.pop_front();
        }
        self.times.push_back(times);
    }

    /// The last seconds as one; `None` where the first is not over yet.
    pub(crate) fn lately(&self) -> Option<Sample> {
        let mut lately = self.recent(Self::LATELY, 1).pop()?;
        lately.classes.iter_mut().enumerate().for_each(|(class, sample)| sample.p95 = self.p95(class));
        Some(lately)
    }

    /// The 95th percentile of a class's response times in the last seconds, s; `None` where none was served.
    fn p95(&self, class: usize) -> Option<f32> {
        p95(&self.times.iter().filter_map(|classes| classes.get(class)).collect::<Vec<_>>())
    }

    /// The last `seconds` as at most so many samples, the oldest first: as many neighbours together as it takes.
    pub(crate) fn recent(&self, seconds: usize, samples: usize) -> Vec<Sample> {
        let skipped = self.samples.len().saturating_sub(seconds);
        let wanted: Vec<&Sample> = self.samples.iter().skip(skipped).collect();
        let each = wanted.len().div_ceil(samples.max(1)).max(1);
        // The last is of as many as the others, so that it does not jump about.
        wanted.rchunks(each).rev().map(together).collect()
    }
}

/// Neighbours as one sample.
fn together(samples: &[&Sample]) -> Sample {
    let span: f32 = samples.iter().map(|sample| sample.span).sum();
    let mean = |of: fn(&Sample) -> f32| {
        samples.iter().map(|sample| of(sample) * sample.span).sum::<f32>() / span.max(f32::MIN_POSITIVE)
    };
    let known: Vec<f32> = samples.iter().filter_map(|sample| sample.capacity).collect();
    let classes = samples.first().map_or(0, |sample| sample.classes.len());
    Sample {
        at: samples.last().map_or(0.0, |sample| sample.at),
        span,
        window: mean(|sample| sample.window),
        in_service: mean(|sample| sample.in_service),
        waiting: mean(|sample| sample.waiting),
        capacity: (!known.is_empty()).then(|| known.iter().sum::<f32>() / known.len() as f32),
        finished: mean(|sample| sample.finished),
        unclassified: mean(|sample| sample.unclassified),
        pressure: mean(|sample| sample.pressure),
        classes: (0..classes).map(|class| class_together(samples, class, span)).collect(),
    }
}

fn class_together(samples: &[&Sample], class: usize, span: f32) -> ClassSample {
    let all = || samples.iter().filter_map(|sample| Some((sample.span, sample.classes.get(class)?)));
    let mean = |of: fn(&ClassSample) -> f32| {
        all().map(|(length, sample)| of(sample) * length).sum::<f32>() / span.max(f32::MIN_POSITIVE)
    };
    // What was seen of requests counts by how many there were.
    let served: f32 = all().map(|(length, sample)| sample.served * length).sum();
    let of_served = |of: fn(&ClassSample) -> Option<f32>| {
        let sum: f32 = all().filter_map(|(length, sample)| Some(of(sample)? * sample.served * length)).sum();
        (served > 0.0).then(|| sum / served)
    };
    let waits = |of: fn(&StageWaits) -> f32| {
        let sum: f32 = all()
            .filter_map(|(length, sample)| Some(of(sample.waits.as_ref()?) * sample.served * length))
            .sum();
        sum / served.max(f32::MIN_POSITIVE)
    };
    ClassSample {
        offered: mean(|sample| sample.offered),
        served: mean(|sample| sample.served),
        refused: mean(|sample| sample.refused),
        aborted: mean(|sample| sample.aborted),
        queued: mean(|sample| sample.queued),
        response: of_served(|sample| sample.response),
        p95: all().filter_map(|(_, sample)| sample.p95).reduce(f32::max),
        waits: (served > 0.0).then(|| StageWaits {
            acceptor: waits(|waits| waits.acceptor),
            pending: waits(|waits| waits.pending),
            discard: waits(|waits| waits.discard),
            class: waits(|waits| waits.class),
            server: waits(|waits| waits.server),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(at: u32, served: f32, response: f32) -> Sample {
        let class = ClassSample {
            offered: 2.0 * served,
            served,
            refused: served,
            response: (served > 0.0).then_some(response),
            p95: (served > 0.0).then_some(2.0 * response),
            waits: (served > 0.0).then(|| StageWaits { server: response, ..StageWaits::default() }),
            ..ClassSample::default()
        };
        Sample {
            at: f64::from(at),
            span: 1.0,
            window: 8.0,
            in_service: 4.0,
            waiting: 0.0,
            capacity: None,
            finished: served,
            unclassified: 0.0,
            pressure: 0.0,
            classes: vec![class],
        }
    }

    #[test]
    fn an_hour_is_kept_and_no_more() {
        let mut history = History::default();
        (0..5000).for_each(|at| history.add(second(at, 1.0, 0.1), Vec::new()));
        let all = history.recent(usize::MAX, usize::MAX);
        assert_eq!((all.len(), all[0].at, all[3599].at), (3600, 1400.0, 4999.0));
        let minute = history.recent(60, 3600);
        assert_eq!((minute.len(), minute[0].at), (60, 4940.0));
    }

    #[test]
    fn neighbours_are_put_together_by_what_was_in_them() {
        let mut history = History::default();
        for at in 0..5 {
            history.add(if at % 2 == 0 { second(at, 30.0, 0.1) } else { second(at, 10.0, 0.5) }, Vec::new());
        }
        let pairs = history.recent(5, 3);
        assert_eq!(pairs.iter().map(|sample| sample.span).collect::<Vec<_>>(), [1.0, 2.0, 2.0]);
        let last = &pairs[2];
        assert_eq!((last.at, last.finished), (4.0, 20.0));
        let class = &last.classes[0];
        assert_eq!((class.offered, class.served, class.p95), (40.0, 20.0, Some(1.0)));
        assert!((class.response.unwrap() - 0.2).abs() < 1e-6, "{class:?}");
        assert!((class.waits.unwrap().server - 0.2).abs() < 1e-6);
        let mut silent = History::default();
        (0..4).for_each(|at| silent.add(second(at, 0.0, 0.0), Vec::new()));
        let class = &silent.recent(4, 1)[0].classes[0];
        assert_eq!((class.response, class.p95, class.waits), (None, None, None), "nothing is made up");
    }
}
