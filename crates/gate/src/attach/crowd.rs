//! [`Crowd`]: more connections than the server takes at a time, most of them kept ones on which nothing is asked.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::attached::Attached;
use super::group::Group;

/// Whether connections wait that no process of a group takes. Its processes give kept ones back then, and for a while, for others to be taken.
#[derive(Debug)]
pub(super) struct Crowd {
    /// What processes are told: another number each time that connections were found to wait.
    number: Cell<u32>,
    last: Cell<Option<Instant>>,
}

impl Default for Crowd {
    fn default() -> Self {
        // Not the numbers of the gate before.
        Self { number: Cell::new(std::process::id() << 10), last: Cell::new(None) }
    }
}

impl Crowd {
    /// Those that are kept after it are as many again, if there are as many clients still.
    const LASTS: Duration = Duration::from_secs(30);
    /// Servers all of whose connections are busy are not to look again and again.
    const AT_MOST_EVERY: Duration = Duration::from_millis(5);

    fn is_there(&self) -> bool {
        self.last.get().is_some_and(|last| last.elapsed() < Self::LASTS)
    }

    /// 0 where there is none.
    pub(super) fn number(&self) -> u32 {
        if self.last.get().is_some() { self.number.get() } else { 0 }
    }

    /// Connections wait; whether processes are to be told so.
    fn is_found(&self) -> bool {
        if self.last.get().is_some_and(|last| last.elapsed() < Self::AT_MOST_EVERY) {
            return false;
        }
        self.last.set(Some(Instant::now()));
        self.number.set(self.number.get().wrapping_add(1).max(1));
        true
    }
}

impl Attached {
    /// A connection has waited for so long for a process of a group: if those have as many connections as they take, they are to give back some on which nothing
    /// is asked.
    pub(super) fn is_hungry(&self, group: &Group, since: Duration) {
        /// A process that is busy with something else wants one again by then.
        const AT_ONCE: Duration = Duration::from_millis(20);
        /// Some that have as many as they take do not say so.
        const LONG: Duration = Duration::from_millis(200);
        let is_full = || group.is_any_process(|words| words.has_many() && !words.wants());
        if since >= LONG || (since >= AT_ONCE || group.crowd.is_there()) && is_full() {
            self.is_crowded(group);
        }
    }

    /// Tells all processes of the group, at whichever address.
    pub(super) fn is_crowded(&self, group: &Group) {
        if group.number_of_processes() == 0 || !group.crowd.is_found() {
            return;
        }
        let number = group.crowd.number();
        for process in self.processes.borrow().values().filter(|process| group.process(process.pid).is_some())
        {
            let words = process.words();
            let before = words.crowd();
            words.set_crowd(number);
            // One that has not looked yet has been called, and one that waits for connections looks when one comes.
            if words.has_many() && (before == 0 || words.crowd_seen() == before) {
                process.look();
            }
        }
    }

    /// It may be over.
    pub(super) fn recount_crowd(&self) {
        for group in self.groups.borrow().iter() {
            if group.crowd.number() != 0 && !group.crowd.is_there() {
                group.crowd.last.set(None);
                let of_group =
                    |process: &&std::rc::Rc<super::process::Process>| group.process(process.pid).is_some();
                let processes = self.processes.borrow();
                processes.values().filter(of_group).for_each(|process| process.words().set_crowd(0));
            }
        }
    }
}
