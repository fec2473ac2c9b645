//! From what was seen to an [`Outcome`].

use super::{ClassOutcome, LatencyOutcome, Outcome, Precision, Tally};
use crate::engine::Seen;
use crate::model::Model;
use crate::statistics::{Estimate, Latencies, Parts};

impl Outcome {
    /// What the parts of a simulation say together; how they came about is for the caller to add.
    pub(crate) fn new(model: &Model, tallies: &[Tally], parts: Parts) -> Self {
        let all = Group { tallies, parts, class: None };
        let processors = f64::from(model.processors);
        Self {
            rejected: all.rejected(),
            latency: all.latency(),
            utilization: all.over_time(|tally| tally.busy / processors),
            throughput: all.throughput(),
            present: all.over_time(|tally| tally.present),
            classes: model
                .classes
                .iter()
                .enumerate()
                .map(|(index, class)| {
                    let group = Group { class: Some(index), ..all };
                    ClassOutcome {
                        name: class.name.clone(),
                        rejected: group.rejected(),
                        latency: group.latency(),
                        throughput: group.throughput(),
                    }
                })
                .collect(),
            replications: 0,
            events: 0,
            events_per_second: 0.0,
            warmup: 0,
            requests: 0,
            elapsed: 0.0,
            precision: Precision::Fixed,
        }
    }
}

/// The requests of one class, or all.
#[derive(Clone, Copy)]
struct Group<'a> {
    tallies: &'a [Tally],
    parts: Parts,
    class: Option<usize>,
}

impl<'a> Group<'a> {
    fn rejected(self) -> Estimate {
        self.ratio(|tally| {
            (self.sum(tally, |seen| seen.rejected as f64), self.sum(tally, |seen| seen.arrived as f64))
        })
    }

    fn throughput(self) -> Estimate {
        self.over_time(|tally| self.sum(tally, |seen| seen.latencies.count() as f64))
    }

    fn over_time(self, amount: impl Fn(&Tally) -> f64) -> Estimate {
        self.ratio(|tally| (amount(tally), tally.elapsed))
    }

    fn latency(self) -> LatencyOutcome {
        let pooled: Vec<Latencies>;
        let latencies: Vec<&Latencies> = match self.class {
            Some(_) => {
                self.tallies.iter().flat_map(|tally| self.seen(tally)).map(|seen| &seen.latencies).collect()
            }
            None => {
                pooled = self.tallies.iter().map(|tally| self.pool(tally)).collect();
                pooled.iter().collect()
            }
        };
        let quantile = |portion| self.parts.quantile(&latencies, portion);
        LatencyOutcome {
            mean: self.ratio(|tally| {
                (
                    self.sum(tally, |seen| seen.latencies.sum()),
                    self.sum(tally, |seen| seen.latencies.count() as f64),
                )
            }),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
        }
    }

    fn pool(self, tally: &Tally) -> Latencies {
        let mut pool = Latencies::default();
        self.seen(tally).iter().for_each(|seen| pool.add(&seen.latencies));
        pool
    }

    fn ratio(self, of: impl Fn(&Tally) -> (f64, f64)) -> Estimate {
        self.parts.ratio(&self.tallies.iter().map(of).collect::<Vec<_>>())
    }

    fn sum(self, tally: &Tally, amount: impl Fn(&Seen) -> f64) -> f64 {
        self.seen(tally).iter().map(amount).sum()
    }

    fn seen(self, tally: &'a Tally) -> &'a [Seen] {
        match self.class {
            Some(class) => tally.classes.get(class..=class).unwrap_or_default(),
            None => &tally.classes,
        }
    }
}
