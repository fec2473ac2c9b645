//! Waiting for a condition: poll it, with a deadline, instead of sleeping.

use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for something that should happen at once on an idle machine. Long, because
/// it is only spent when the test fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Asks `probe` again and again until it gives a value.
///
/// Panics after `deadline` with `what` was waited for.
///
/// ```
/// let mut turns = 0;
/// let third = testkit::poll_until(testkit::PATIENCE, "a third turn", || {
///     turns += 1;
///     (turns == 3).then_some(turns)
/// });
/// assert_eq!(third, 3);
/// ```
#[track_caller]
pub fn poll_until<T>(deadline: Duration, what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = probe() {
            return value;
        }
        assert!(started.elapsed() < deadline, "waited {deadline:?} in vain for {what}");
        thread::sleep(Duration::from_millis(2));
    }
}
