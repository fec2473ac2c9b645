//! Connections that wait while processes keep others on which nothing is asked.

use std::rc::Rc;
use std::time::Duration;

use super::attached::Attached;
use super::crowd::Crowd;
use super::group::Group;
use super::process::Process;

impl Attached {
    /// A connection has waited for so long for a process of a group: if those have as many connections as they take, they are to give back some on which nothing
    /// is asked.
    pub(super) fn is_hungry(&self, group: &Group, since: Duration) {
        /// Some that have as many as they take do not say so.
        const LONG: Duration = Duration::from_millis(200);
        let is_full = || group.is_any_process(|words| words.has_many() && !words.wants());
        if since >= LONG || (since >= Crowd::SOON || group.crowd.is_there()) && is_full() {
            self.is_crowded(group);
        }
    }

    /// Its processes are to give connections back.
    pub(super) fn is_crowded(&self, group: &Group) {
        if group.number_of_processes() == 0 || !group.crowd.is_found() {
            return;
        }
        for process in self.at_any_address(group) {
            let words = process.words();
            let before = words.crowd();
            words.set_crowd(group.crowd.number());
            // One that has not looked yet has been called.
            if words.has_many() && (before == 0 || words.crowd_seen() == before) {
                process.look();
            }
        }
    }

    /// It may be over.
    pub(super) fn recount_crowd(&self) {
        for group in self.groups.borrow().iter().filter(|group| group.crowd.ends()) {
            self.at_any_address(group).iter().for_each(|process| process.words().set_crowd(0));
        }
    }

    /// What there is for the processes of a group, at whichever address they listen.
    fn at_any_address(&self, group: &Group) -> Vec<Rc<Process>> {
        let processes = self.processes.borrow();
        processes.values().filter(|process| group.process(process.pid).is_some()).map(Rc::clone).collect()
    }
}
