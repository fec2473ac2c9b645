//! What a sample costs, by a program in the kernel and from `/proc`: the paper's table 4.

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use units::Span;

use crate::{Error, Source};

/// What a sample of one group costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cost {
    /// Processor time of one sample in seconds: the median of many.
    pub median: f64,
    /// The least and the most.
    pub range: [f64; 2],
}

/// Samples that are taken to find out.
const SAMPLES: usize = 200;

/// Takes samples and measures the processor time of this thread for each, in the kernel and outside.
///
/// # Errors
/// When the source gives none.
pub fn of<S>(source: &mut impl Source<Sample = S>) -> Result<Cost, Error> {
    // What is needed once is not part of it.
    source.sample()?;
    let mut costs = Vec::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        let before = used();
        source.sample()?;
        costs.push(used().saturating_sub(before).as_secs_f64());
    }
    costs.sort_by(f64::total_cmp);
    Ok(Cost { median: costs[SAMPLES / 2], range: [costs[0], costs[SAMPLES - 1]] })
}

/// Processor time of this thread so far.
fn used() -> Span {
    read(ClockId::ThreadCPUTime)
}

/// Processor time of this process so far.
pub fn process() -> Span {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Span {
    let time = clock_gettime(clock);
    Span::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
