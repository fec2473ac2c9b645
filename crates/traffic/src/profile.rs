//! [`Profile`]: the rate over time.

use std::sync::Arc;

use units::{Rate, Span};

/// A rate that is constant from step to step. The rate of the last step goes on for ever.
///
/// Arrivals follow it in operational time: the expected number of arrivals up to `t` is the
/// integral of the rate, and a process of rate 1 is mapped through the inverse of that. So the
/// times between arrivals keep their shape within a step and across its edges, and no step
/// begins early or late because of what happened in the one before.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// At least one.
    steps: Arc<[Step]>,
}

/// From when on which rate holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    pub(crate) starts_ns: u64,
    /// Arrivals that are expected before it.
    pub(crate) before: f64,
    /// Per second.
    pub(crate) rate: f64,
}

impl Profile {
    /// Always the same rate.
    pub fn constant(rate: Rate) -> Self {
        Self::steps([(Span::MAX, rate)])
    }

    /// One rate after the other, each held for so long; the last for ever, whatever its span
    /// says. Without steps nothing ever arrives.
    pub fn steps(steps: impl IntoIterator<Item = (Span, Rate)>) -> Self {
        let mut next = Step { starts_ns: 0, before: 0.0, rate: 0.0 };
        let mut steps: Vec<Step> = steps
            .into_iter()
            .map(|(hold, rate)| {
                let step = Step { rate: rate.as_f64(), ..next };
                next.starts_ns = step.starts_ns.saturating_add(hold.as_nanos());
                next.before = step.before + step.rate * hold.as_secs_f64();
                step
            })
            .collect();
        if steps.is_empty() {
            steps.push(next);
        }
        Self { steps: steps.into() }
    }

    pub(crate) fn step(&self, index: usize) -> Option<&Step> {
        self.steps.get(index)
    }
}
