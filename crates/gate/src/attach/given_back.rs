//! Connections that a process was given and has not taken, because it is gone, or is busy.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use handoff::slot::State;

use super::attached::Attached;
use super::connection::give_again;
use super::group::Group;
use super::process::Process;
use super::socket::Socket;

impl Attached {
    /// A process is gone: its requests are over, and what it has not taken goes to another.
    pub(super) fn lost(self: &Rc<Self>, group: &Rc<Group>, process: &Process) {
        process.stop_using_slots();
        self.read();
        self.processes.borrow_mut().remove(&process.number);
        group.leave(process);
        let not_taken = process.not_taken();
        let of_process = self.slots.borrow().of(process.number);
        for slot in of_process {
            if not_taken.iter().any(|(other, ..)| *other == slot) {
                continue;
            }
            let was_inside = self.memory().slots[slot as usize].state() == State::Busy;
            if was_inside {
                // The process cannot give its place back any more.
                self.memory().places.give();
                self.published.set(self.published.get() + 1);
            }
            self.release(slot);
        }
        self.give_again(group, not_taken);
        self.publish();
    }

    /// What a process does not take, while others wait for something, goes to those.
    pub(super) fn take_back(self: &Rc<Self>) {
        let groups: Vec<_> = self.groups.borrow().iter().map(Rc::clone).collect();
        for group in groups {
            group.of_threads_with_queued().iter().for_each(|process| self.recall(process));
            for process in group.held_up(|| self.is_any_alone(&group), |since| self.is_hungry(&group, since))
            {
                self.give_again(&group, process.take_back());
            }
        }
    }

    /// Whether something is on its way to a process.
    pub(super) fn has_queued(&self) -> bool {
        self.groups.borrow().iter().any(|group| group.has_queued())
    }

    fn give_again(self: &Rc<Self>, group: &Rc<Group>, connections: Vec<(u32, bool, OwnedFd)>) {
        for (slot, is_opaque, connection) in connections {
            if let Some(served) = self.slots.borrow_mut().get(slot) {
                served.process = None;
            }
            let socket = Socket::kept(connection, self.keeper, &group.left);
            let giving = give_again(Rc::clone(self), Rc::clone(group), (slot, is_opaque), socket);
            tokio::task::spawn_local(giving);
        }
    }
}
