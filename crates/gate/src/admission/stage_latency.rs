//! How long requests spend in the gate and in the server: a histogram per class and stage.

use policy::Waits;
use telemetry::Buckets;
use units::{ClassId, Span, Time};

/// Upper bounds of the buckets in seconds: from a gate that lets everything through to the
/// longest deadline, a little more than a factor of two apart.
pub(crate) const BOUNDS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The stages of [`Stages`], by the name in the metrics.
pub(crate) const STAGES: [&str; 7] = ["acceptor", "pending", "discard", "class", "gate", "server", "total"];

/// One histogram.
#[derive(Debug, Clone, Default)]
pub(crate) struct Histogram {
    /// Observations in each bucket, the last above all bounds.
    pub(crate) buckets: [u64; BOUNDS.len() + 1],
    pub(crate) sum: f64,
}

/// Histograms of every class, in the order of [`STAGES`].
#[derive(Debug)]
pub(crate) struct Stages(Vec<[Histogram; STAGES.len()]>);

impl Stages {
    pub(crate) fn new(classes: usize) -> Self {
        Self(vec![<[Histogram; STAGES.len()]>::default(); classes])
    }

    /// A request of `class` has left the server, for which it had waited that long.
    pub(crate) fn finished(
        &mut self,
        class: ClassId,
        waits: &Waits,
        arrived: Time,
        dispatched: Time,
        finished: Time,
    ) {
        let Some(stages) = self.0.get_mut(class.index()) else { return };
        let spans = [
            waits.acceptor,
            waits.pending,
            waits.discard,
            waits.class,
            dispatched.since(arrived),
            finished.since(dispatched),
            finished.since(arrived),
        ];
        for (stage, span) in stages.iter_mut().zip(spans) {
            stage.observe(span);
        }
    }

    pub(crate) fn of(&self, class: ClassId) -> Option<&[Histogram; STAGES.len()]> {
        self.0.get(class.index())
    }
}

impl Histogram {
    fn observe(&mut self, span: Span) {
        // Most requests pass most stages without a wait.
        if span.is_zero() {
            self.buckets[0] += 1;
            return;
        }
        let seconds = span.as_secs_f64();
        self.buckets[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        self.sum += seconds;
    }

    /// For who reads metrics.
    pub(crate) fn buckets(&self) -> Buckets {
        Buckets { bounds: &BOUNDS, counts: self.buckets.to_vec(), sum: self.sum }
    }
}
