//! What a sample costs, by a program in the kernel and from `/proc`: the paper's table 4.

use serde::Serialize;

pub use crate::clock::process;
use crate::{Error, Source, clock};

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
        let before = clock::thread();
        source.sample()?;
        costs.push(clock::thread().saturating_sub(before).as_secs_f64());
    }
    let costs = stats::order::rising(costs);
    let median = stats::order::upper_rank(&costs, 0.5).unwrap_or_default();
    Ok(Cost { median, range: [costs[0], costs[SAMPLES - 1]] })
}

/// What a sample of one group costs both ways.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Pair {
    /// From `/proc`.
    pub proc: Cost,
    /// By a program in the kernel, if there is one.
    pub ebpf: Option<Cost>,
}

impl Pair {
    /// Measures both; `traced` is `None` where there is no program.
    ///
    /// # Errors
    /// When a source gives no sample.
    pub fn of<S>(
        traced: Option<impl Source<Sample = S>>,
        mut proc: impl Source<Sample = S>,
    ) -> Result<Self, Error> {
        let ebpf = traced.map(|mut traced| of(&mut traced)).transpose()?;
        Ok(Self { proc: of(&mut proc)?, ebpf })
    }

    /// How many times as much `/proc` costs.
    pub fn ratio(self) -> Option<f64> {
        self.ebpf.map(|ebpf| self.proc.median / ebpf.median)
    }
}
