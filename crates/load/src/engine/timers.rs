//! [`Timers`]: tasks that wait for a time, and requests that may not take longer than one.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use units::Time;

#[derive(Debug, Default)]
pub(crate) struct Timers {
    sleepers: RefCell<BinaryHeap<Reverse<Sleeper>>>,
    /// When timers were last seen to.
    fired: Cell<Option<Time>>,
}

#[derive(Debug)]
struct Sleeper {
    until: Time,
    whom: Whom,
}

#[derive(Debug)]
enum Whom {
    Task(Waker),
    Limit(Rc<Limit>),
}

/// The time that something may take. A limit is used again and again, and is in the heap once:
/// when its time comes early because the limit has moved, it is put back.
#[derive(Debug, Default)]
pub(crate) struct Limit {
    at: Cell<Option<Time>>,
    queued: Cell<Option<Time>>,
    waker: RefCell<Option<Waker>>,
}

/// The limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Elapsed;

impl Timers {
    /// The next time at which a task is to be woken; [`Time::NEVER`] when no task waits.
    pub(super) fn next(&self) -> Time {
        self.sleepers.borrow().peek().map_or(Time::NEVER, |Reverse(sleeper)| sleeper.until)
    }

    /// Wakes the tasks that were to be woken by `now`.
    pub(super) fn fire(&self, now: Time) {
        self.fired.set(Some(now));
        let mut sleepers = self.sleepers.borrow_mut();
        while sleepers.peek().is_some_and(|Reverse(sleeper)| sleeper.until <= now) {
            let Some(Reverse(sleeper)) = sleepers.pop() else { break };
            match sleeper.whom {
                Whom::Task(waker) => waker.wake(),
                Whom::Limit(limit) => match limit.at.get() {
                    Some(at) if at > now => {
                        limit.queued.set(Some(at));
                        sleepers.push(Reverse(Sleeper { until: at, whom: Whom::Limit(limit) }));
                    }
                    at => {
                        limit.queued.set(None);
                        if let Some(waker) = at.and(limit.waker.take()) {
                            waker.wake();
                        }
                    }
                },
            }
        }
    }

    /// Sleeps until `time`, at least until the reactor's next turn.
    pub(crate) async fn until(&self, time: Time) {
        let mut waiting = false;
        poll_fn(|context| {
            if waiting {
                // A task is also woken by what else it waits for.
                return if self.fired.get() >= Some(time) { Poll::Ready(()) } else { Poll::Pending };
            }
            waiting = true;
            let whom = Whom::Task(context.waker().clone());
            self.sleepers.borrow_mut().push(Reverse(Sleeper { until: time, whom }));
            Poll::Pending
        })
        .await;
    }

    /// Has the task of `context` woken at `time`.
    pub(crate) fn wake_at(&self, time: Time, context: &Context<'_>) {
        let whom = Whom::Task(context.waker().clone());
        self.sleepers.borrow_mut().push(Reverse(Sleeper { until: time, whom }));
    }

    /// Awaits `work`, but not beyond `at`.
    ///
    /// # Errors
    /// When it was not done by then.
    pub(crate) async fn within<T>(
        &self,
        limit: &Rc<Limit>,
        at: Time,
        now: impl Fn() -> Time,
        work: impl Future<Output = T>,
    ) -> Result<T, Elapsed> {
        limit.at.set(Some(at));
        if limit.queued.get().is_none_or(|queued| queued > at) {
            limit.queued.set(Some(at));
            let whom = Whom::Limit(Rc::clone(limit));
            self.sleepers.borrow_mut().push(Reverse(Sleeper { until: at, whom }));
        }
        let mut work = pin!(work);
        let result = poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(Ok(done));
            }
            if now() >= at {
                return Poll::Ready(Err(Elapsed));
            }
            let mut waker = limit.waker.borrow_mut();
            if !waker.as_ref().is_some_and(|stored| stored.will_wake(context.waker())) {
                *waker = Some(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
        limit.at.set(None);
        result
    }
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        self.until == other.until
    }
}

impl Eq for Sleeper {}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.until.cmp(&other.until)
    }
}
