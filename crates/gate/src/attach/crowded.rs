//! Connections that wait while processes keep others on which nothing is asked.

use std::time::Duration;

use super::attached::Attached;
use super::group::Group;
use super::process::Process;

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

    /// Its processes are to give connections back.
    pub(super) fn is_crowded(&self, group: &Group) {
        if group.number_of_processes() == 0 || !group.crowd.is_found() {
            return;
        }
        self.tell_crowd(group, group.crowd.number(), |(process, before)| {
            let words = process.words();
            // One that has not looked yet has been called.
            if words.has_many() && (before == 0 || words.crowd_seen() == before) {
                process.look();
            }
        });
    }

    /// It may be over.
    pub(super) fn recount_crowd(&self) {
        for group in self.groups.borrow().iter().filter(|group| group.crowd.ends()) {
            self.tell_crowd(group, 0, |_| {});
        }
    }

    /// Tells all processes of a group, at whichever address, what is found of it; `each` is given what they had been told.
    fn tell_crowd(&self, group: &Group, number: u32, each: impl Fn((&Process, u32))) {
        let processes = self.processes.borrow();
        for process in processes.values().filter(|process| group.process(process.pid).is_some()) {
            let before = process.words().crowd();
            process.words().set_crowd(number);
            each((process, before));
        }
    }
}
