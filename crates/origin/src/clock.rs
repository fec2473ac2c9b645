//! The clock that delays are kept by.

use std::hint;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::{clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::{ClockId, Timespec, clock_gettime};
use units::{Span, Time};

/// The end of a wait is not slept through: a thread that sleeps wakes up some tens of microseconds
/// late, and the delay is to be right to a few.
const SPIN: Span = Span::from_micros(80);

/// How often a waiting worker looks whether the server is stopping.
const LOOK: Span = Span::from_millis(100);

/// Time since some point in the past; never set back.
pub(crate) fn now() -> Time {
    let time = clock_gettime(ClockId::Monotonic);
    // The clock counts up from the machine's start: neither part is negative.
    Time::from_nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

/// Has the kernel end this thread's sleeps when they should end. By default it puts up to 50 us of
/// wake-ups together (`PR_SET_TIMERSLACK` in prctl(2)).
pub(crate) fn wake_precisely() {
    // Where it is refused, sleeps end a little later, which the spinning makes good.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// Waits until `deadline`, or until `stopping` is set.
pub(crate) fn wait_until(deadline: Time, stopping: &AtomicBool) {
    loop {
        let now = now();
        let left = deadline.since(now);
        if left.is_zero() || stopping.load(Ordering::Relaxed) {
            return;
        }
        if left <= SPIN {
            hint::spin_loop();
            continue;
        }
        let wake = (now + left.saturating_sub(SPIN).min(LOOK)).as_nanos();
        let wake = Timespec {
            tv_sec: i64::try_from(wake / 1_000_000_000).unwrap_or(i64::MAX),
            // Below 10^9.
            tv_nsec: (wake % 1_000_000_000) as i64,
        };
        // Ends early when a signal came; the loop sees to the rest.
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_thread_goes_on_before_the_deadline() {
        for wait in [0, 30_000, 90_000, 3_000_000] {
            let deadline = now() + Span::from_nanos(wait);
            wait_until(deadline, &AtomicBool::new(false));
            assert!(now() >= deadline, "{wait}");
        }
    }

    #[test]
    fn a_stopping_server_does_not_wait() {
        let start = now();
        wait_until(start + Span::from_secs(1_000), &AtomicBool::new(true));
        assert!(now().since(start) < Span::from_secs(100));
    }
}
