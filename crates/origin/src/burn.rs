//! Burning CPU time.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::time::{ClockId, clock_gettime};
use units::Span;

/// Rounds of arithmetic between two looks at the clock: some ten microseconds, so that neither the
/// looks nor the overshoot count.
const ROUNDS: u64 = 10_000;

/// Computes until this thread has been on a CPU for `cost`; time spent waiting for a CPU does not
/// count, so that a page costs the same however many are computed at once. Ends early when
/// `stopping` is set.
pub(crate) fn burn(cost: Span, stopping: &AtomicBool) {
    if cost.is_zero() {
        return;
    }
    let start = thread_cpu_ns();
    let mut state = start;
    while thread_cpu_ns().saturating_sub(start) < cost.as_nanos() && !stopping.load(Ordering::Relaxed) {
        for round in 0..ROUNDS {
            state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round));
        }
    }
}

/// CPU time of the calling thread, in nanoseconds.
fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The clock counts up from the thread's start: neither part is negative.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_is_charged_what_was_asked() {
        let before = thread_cpu_ns();
        burn(Span::from_millis(20), &AtomicBool::new(false));
        assert!(thread_cpu_ns() - before >= 20_000_000);
    }

    #[test]
    fn a_stopping_server_does_not_wait_for_its_pages() {
        let before = thread_cpu_ns();
        burn(Span::from_secs(1_000), &AtomicBool::new(true));
        assert!(thread_cpu_ns() - before < 1_000_000_000);
    }
}
