//! Leaving connections to the server for as long as there are places for all: what its processes need to accept them is prepared here,
//! and it is seen to that none stays in the kernel's queue.

use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use handoff::memory::{READY, SLOTS};
use handoff::slot::State;
use handoff::tokens::Strangers;
use policy::Mode;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::time::timeout;
use units::Span;

use super::attached::Attached;
use super::connection::line;
use super::group::Group;
use super::process::Process;
use super::served::{Prepared, Served};
use crate::admission::decision::Caller;

impl Attached {
    /// How often it is looked at.
    pub(super) const LOOK: Duration = Duration::from_millis(100);

    /// Whether processes may accept connections themselves: looked at now and then.
    pub(super) fn weigh_calm(&self) {
        let is_over = self.calm.not_before.get().is_none_or(|until| until <= Instant::now());
        let mode = self.proxy.admission().driver.borrow().policy().config().mode;
        let enforces = mode == Mode::Enforce;
        let may_be = is_over && enforces && !self.proxy.is_draining();
        let places = &self.memory().places;
        let is_any_hungry = self.groups.borrow().iter().any(|group| group.is_hungry());
        let is_calm = may_be && self.published.get() > 0 && !places.is_waited_for() && !is_any_hungry;
        let begins = is_calm && !places.are_calm();
        if is_calm {
            self.prepare();
        }
        if is_calm != places.are_calm() {
            places.set_calm(is_calm);
        }
        if begins {
            // Those that have nothing to do see it only when they are woken.
            let processes = self.processes.borrow();
            let many = processes.values().filter(|process| process.words().has_many());
            let asleep = many.filter(|process| process.is_willing() && !process.words().accepts());
            asleep.for_each(|process| process.call());
        }
        self.turn();
    }

    /// Processes may have begun to accept connections themselves, or no longer do.
    pub(super) fn turn(&self) {
        self.groups.borrow().iter().for_each(|group| group.turned.notify_waiters());
    }

    /// Once a second: what processes are told of sessions, and whether what they accept is for them.
    pub(super) fn recount_calm(&self) {
        /// Of fewer it is not known.
        const ENOUGH: u32 = 16;
        /// They speak what is not read here, or ask what is not theirs to begin.
        const LONG: Duration = Duration::from_secs(10);
        let calm = &self.calm;
        let (begun, passed_on, strangers) = (calm.begun.take(), calm.passed_on.take(), calm.strangers.take());
        if passed_on >= ENOUGH && passed_on > begun {
            calm.ends_for(LONG);
        }
        if strangers >= ENOUGH {
            calm.ends();
        }
        self.tell_of_sessions();
        let proxy = &self.proxy;
        let tables = [&proxy.overrides, &proxy.raised, &proxy.found];
        let marked: HashSet<u64> = tables.into_iter().flat_map(|table| table.sessions()).collect();
        self.memory().tokens.mark_only(marked.into_iter());
    }

    /// Tells the processes what follows from the configuration, and which tokens are to be renewed by now.
    fn tell_of_sessions(&self) {
        let (config, now) = (self.proxy.config(), self.proxy.clock.last());
        let session = &config.settings.session;
        let (tokens, limits) = (&self.memory().tokens, &session.limits);
        let before = |span: Span| now.as_nanos().saturating_sub(span.as_nanos());
        tokens.set_since(before(limits.absolute), before(limits.renewal()));
        let is_new = self.calm.config.borrow().as_ref().is_none_or(|known| !Rc::ptr_eq(known, &config));
        let strangers = if !config.settings.has_sessions() {
            Strangers::NoSession
        } else if config.settings.waiting_room.is_some()
            || session.has_exceptions()
            || self.proxy.found.is_crowded()
        {
            Strangers::Asked
        } else {
            Strangers::Prepared
        };
        if is_new || self.calm.told.get() != Some(strangers) {
            tokens.set(strangers, session.cookie.as_bytes(), config.sessions.key_ids());
            tokens.look_at_heads(config.settings.rules.can_change());
            self.calm.told.set(Some(strangers));
            self.calm.config.replace(Some(Rc::clone(&config)));
        }
        // Who is told of one is to have it for as long as others have theirs.
        let age = Duration::from_nanos((limits.renewal() / 2).as_nanos());
        let is_old = self.calm.made.get().is_none_or(|made| made.elapsed() >= age);
        if is_new || is_old {
            self.calm.made.set(Some(Instant::now()));
            self.processes.borrow().values().for_each(|process| self.withdraw(process));
        }
    }

