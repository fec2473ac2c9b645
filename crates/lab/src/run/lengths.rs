//! How long tests should take.

use std::time::Duration;

use crate::spec::experiment::Spec;
use crate::spec::method::Capacity;

/// Time that a test takes besides warm-up and duration, until the first one has shown it: starting
/// and stopping programs, waiting for rest, following the last sessions to their end.
pub(super) const AROUND: Duration = Duration::from_secs(3);

/// What most searches take.
const SEARCH: Duration = Duration::from_secs(40);

/// What the search for the capacity takes that levels multiply.
pub(super) fn capacity(spec: &Spec) -> Duration {
    match &spec.capacity {
        Capacity::ClosedLoop { warmup, duration, .. } => Duration::from(*warmup + *duration) + AROUND / 3,
        Capacity::Stated(_) | Capacity::Searched(_) => Duration::ZERO,
    }
}

/// What a test takes.
pub(super) fn test(spec: &Spec) -> Duration {
    let measuring = match &spec.capacity {
        Capacity::Searched(search) => match (&search.crowd, &search.ramp) {
            (Some(crowd), _) => Duration::from(crowd.warmup.unwrap_or_default() + crowd.hold) + AROUND,
            (None, Some(ramp)) => Duration::from(ramp.longest_hold() * ramp.len() as u64) + AROUND,
            (None, None) => SEARCH,
        },
        _ => Duration::from(spec.test.warmup + spec.test.duration),
    };
    measuring + predicting(spec) + AROUND
}

fn predicting(spec: &Spec) -> Duration {
    let Some(predicted) = &spec.prediction else { return Duration::ZERO };
    // With the two that the simulator is fitted to; each is simulated then.
    let runs = u32::try_from(predicted.loads.len() + 2).unwrap_or(u32::MAX);
    (Duration::from(predicted.duration) + AROUND).saturating_mul(runs)
}
