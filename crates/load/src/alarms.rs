//! [`Alarms`]: waking tasks at a point in time, to some tens of microseconds.
//!
//! tokio's timers count whole milliseconds, which alone would use up the lag that a valid run
//! is allowed; so arrivals and the ends of pauses hang on one timerfd. Timeouts of requests,
//! which are seconds long and mostly cancelled, stay with tokio.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::task::{Poll, Waker};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::unix::AsyncFd;
use units::Time;

use crate::clock::Clock;

pub(crate) struct Alarms {
    clock: Clock,
    timer: AsyncFd<OwnedFd>,
    /// What the timer is set to.
    armed: Cell<Time>,
    sleepers: RefCell<BinaryHeap<Reverse<Sleeper>>>,
}

struct Sleeper {
    until: Time,
    waker: Waker,
}

impl Alarms {
    /// Must be called inside a tokio runtime.
    pub(crate) fn new(clock: Clock) -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        #[allow(deprecated, reason = "unsound for types that change their descriptor; OwnedFd does not")]
        let timer = AsyncFd::new(timer)?;
        Ok(Self { clock, timer, armed: Cell::new(Time::NEVER), sleepers: RefCell::default() })
    }

    /// Waits until `time`; not at all when it has passed. Needs [`Alarms::run`] beside it.
    pub(crate) async fn until(&self, time: Time) {
        let mut waiting = false;
        poll_fn(|context| {
            if self.clock.now() >= time {
                return Poll::Ready(());
            }
            // The alarm that is set wakes the task, if not this future; that is enough.
            if !waiting {
                waiting = true;
                self.add(Sleeper { until: time, waker: context.waker().clone() });
            }
            Poll::Pending
        })
        .await;
    }

    /// Wakes the sleepers, until the timer fails.
    pub(crate) async fn run(&self) -> io::Error {
        loop {
            let mut ready = match self.timer.readable().await {
                Ok(ready) => ready,
                Err(error) => return error,
            };
            let mut expirations = [0; 8];
            match rustix::io::read(&self.timer, &mut expirations) {
                Ok(_) | Err(rustix::io::Errno::AGAIN) => ready.clear_ready(),
                Err(error) => return error.into(),
            }
            self.armed.set(Time::NEVER);
            let now = self.clock.now();
            let mut sleepers = self.sleepers.borrow_mut();
            while sleepers.peek().is_some_and(|Reverse(sleeper)| sleeper.until <= now) {
                if let Some(Reverse(sleeper)) = sleepers.pop() {
                    sleeper.waker.wake();
                }
            }
            if let Some(Reverse(sleeper)) = sleepers.peek() {
                self.arm(sleeper.until);
            }
        }
    }

    fn add(&self, sleeper: Sleeper) {
        if sleeper.until < self.armed.get() {
            self.arm(sleeper.until);
        }
        self.sleepers.borrow_mut().push(Reverse(sleeper));
    }

    fn arm(&self, time: Time) {
        let once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let setting = Itimerspec { it_interval: once, it_value: self.clock.monotonic(time) };
        // It can only fail for a descriptor or a setting that is none, and these are.
        if timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting).is_ok() {
            self.armed.set(time);
        }
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
