//! [`Clock`]: the run's time, and the processor time of this thread.

use rustix::time::{ClockId, clock_gettime};
use units::{Span, Time};

/// Monotonic time from the start of the run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    origin: Time,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { origin: read(ClockId::Monotonic) }
    }

    pub(crate) fn now(self) -> Time {
        Time::ZERO + read(ClockId::Monotonic).since(self.origin)
    }
}

/// Processor time that this thread has used.
pub(crate) fn thread_cpu() -> Span {
    read(ClockId::ThreadCPUTime).since(Time::ZERO)
}

/// How long this thread could have run but had no processor: the second figure of `schedstat`
/// (the kernel's Documentation/scheduler/sched-stats.rst). Zero where the kernel does not count.
pub(crate) fn thread_waited() -> Span {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Span::from_nanos(text.split(' ').nth(1).and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

fn read(clock: ClockId) -> Time {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    Time::from_nanos(seconds * 1_000_000_000 + nanos)
}
