//! [`Reactor`]: sockets and timers of one thread, and its two ways to the kernel.
//!
//! The ring ([`Ring`]) hands requests to the kernel and fetches what came of them in batches,
//! with one system call for many; where the kernel refuses it, [`Epoll`] does the same with a
//! call for each. Above both stands [`Socket`](crate::engine::socket::Socket), which tasks await.

use std::cell::{Cell, RefCell};
use std::io;
use std::num::NonZeroU64;
use std::task::Poll;

use bytes::Bytes;
use slab::Slab;
use units::{Span, Time};

use crate::engine::backend::Backend;
use crate::engine::batcher::{Batcher, Batching};
use crate::engine::clock::{Clock, thread_cpu};
use crate::engine::epoll::{self, Epoll};
use crate::engine::ring::Ring;
use crate::engine::slot::{Arrived, Slot, Want};
use crate::engine::timers::Timers;
use crate::engine::wait::Wait;
use crate::engine::yields::Yields;

/// A user who wants to end the run is heard at least so often.
const MAX_WAIT: Span = Span::from_millis(50);

/// The last part of a wait for a timer, which is not slept: to wake up takes the kernel, and a
/// hypervisor below it, tens of microseconds.
const AWAKE_BEFORE_TIMER: Span = Span::from_micros(50);

#[derive(Debug)]
pub(crate) struct Reactor {
    pub(crate) clock: Clock,
    pub(crate) timers: Timers,
    now: Cell<Time>,
    fetched: Cell<Time>,
    /// How long it was awake only to be on time.
    spun: Cell<Span>,
    /// `None` for a thread that is as ordinary as others.
    yields: Cell<Option<Yields>>,
    sockets: RefCell<Sockets>,
    /// Requests that have ended since the turn before.
    answered: Cell<u64>,
    /// `None` where everything is fetched at once.
    batcher: RefCell<Option<Batcher>>,
    batching: Cell<Batching>,
}

#[derive(Debug)]
struct Sockets {
    // Dropped first: what is still queued names descriptors and memory of the slots.
    kernel: Kernel,
    slots: Slab<Slot>,
}

/// The way to the kernel.
#[derive(Debug)]
pub(super) enum Kernel {
    Ring(Box<Ring>),
    Epoll(Epoll),
}

impl Kernel {
    /// Whether a turn would do or bring something.
    fn has_news(&mut self) -> bool {
        match self {
            Self::Ring(ring) => ring.has_news(),
            Self::Epoll(epoll) => epoll.has_news(),
        }
    }
}

impl Reactor {
    /// # Errors
    /// When the kernel offers none of the ways that `backend` allows.
    pub(crate) fn new(clock: Clock, backend: Backend) -> io::Result<Self> {
        // The kernel rounds the ends of sleeps up by 50 us otherwise (prctl(2)).
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let epoll = || Epoll::new().map(Kernel::Epoll);
        let ring = || Ring::new().map(|ring| Kernel::Ring(Box::new(ring)));
        let kernel = match backend {
            Backend::Auto => ring().or_else(|_| epoll())?,
            Backend::IoUring => ring()?,
            Backend::Epoll => epoll()?,
        };
        Ok(Self {
            clock,
            timers: Timers::default(),
            now: Cell::new(clock.now()),
            fetched: Cell::new(clock.now()),
            spun: Cell::new(Span::ZERO),
            yields: Cell::new(tui::goes_first().then(|| Yields::new(clock.now(), thread_cpu()))),
            answered: Cell::new(0),
            sockets: RefCell::new(Sockets { slots: Slab::new(), kernel }),
            batcher: RefCell::new(None),
            batching: Cell::new(Batching::NONE),
        })
    }

    /// The time, at most a few requests ago.
    pub(crate) fn now(&self) -> Time {
        self.now.get()
    }

    /// Looks at the clock after something that took time.
    pub(crate) fn refresh(&self) -> Time {
        self.now.set(self.clock.now());
        self.now.get()
    }

    /// From now on so many requests are under way, and the client that asks next waits for an answer:
    /// completions may be fetched in batches.
    pub(crate) fn batch(&self, under_way: u32) {
        *self.batcher.borrow_mut() = Some(Batcher::new(under_way));
    }

    /// A request has ended.
    pub(crate) fn answered(&self) {
        self.answered.set(self.answered.get() + 1);
    }

    /// How long the thread has been awake with nothing to do, because a timer was about to fire. To the
    /// kernel it used a processor.
    pub(crate) fn spun(&self) -> Span {
        self.spun.get()
    }

    /// Connections that are open or being opened.
    pub(crate) fn open_sockets(&self) -> usize {
        self.sockets.borrow().slots.len()
    }

    /// Gives the kernel what is to be done, waits until something has happened or a timer is
    /// due, and wakes whom it concerns.
    pub(super) fn turn(&self) -> io::Result<()> {
        let due = self.timers.next();
        let mut sockets = self.sockets.borrow_mut();
        let sockets = &mut *sockets;
        let left = due.since(self.refresh());
        let longest = left.saturating_sub(AWAKE_BEFORE_TIMER).min(MAX_WAIT);
        if longest.is_zero() && !left.is_zero() {
            self.stay_awake(&mut sockets.kernel, due);
        }
        let wait = Wait { longest, batching: self.batching.get() };
        match &mut sockets.kernel {
            Kernel::Ring(ring) => ring.turn(&mut sockets.slots, wait)?,
            Kernel::Epoll(epoll) => epoll.turn(&mut sockets.slots, wait.longest)?,
        }
        self.fetched.set(self.refresh());
        if let Some(batcher) = &mut *self.batcher.borrow_mut() {
            self.batching.set(batcher.answered(self.now(), self.answered.take()));
        }
        self.timers.fire(self.now());
        Ok(())
    }

