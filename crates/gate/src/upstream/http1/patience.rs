//! [`Patience`]: how long a response is waited for.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::task::coop::unconstrained;
use tokio::time::{Instant, Sleep, sleep};

/// The timer of a connection, kept for the next request: one that is only put off costs much less than
/// one that is begun and ended for each. When it ends while the connection is idle it wakes the task of
/// the last request, if there still is one, for nothing.
#[derive(Debug, Default)]
pub(super) struct Patience(Option<Pin<Box<Sleep>>>);

impl Patience {
    /// What comes of `what`; none if it takes longer than this. It is not taken over: its room would be twice as large.
    pub(super) async fn within<T>(
        &mut self,
        longest: Duration,
        mut what: Pin<&mut impl Future<Output = T>>,
    ) -> Option<T> {
        let mut waits = false;
        poll_fn(|cx| {
            if let Poll::Ready(done) = what.as_mut().poll(cx) {
                return Poll::Ready(Some(done));
            }
            let timer = self.0.get_or_insert_with(|| Box::pin(sleep(longest)));
            if !waits {
                waits = true;
                timer.as_mut().reset(Instant::now() + longest);
            }
            // A task that has done much in its turn would be told that it is not time yet.
            pin!(unconstrained(timer.as_mut())).poll(cx).map(|()| None)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn it_ends_and_is_as_long_the_next_time() {
        let (short, long) = (Duration::from_millis(5), Duration::from_secs(60));
        let mut patience = Patience::default();
        assert_eq!(patience.within(short, pin!(ready(1))).await, Some(1));
        for _ in 0..3 {
            assert_eq!(patience.within(short, pin!(pending::<()>())).await, None);
            let late = pin!(sleep(short * 4));
            assert_eq!(patience.within(long, late).await, Some(()), "from now on, not from the last time");
        }
    }
}
