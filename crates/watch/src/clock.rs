//! The clocks that are read.

use rustix::time::{ClockId, clock_gettime};
use units::{Span, Time};

/// Time since the machine was started, suspended or not: the clock that `/proc/uptime` shows in hundredths.
pub(crate) fn uptime() -> Span {
    read(ClockId::Boottime)
}

/// The clock that moments of requests are on.
pub(crate) fn monotonic() -> Time {
    Time::ZERO + read(ClockId::Monotonic)
}

/// Processor time of this thread so far.
pub(crate) fn thread() -> Span {
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