    /// Returns when it is `due`, or when there is something for the kernel or from it, or after others have had their turn.
    fn stay_awake(&self, kernel: &mut Kernel, due: Time) {
        let began = self.now();
        if kernel.has_news() {
            return;
        }
        if self.has_to_yield() {
            Yields::make();
            return;
        }
        while !kernel.has_news() && self.refresh() < due {
            std::hint::spin_loop();
        }
        // What is longer was not spent here.
        let spun = self.now().since(began).min(AWAKE_BEFORE_TIMER);
        self.spun.set(self.spun.get() + spun);
    }

    fn has_to_yield(&self) -> bool {
        let mut yields = self.yields.get();
        let are_due = yields.as_mut().is_some_and(|yields| yields.are_due(self.now(), thread_cpu));
        self.yields.set(yields);
        are_due
    }

    pub(super) fn insert(&self, slot: Slot) -> io::Result<usize> {
        let mut sockets = self.sockets.borrow_mut();
        let sockets = &mut *sockets;
        let entry = sockets.slots.vacant_entry();
        let key = entry.key();
        if let Kernel::Epoll(epoll) = &sockets.kernel {
            epoll.register(key, &slot)?;
        }
        entry.insert(slot);
        Ok(key)
    }

    pub(super) fn with<R>(&self, key: usize, act: impl FnOnce(&mut Slot, &mut Kernel) -> R) -> Option<R> {
        let mut sockets = self.sockets.borrow_mut();
        let Sockets { slots, kernel } = &mut *sockets;
        slots.get_mut(key).map(|slot| act(slot, kernel))
    }

    pub(super) fn send(&self, key: usize, piece: Bytes) {
        let flushed = self.with(key, |slot, kernel| {
            slot.outgoing.push_back(piece);
            match kernel {
                Kernel::Ring(ring) => ring.transmit(key, slot),
                Kernel::Epoll(_) => {
                    epoll::transmit(slot);
                    false
                }
            }
        });
        if flushed == Some(true) {
            self.refresh();
        }
    }

    /// Bytes that have arrived; `None` when there will be no more.
    pub(super) fn receive<R>(
        &self,
        key: usize,
        want: Want,
        take: impl FnOnce(Time, Arrived<'_>) -> R,
    ) -> Poll<io::Result<Option<R>>> {
        let mut sockets = self.sockets.borrow_mut();
        let Sockets { slots, kernel } = &mut *sockets;
        let Some(slot) = slots.get_mut(key) else { return Poll::Ready(Ok(None)) };
        match kernel {
            Kernel::Ring(ring) => ring.receive(key, slot, want, |arrived| take(self.fetched.get(), arrived)),
            // Each read takes a while; a stamp for all that were ready would be too early.
            Kernel::Epoll(epoll) => epoll.receive(slot, want, |arrived| take(self.refresh(), arrived)),
        }
    }

    pub(super) fn release(&self, key: usize) {
        let mut sockets = self.sockets.borrow_mut();
        let Sockets { slots, kernel } = &mut *sockets;
        match kernel {
            Kernel::Ring(ring) => ring.release(key, slots),
            Kernel::Epoll(_) => drop(slots.try_remove(key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::rc::Rc;

    use super::*;
    use crate::engine::runtime::Runtime;

    /// How often a thread goes to sleep that keeps timers between which there is no time for that.
    fn sleeps(backend: Backend) -> u64 {
        let count = || {
            let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            line.unwrap().trim().parse::<u64>().unwrap()
        };
        let reactor = Rc::new(Reactor::new(Clock::start(), backend).unwrap());
        let runtime = Runtime::new(Rc::clone(&reactor));
        let before = count();
        let main = async move {
            let mut due = reactor.refresh();
            for _ in 0..10_000 {
                due += Span::from_micros(20);
                reactor.timers.until(due).await;
            }
        };
        runtime.run(main, || false).unwrap();
        count() - before
    }

    #[test]
    fn a_thread_that_goes_first_lets_others_run_in_between() {
        for backend in [Backend::Auto, Backend::Epoll] {
            let first = std::thread::spawn(move || {
                let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
                let mut chrt = Command::new("chrt");
                chrt.args(["--fifo", "--pid", "1", &thread]).stdout(Stdio::null()).stderr(Stdio::null());
                let may_go_first = chrt.status().is_ok_and(|status| status.success());
                may_go_first.then(|| sleeps(backend))
            });
            match first.join().unwrap() {
                // Some 200, where all timers are kept.
                Some(sleeps) => assert!(sleeps > 10, "{backend:?}: {sleeps} times"),
                None => {
                    testkit::skip_here(
                        &"this user may not run anything with a real-time priority (chrt --fifo 1)",
                    );
                }
            }
        }
    }

    fn check(backend: Backend) {
        let reactor = Rc::new(Reactor::new(Clock::start(), backend).unwrap());
        let runtime = Runtime::new(Rc::clone(&reactor));
        let sleeper = Rc::clone(&reactor);
        let gaps = [20, 40, 1000, 30];
        let main = async move {
            for micros in gaps {
                let due = sleeper.refresh() + Span::from_micros(micros);
                sleeper.timers.until(due).await;
                assert!(sleeper.now() >= due, "{micros} us");
            }
        };
        runtime.run(main, || false).unwrap();
        let spun = reactor.spun();
        assert!(!spun.is_zero() && spun <= AWAKE_BEFORE_TIMER * gaps.len() as u64, "{spun:?}");
    }

    #[test]
    fn the_last_moments_before_a_timer_fires_are_not_slept_and_are_told_apart() {
        check(Backend::Auto);
        check(Backend::Epoll);
    }
}
