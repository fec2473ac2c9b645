//! Counting anew what is only hinted at in the memory that all share.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use handoff::events::Events;
use handoff::slot::State;

use super::attached::Attached;
use super::served::Slots;
use crate::runtime::log::say;

impl Attached {
    /// Counts anew what is only hinted at in the memory: what is amiss twice in a row, a second apart, is not on its way but
    /// lost, with a process that has ended, or with events that there was no room for, or what a process wrote there is nonsense.
    pub(super) fn recount(&self) {
        let slots = self.slots.borrow().given();
        let is_nonsense = |slot: &u32| !self.memory().slots[*slot as usize].may_be_given();
        if !self.memory().is_ours() || slots.iter().any(is_nonsense) {
            self.memory().mark();
            self.is_nonsense.set(true);
        }
        self.processes.borrow().values().for_each(|process| {
            process.recount();
            process.go_again();
        });
        self.groups.borrow().iter().for_each(|group| group.recount());
        self.recount_crowd();
        self.call_for_processes();
        let is_passed_over = self.recount_events();
        self.begin_anew();
        self.read();
        let before = self.dropped.replace(self.memory().events.dropped());
        self.end_what_is_over(is_passed_over || before != self.dropped.get());
        let amiss = self.published.get().wrapping_sub(self.memory().places.free().into());
        if amiss != 0 && amiss == self.amiss.get() {
            self.memory().places.add(amiss as i32);
            self.amiss.set(0);
        } else {
            self.amiss.set(amiss);
        }
        self.publish();
    }

    /// Processes that serve without the gate ask for it again when they accept a connection, or when its socket is touched. Where
    /// connections wait for them, or one has not waited for an answer, they are not to wait for another one.
    pub(super) fn call_for_processes(&self) {
        let is_any_deserted =
            self.groups.borrow().iter().any(|group| group.is_hungry() && group.number_of_processes() == 0);
        if is_any_deserted || self.gave_up.take() {
            // Without it they come with the next connection.
            let _ = std::fs::set_permissions(&self.path, Permissions::from_mode(0o666));
        }
    }

    /// If what is said of connections is nonsense, their processes are let go, and attach themselves again.
    pub(super) fn begin_anew(&self) {
        const AT_MOST_EVERY: Duration = Duration::from_secs(10);
        if !self.is_nonsense.get() || self.anew.get().is_some_and(|before| before.elapsed() < AT_MOST_EVERY) {
            return;
        }
        self.anew.set(Some(Instant::now()));
        self.is_nonsense.set(false);
        say!(
            "what processes of the server have written into the memory that they share with the gate is nonsense; all attach themselves again"
        );
        self.processes.borrow().values().for_each(|process| process.let_go());
    }

    /// Whether any were lost.
    pub(super) fn recount_events(&self) -> bool {
        let events = &self.memory().events;
        let position = Events::position(&self.reader.borrow());
        let is_broken = events.is_broken(&self.reader.borrow());
        let stuck = events.is_stuck(&self.reader.borrow()).then_some(position);
        let is_passed_over = stuck.is_some() && stuck == self.stuck.get();
        let was_broken = self.is_broken.replace(is_broken);
        // One that has ended leaves one such; more than one in a row are not of writers that end.
        let are_many = is_passed_over && self.passed_over.get() == Some(position.wrapping_sub(1));
        if is_broken && was_broken || are_many {
            events.mend(&self.reader.borrow());
            self.is_broken.set(false);
            self.stuck.set(None);
            self.is_nonsense.set(true);
            return true;
        }
        if is_passed_over {
            events.skip(&mut self.reader.borrow_mut());
            self.passed_over.set(Some(position));
        }
        self.stuck.set(stuck);
        is_passed_over
    }

    /// Of requests whose end was told in vain, the states of their connections say it: twice, a second apart, since what is on its
    /// way says it as well.
    pub(super) fn end_what_is_over(&self, is_new: bool) {
        let mut over = self.over.borrow_mut();
        let is_over = |slots: &mut Slots, slot: u32| {
            let has_request = slots.get(slot).is_some_and(|served| served.inside.is_some());
            match self.memory().slots[slot as usize].state() {
                State::Idle | State::Alone | State::Recalled => has_request,
                state => state.is_over(),
            }
        };
        let mut slots = self.slots.borrow_mut();
        let still: Vec<u32> = over.drain(..).filter(|slot| is_over(&mut slots, *slot)).collect();
        if is_new {
            over.extend(slots.all().into_iter().filter(|slot| is_over(&mut slots, *slot)));
        }
        drop((slots, over));
        for slot in &still {
            let inside = self.slots.borrow_mut().get(*slot).and_then(|served| served.inside.take());
            drop(inside);
            if self.memory().slots[*slot as usize].state().is_over() {
                self.release(*slot);
            }
        }
        if !still.is_empty() {
            self.publish();
        }
    }
}
