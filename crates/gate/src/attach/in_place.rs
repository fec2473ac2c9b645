//! Giving a process another connection in place of a kept one, on which nothing is asked.

use std::net::SocketAddr;
use std::rc::Rc;

use handoff::memory::SLOTS;
use handoff::slot::State;

use super::attached::Attached;
use super::group::Group;
use super::process::Process;
use super::served::Inside;
use crate::admission::decision::Caller;

impl Attached {
    /// A request is over; gives what is known of it.
    pub(super) fn is_over(&self, slot: u32) -> Option<Inside> {
        let mut slots = self.slots.borrow_mut();
        let served = slots.get(slot)?;
        let inside = served.inside.take();
        let serves_alone = |number: u16| {
            self.processes.borrow().get(&number).is_some_and(|process| process.words().serves_alone())
        };
        if served.process.is_some_and(serves_alone) {
            self.idle.begins(slot, served);
        }
        drop(slots);
        self.forget_what_is_not_idle();
        inside
    }

    fn forget_what_is_not_idle(&self) {
        let mut since = self.idle.since.borrow_mut();
        if since.len() > SLOTS {
            since.retain(|idle| self.is_idle(*idle));
        }
        while since.front().is_some_and(|first| !self.is_idle(*first)) {
            since.pop_front();
        }
    }

    /// Whether nothing has become of a connection since.
    fn is_idle(&self, (slot, since): (u32, u64)) -> bool {
        let mut slots = self.slots.borrow_mut();
        slots.get(slot).is_some_and(|served| served.idle_since == since && served.inside.is_none())
    }

    fn process_of(&self, slot: u32) -> Option<Rc<Process>> {
        let number = self.slots.borrow_mut().get(slot)?.process?;
        self.processes.borrow().get(&number).cloned()
    }

    /// Of a slot whose process waits for nothing but the next request, that process, if it is one of the group.
    fn alone(&self, group: &Group, idle: (u32, u64)) -> Option<Rc<Process>> {
        let is_alone = self.is_idle(idle) && self.memory().slots[idle.0 as usize].state() == State::Alone;
        self.process_of(idle.0).filter(|process| is_alone && group.has(process))
    }

    /// Whether any process of a group waits for nothing but the next request of a connection.
    pub(super) fn is_any_alone(&self, group: &Group) -> bool {
        self.idle.since.borrow().iter().any(|idle| self.alone(group, *idle).is_some())
    }

    /// Gives something to the process that has waited for longest for the next request of a connection, in place of that; whether there was one.
    pub(super) fn give_in_place(&self, group: &Group, give: impl Fn(&Rc<Process>) -> bool) -> bool {
        self.idle.since.borrow().iter().any(|idle| {
            let Some(process) = self.alone(group, *idle) else { return false };
            let words = &self.memory().slots[idle.0 as usize];
            let is_given = words.change(State::Alone, State::Recalled) && give(&process);
            if let Some(waker) = words.waker().filter(|_| is_given) {
                process.wake(waker);
            }
            // It has one now, and is not to be sent another.
            if is_given && let Some(served) = self.slots.borrow_mut().get(idle.0) {
                served.idle_since = 0;
            }
            is_given
        })
    }

    /// Has threads of a process that has not taken all that it was given take that in place of connections on which nothing is asked.
    pub(super) fn recall(&self, process: &Process) {
        let number = usize::try_from(process.words().queued()).unwrap_or_default();
        let since = self.idle.since.borrow();
        let is_its = |slot: u32| self.process_of(slot).is_some_and(|other| other.number == process.number);
        let of_it = since.iter().filter(|idle| self.is_idle(**idle) && is_its(idle.0));
        let recalled = of_it.filter_map(|idle| {
            let words = &self.memory().slots[idle.0 as usize];
            let waker = words.waker()?;
            words.change(State::Alone, State::Recalled).then_some(waker)
        });
        recalled.take(number).for_each(|waker| process.wake(waker));
    }

    /// A process has given a connection back; gives whose it is, if it was one of its.
    pub(super) fn gave_back(&self, process: &Process, slot: u32) -> Option<(SocketAddr, Caller)> {
        // What it has said of the request before comes first.
        self.read();
        let whose = self
            .slots
            .borrow_mut()
            .get(slot)
            .filter(|served| served.process == Some(process.number))
            .map(|served| (served.peer, served.caller))?;
        self.forget(slot);
        Some(whose)
    }
}
