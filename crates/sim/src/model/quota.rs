//! [`Quota`]: a server that may not use its processors all of the time.

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
