//! From what was seen to an [`Outcome`].

use std::borrow::Cow;

use stats::Dependence;
use stats::LogHistogram;
use stats::MeanEstimate;

use super::figures::{ClassOutcome, GateClassOutcome, LatencyOutcome, Outcome, Precision, TierOutcome};
use super::tally::PartTotals;
use crate::model::{Model, Tier};
use crate::subject::{ModelGate, Subject};
use crate::watch::{ClassCounts, TierUse};

impl Outcome {
    /// What the parts of a simulation say together; how they came about is for the caller to add. Requests in this
    /// share of a part may depend on one another.
    pub(crate) fn new(subject: Subject<'_>, tallies: &[PartTotals], parts: Dependence, memory: f64) -> Self {
        let Subject { model, gate, .. } = subject;
        let by_class = match gate {
            None => Cow::Borrowed(tallies),
            Some(_) => folded(tallies, |seen| subject.by_class(seen)).into(),
        };
        let all =
            Group { tallies: &by_class, parts, class: None, memory: subject.may_reject().then_some(memory) };
        let processors = model.all_usable_processors();
        Self {
            rejected: all.rejected(),
            rejections: by_class.iter().map(|tally| all.sum(tally, |seen| seen.rejected as f64)).sum::<f64>()
                as u64,
            lost: (model.retries.is_some() || model.patience.is_some()).then(|| all.lost()),
            given_up: model.patience.map(|_| all.given_up()),
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
            tiers: all.tiers(model),
            gate: gate.map_or_else(Vec::new, |gate| {
                (0..gate.policy.classes.len())
                    .map(|index| GateClassOutcome::new(subject, gate, index, tallies, parts, memory))
                    .collect()
            }),
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

impl GateClassOutcome {
    fn new(
        subject: Subject<'_>,
        gate: &ModelGate,
        index: usize,
        tallies: &[PartTotals],
        parts: Dependence,
        memory: f64,
    ) -> Self {
        let with_slow_clients = subject.model.slow_clients.is_some();
        let folded = folded(tallies, |seen| gate.of_class(index, seen).into());
        let [all, server, door] = [0, 1, 2].map(|class| Group {
            tallies: &folded,
            parts,
            class: Some(class),
            memory: Some(memory),
        });
        let share = |amount: &dyn Fn(&PartTotals) -> f64| {
            all.events(|tally| (amount(tally), all.sum(tally, |seen| seen.arrived as f64)))
        };
        let rejected = |group: Group<'_>, tally: &PartTotals| group.sum(tally, |seen| seen.rejected as f64);
        Self {
            name: gate.names.get(index).cloned().unwrap_or_else(|| index.to_string()),
            served: share(&|tally| all.sum(tally, |seen| seen.latencies.count() as f64)),
            refused: share(&|tally| rejected(all, tally) - rejected(server, tally) - rejected(door, tally)),
            rejected: share(&|tally| rejected(server, tally)),
            unaccepted: with_slow_clients.then(|| share(&|tally| rejected(door, tally))),
            turned_away: all.rejected(),
            latency: all.latency(),
            throughput: all.throughput(),
        }
    }
}

/// The same parts, with their classes put together by `fold`.
fn folded(tallies: &[PartTotals], fold: impl Fn(&[ClassCounts]) -> Vec<ClassCounts>) -> Vec<PartTotals> {
    tallies
        .iter()
        .map(|tally| PartTotals { classes: fold(&tally.classes), tiers: tally.tiers.clone(), ..*tally })
        .collect()
}

/// The requests of one class, or all.
#[derive(Clone, Copy)]
struct Group<'a> {
    tallies: &'a [PartTotals],
    parts: Dependence,
    class: Option<usize>,
    /// Requests in this share of a part may depend on one another; `None` where there is nothing that would reject one.
    memory: Option<f64>,
}

impl<'a> Group<'a> {
    fn rejected(self) -> MeanEstimate {
        self.events(|tally| {
            (self.sum(tally, |seen| seen.rejected as f64), self.sum(tally, |seen| seen.arrived as f64))
        })
    }

    /// Of the requests that came to an end, served or given up.
    fn lost(self) -> MeanEstimate {
        self.events(|tally| {
            let lost = self.sum(tally, |seen| seen.lost as f64);
            (lost, lost + self.sum(tally, |seen| seen.latencies.count() as f64))
        })
    }

    /// Of the attempts that were rejected, answered in time, or too late.
    fn given_up(self) -> MeanEstimate {
        self.events(|tally| {
            let given_up = self.sum(tally, |seen| seen.too_late as f64);
            let others = self.sum(tally, |seen| seen.rejected as f64 + seen.latencies.count() as f64);
            (given_up, given_up + others)
        })
    }

    fn throughput(self) -> MeanEstimate {
        self.over_time(|tally| self.sum(tally, |seen| seen.latencies.count() as f64))
    }

    fn tiers(self, model: &Model) -> Vec<TierOutcome> {
        let outcome = |(at, tier): (usize, &Tier)| {
            let of = |amount: fn(TierUse) -> f64, most: u32| {
                let used =
                    move |tally: &PartTotals| tally.tiers.get(at).map_or(f64::NAN, |used| amount(*used));
                self.over_time(move |tally| used(tally) / f64::from(most))
            };
            TierOutcome {
                name: tier.name.clone(),
                utilization: of(|used| used.busy, tier.processors),
                threads: of(|used| used.held, tier.threads),
                waiting: of(|used| used.waiting, 1),
            }
        };
        model.tiers.iter().enumerate().map(outcome).collect()
    }

    fn over_time(self, amount: impl Fn(&PartTotals) -> f64) -> MeanEstimate {
        self.ratio(|tally| (amount(tally), tally.elapsed))
    }

    fn latency(self) -> LatencyOutcome {
        let pooled: Vec<LogHistogram>;
        let latencies: Vec<&LogHistogram> = match self.class {
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
            p95: quantile(0.95),
            p99: quantile(0.99),
            p999: quantile(0.999),
        }
    }

    fn pool(self, tally: &PartTotals) -> LogHistogram {
        let mut pool = LogHistogram::default();
        self.seen(tally).iter().for_each(|seen| pool.add(&seen.latencies));
        pool
    }

    fn ratio(self, of: impl Fn(&PartTotals) -> (f64, f64)) -> MeanEstimate {
        self.parts.ratio(&self.tallies.iter().map(of).collect::<Vec<_>>())
    }

    fn events(self, of: impl Fn(&PartTotals) -> (f64, f64)) -> MeanEstimate {
        let parts: Vec<(f64, f64)> = self.tallies.iter().map(of).collect();
        match self.memory {
            Some(memory) if parts.iter().all(|(events, _)| *events == 0.0) => {
                Dependence::none_seen(&parts, memory)
            }
            _ => self.parts.events(&parts),
        }
    }

    fn sum(self, tally: &PartTotals, amount: impl Fn(&ClassCounts) -> f64) -> f64 {
        self.seen(tally).iter().map(amount).sum()
    }

    fn seen(self, tally: &'a PartTotals) -> &'a [ClassCounts] {
        match self.class {
            Some(class) => tally.classes.get(class..=class).unwrap_or_default(),
            None => &tally.classes,
        }
    }
}
