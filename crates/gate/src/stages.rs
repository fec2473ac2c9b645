//! How long requests spend in the gate and in the server: a histogram per class and stage.

use units::{ClassId, Span, Time};

/// Upper bounds of the buckets in seconds: from a gate that lets everything through to the
/// longest deadline, a little more than a factor of two apart.
pub(crate) const BOUNDS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The stages of [`Stages`], by the name in the metrics.
pub(crate) const STAGES: [&str; 3] = ["gate", "server", "total"];

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

    /// A request of `class` has left the server.
    pub(crate) fn finished(&mut self, class: ClassId, arrived: Time, dispatched: Time, finished: Time) {
        let Some([gate, server, total]) = self.0.get_mut(class.index()) else { return };
        gate.observe(dispatched.since(arrived));
        server.observe(finished.since(dispatched));
        total.observe(finished.since(arrived));
    }

    pub(crate) fn of(&self, class: ClassId) -> Option<&[Histogram; STAGES.len()]> {
        self.0.get(class.index())
    }
}

impl Histogram {
    fn observe(&mut self, span: Span) {
        let seconds = span.as_secs_f64();
        self.buckets[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        self.sum += seconds;
    }

    pub(crate) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
}
