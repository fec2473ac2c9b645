//! Giving a process another connection in place of a kept one, on which nothing is asked.

use std::net::SocketAddr;
use std::rc::Rc;

use handoff::slot::State;

use super::attached::Attached;
use super::group::Group;
use super::process::Process;
use super::served::Inside;
use crate::admission::decision::Caller;

impl Attached {
    /// Ends a request; gives what is known of it.
    pub(super) fn end_request(&self, slot: u32) -> Option<Inside> {
        let mut slots = self.slots.borrow_mut();
        let served = slots.get(slot)?;
        if served.process.is_some_and(|number| self.serves_alone(number)) {
            self.idle.begins(slot, served);
        }
        let inside = served.inside.take();
        drop(slots);
        self.idle.keep_only(|idle| self.is_idle(idle));
        inside
    }

    fn serves_alone(&self, process: u16) -> bool {
        self.processes.borrow().get(&process).is_some_and(|process| process.words().serves_alone())
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

    /// Of a slot whose process waits for nothing but the next request, that process.
    fn alone(&self, idle: (u32, u64)) -> Option<Rc<Process>> {
        let is_alone = self.memory().slots[idle.0 as usize].state() == State::Alone && self.is_idle(idle);
        if is_alone { self.process_of(idle.0) } else { None }
    }

    /// As [`Self::alone`], what the group has that process for, if it has it.
    fn alone_of(&self, group: &Group, idle: (u32, u64)) -> Option<Rc<Process>> {
        group.process(self.alone(idle)?.pid)
    }

    /// Whether any process of a group waits for nothing but the next request of a connection.
    pub(super) fn is_any_alone(&self, group: &Group) -> bool {
        self.idle.since.borrow().iter().any(|idle| self.alone_of(group, *idle).is_some())
    }

    /// Gives something to the process that has waited for longest for the next request of a connection, in place of that; whether there was one.
    pub(super) fn give_in_place(&self, group: &Group, give: impl Fn(&Rc<Process>) -> bool) -> bool {
        self.idle.since.borrow().iter().any(|idle| {
            let Some(process) = self.alone_of(group, *idle) else { return false };
            let words = &self.memory().slots[idle.0 as usize];
            if !words.change(State::Alone, State::Recalled) {
                return false;
            }
            if !give(&process) {
                words.change(State::Recalled, State::Alone);
                return false;
            }
            self.wake(idle.0, words.waker());
            // It has one now, and is not to be sent another.
            if let Some(served) = self.slots.borrow_mut().get(idle.0) {
                served.idle_since = 0;
            }
            true
        })
    }

    /// Wakes the thread that waits for the next request of a connection.
    fn wake(&self, slot: u32, waker: Option<usize>) {
        if let (Some(waker), Some(process)) = (waker, self.process_of(slot)) {
            process.wake(waker);
        }
    }

    /// Has threads of a process that has not taken all that it was given take that in place of connections on which nothing is asked.
    pub(super) fn recall(&self, process: &Process) {
        let number = usize::try_from(process.words().queued()).unwrap_or_default();
        let since = self.idle.since.borrow();
        let recalled = since.iter().filter_map(|idle| {
            let words = &self.memory().slots[idle.0 as usize];
            self.alone(*idle).filter(|other| other.pid == process.pid)?;
            let waker = words.waker()?;
            words.change(State::Alone, State::Recalled).then_some((idle.0, waker))
        });
        recalled.take(number).for_each(|(slot, waker)| self.wake(slot, Some(waker)));
    }

    /// A process has given a connection back; gives whose it is, if it was one of its.
    pub(super) fn gave_back(&self, process: &Process, slot: u32) -> Option<(SocketAddr, Caller)> {
        let mut slots = self.slots.borrow_mut();
        let served = slots.get(slot).filter(|served| served.process == Some(process.number))?;
        (served.is_given_back, served.idle_since) = (true, 0);
        let (whose, is_gone) = ((served.peer, served.caller), served.is_gone);
        drop(slots);
        if is_gone {
            self.release(slot);
        }
        Some(whose)
    }

    /// All that a process tells of a connection has been read. Of one that it has given back the connection itself comes another way, before or after this.
    pub(super) fn is_gone(&self, slot: u32) {
        let is_coming = self.memory().slots[slot as usize].state() == State::GivenBack;
        if is_coming
            && let Some(served) = self.slots.borrow_mut().get(slot)
            && !served.is_given_back
        {
            served.is_gone = true;
            return;
        }
        self.release(slot);
    }
}
