//! [`Quota`]: a server that may not use its processors all of the time, and [`Limit`]: how people write it.

use std::str::FromStr;

/// Processor time that a server has in each period, after which it stands until the next: what cgroup v2's `cpu.max` sets,
/// as with the limit of a container (kernel, `kernel/sched/fair.c`, CFS bandwidth control; Turner, Rao and Rao, "CPU
/// bandwidth control for CFS", 2010).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quota {
    /// Processors that it may use on average: processor time in each period, over the period.
    pub processors: f64,
    /// How long a period is, in seconds.
    pub period: f64,
}

impl Quota {
    /// What Linux, Docker and Kubernetes take, in seconds.
    pub const PERIOD: f64 = 0.1;

    /// So many processors in the usual period.
    pub(crate) fn of(processors: f64) -> Self {
        Self { processors, period: Self::PERIOD }
    }
}

/// Processors that a quota leaves; `None` when there is no quota.
///
/// ```
/// use sim::Limit;
/// assert_eq!("0.5".parse(), Ok(Limit(Some(0.5))));
/// assert_eq!("none".parse(), Ok(Limit(None)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit(pub Option<f64>);

/// A text that is not a [`Limit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a number of processors, such as 0.5, or \"none\" for all of them")]
pub struct LimitError;

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        if text == "none" {
            return Ok(Self(None));
        }
        text.parse().map(|processors| Self(Some(processors))).map_err(|_| LimitError)
    }
}