    /// Takes back what was prepared for a process and is not used.
    fn withdraw(&self, process: &Process) {
        for _ in 0..READY {
            let Some((slot, _)) = process.words().take_ready() else { return };
            let is_its =
                |served: &mut Served| served.process == Some(process.number) && served.prepared.is_some();
            if self.slots.borrow_mut().get(slot).is_some_and(is_its) {
                self.release(slot);
            }
        }
    }

    /// Prepares as many slots as there is room for, for processes that serve many connections at a time.
    pub(super) fn prepare(&self) {
        /// Of fewer the gate would have to be told too often.
        const LEAST: usize = 64;
        /// For what threads that accept at the same time give back.
        const LEFT: usize = 16;
        let processes = self.processes.borrow();
        // Others are left for what the gate hands over.
        let each = (READY - LEFT).min(SLOTS / 4 / processes.len().max(1));
        if each < LEAST {
            return;
        }
        for process in processes.values().filter(|process| process.words().has_many()) {
            let room = process.words().not_ready().saturating_sub(READY - each);
            // Of what is on its way as many may be known to the process only.
            let room = room.min((2 * each).saturating_sub(process.prepared.get()));
            for _ in 0..room {
                if !self.prepare_one(process) {
                    return;
                }
            }
        }
    }

    fn prepare_one(&self, process: &Process) -> bool {
        let (config, now) = (self.proxy.config(), self.proxy.clock.last());
        let session = config.settings.has_sessions().then(|| self.proxy.begin_session(None, None));
        let cookie = session.as_ref().and_then(|begun| config.sessions.cookie(begun.session, false, now));
        let unknown = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let served = Served {
            process: Some(process.number),
            prepared: Some(Prepared(session)),
            ..Served::new(unknown, Caller::Stranger, None)
        };
        let Ok(slot) = self.slots.borrow_mut().add(served) else { return false };
        let words = &self.memory().slots[slot as usize];
        words.set(State::Ready);
        words.set_sleeps(false);
        words.set_taken(true);
        words.set_may_begin(true);
        words.set_line(&cookie.map(line).unwrap_or_default());
        let is_added = process.words().add_ready(slot);
        if is_added {
            process.prepared.set(process.prepared.get() + 1);
        } else {
            self.release(slot);
        }
        is_added
    }

    /// A process has used a slot that was prepared for it.
    pub(super) fn is_used(&self, process: Option<u16>) {
        self.downstream.accepted.count(true);
        if let Some(listener) = self.is_used_up(process) {
            self.calm.begun(listener);
        }
    }

    /// A slot is not ready for a process any more; gives the listener that it uses.
    pub(super) fn is_used_up(&self, process: Option<u16>) -> Option<u64> {
        let processes = self.processes.borrow();
        let process = processes.get(&process?)?;
        process.prepared.set(process.prepared.get().saturating_sub(1));
        Some(process.listener)
    }

    /// Whether the connections of a listener are accepted by a process.
    pub(super) fn is_left_to_server(&self, group: &Group, listener: u64) -> bool {
        self.memory().places.are_calm() && group.is_served(listener)
    }

    /// Waits until the gate is to accept the connections of a listener.
    pub(super) async fn while_left_to_server(&self, group: &Group, socket: BorrowedFd<'_>, listener: u64) {
        let mut since: Option<(u64, Instant)> = None;
        while self.is_left_to_server(group, listener) {
            let _ = timeout(2 * Self::LOOK, group.turned.notified()).await;
            let taken = self.calm.accepted(listener);
            match since {
                _ if !is_readable(socket) => since = None,
                Some((before, since)) if before == taken => {
                    // All processes are at work, or stopped.
                    if since.elapsed() >= Self::LOOK {
                        self.calm.ends();
                        self.memory().places.set_calm(false);
                    }
                }
                _ => since = Some((taken, Instant::now())),
            }
        }
    }
}

fn is_readable(socket: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)];
    matches!(poll(&mut fds, Some(&Timespec::default())), Ok(1..))
}
