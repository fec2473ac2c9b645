//! [`Attached`]: what the gate knows of the server that it is attached to.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use handoff::events::{Event, MAX_HEAD, Reader, What};
use handoff::keeper::Keeper;
use handoff::memory::{Memory, PROCESSES};
use handoff::shared::Shared;
use handoff::slot::State;
use http::HeaderValue;
use rustix::thread::futex;
use tokio::sync::Notify;

use super::calm::Calm;
use super::group::Group;
use super::idle::Idle;
use super::process::Process;
use super::served::Slots;
use super::socket::{Kept, Socket};
use crate::dispatch::proxy::Proxy;
use crate::downstream::context::Downstream;
use crate::runtime::log::say;

/// What the gate knows of the server that it is attached to.
#[derive(Debug)]
pub(crate) struct Attached {
    pub(super) proxy: Rc<Proxy>,
    pub(super) downstream: Rc<Downstream>,
    pub(super) shared: Shared,
    pub(super) keeper: Option<&'static Keeper>,
    /// Where processes find it.
    pub(super) path: PathBuf,
    pub(super) slots: RefCell<Slots>,
    pub(super) processes: RefCell<BTreeMap<u16, Rc<Process>>>,
    pub(super) groups: RefCell<Vec<Rc<Group>>>,
    pub(super) reader: RefCell<Reader>,
    /// Places that were left when the processes were told last, but for what they have told since.
    pub(super) published: Cell<i64>,
    /// Told when there is something to read.
    pub(super) woken: Notify,
    /// Told when something was given to a process.
    pub(super) has_given: Notify,
    /// What was amiss with the places when they were counted last.
    pub(super) amiss: Cell<i64>,
    /// Which event was being written then.
    pub(super) stuck: Cell<Option<u64>>,
    /// Which was passed over last.
    pub(super) passed_over: Cell<Option<u64>>,
    /// Whether the events seemed to be as no process leaves them.
    pub(super) is_broken: Cell<bool>,
    /// Whether what is said of connections is not to be relied upon.
    pub(super) is_nonsense: Cell<bool>,
    /// When all processes were let go.
    pub(super) anew: Cell<Option<Instant>>,
    pub(super) dropped: Cell<u64>,
    /// Connections whose requests seemed to be over then.
    pub(super) over: RefCell<Vec<u32>>,
    next_number: Cell<u16>,
    /// Whether a process did not wait for the gate's answer.
    pub(super) gave_up: Cell<bool>,
    /// Whether any process has attached itself.
    pub(super) has_met_any: Cell<bool>,
    pub(super) calm: Calm,
    pub(super) idle: Idle,
    is_opaque_said: Cell<bool>,
    pub(super) is_full_said: Cell<bool>,
    pub(super) are_many_said: Cell<bool>,
    is_passing_said: Cell<bool>,
}

impl Attached {
    pub(super) fn new(
        proxy: &Rc<Proxy>,
        downstream: &Rc<Downstream>,
        (shared, keeper): (Shared, Option<&'static Keeper>),
        path: &Path,
    ) -> Self {
        let attached = Self {
            proxy: Rc::clone(proxy),
            downstream: Rc::clone(downstream),
            shared,
            keeper,
            path: path.to_owned(),
            slots: RefCell::default(),
            processes: RefCell::default(),
            groups: RefCell::default(),
            reader: RefCell::default(),
            published: Cell::new(0),
            woken: Notify::new(),
            has_given: Notify::new(),
            amiss: Cell::new(0),
            stuck: Cell::new(None),
            passed_over: Cell::new(None),
            is_broken: Cell::new(false),
            is_nonsense: Cell::new(false),
            anew: Cell::new(None),
            next_number: Cell::new(0),
            dropped: Cell::new(0),
            over: RefCell::default(),
            gave_up: Cell::new(false),
            has_met_any: Cell::new(false),
            calm: Calm::default(),
            idle: Idle::default(),
            is_opaque_said: Cell::new(false),
            is_full_said: Cell::new(false),
            are_many_said: Cell::new(false),
            is_passing_said: Cell::new(false),
        };
        attached.publish();
        attached
    }

    pub(super) fn memory(&self) -> &'static Memory {
        self.shared.memory()
    }

    /// A number for a process, not one that another had a moment ago.
    pub(super) fn free_number(&self) -> Option<u16> {
        let (processes, next) = (self.processes.borrow(), self.next_number.get());
        let mut numbers = (0..PROCESSES as u16).map(|step| (next + step) % PROCESSES as u16);
        let free = numbers.find(|number| !processes.contains_key(number))?;
        self.next_number.set((free + 1) % PROCESSES as u16);
        Some(free)
    }

    /// Connections wait for processes: those that want some are given them.
    pub(super) fn look(&self) {
        let groups = self.groups.borrow();
        groups.iter().for_each(|group| group.look());
        if groups.iter().any(|group| group.is_hungry()) {
            self.memory().places.set_hungry(true);
        }
    }

    /// Tells the processes how many places there are, and whether anybody waits for one.
    pub(super) fn publish(&self) {
        let driver = self.proxy.admission().driver.borrow();
        let (policy, waits) = (driver.policy(), driver.has_waiting());
        let left = i64::from(policy.window()) - i64::from(policy.taken());
        drop(driver);
        let places = &self.memory().places;
        let more = left - self.published.replace(left);
        if more != 0 {
            places.add(i32::try_from(more).unwrap_or_default());
        }
        if waits != places.is_waited_for() {
            places.set_waits(waits);
        }
        if waits {
            places.set_calm(false);
            places.set_asleep(true);
            // What has happened meanwhile has woken no task.
            self.woken.notify_one();
        }
    }

    /// Reads what has happened; whether anything had.
    pub(super) fn read(&self) -> bool {
        /// Other tasks of this thread have their turn then.
        const AT_ONCE: usize = 4096;
        let (mut head, mut has_read) = ([0; MAX_HEAD], false);
        for _ in 0..AT_ONCE {
            let next = self.memory().events.read(&mut self.reader.borrow_mut(), &mut head);
            let Some((event, length)) = next else { break };
            has_read = true;
            self.happened(event, &head[..length]);
        }
        if has_read {
            let admission = self.proxy.admission();
            if admission.driver.borrow().has_waiting() {
                admission.turn.notify();
            }
            self.publish();
        }
        has_read
    }

    fn happened(&self, Event { what, slot, status, bytes, .. }: Event, head: &[u8]) {
        match what {
            What::Began | What::BeganFirst | What::BeganSession => self.began(what, slot, head),
            What::Ended => {
                self.published.set(self.published.get() + 1);
                let inside = self.end_request(slot);
                if let Some(inside) = inside {
                    self.raise_by_status(slot, &inside.raises, status);
                    inside.end(status, bytes);
                }
            }
            What::Gone => self.is_gone(slot),
            What::PassedOn => {
                if !self.is_passing_said.replace(true) {
                    say!(
                        "the server passes connections to processes that the gate knows nothing of: their requests are over for it then, so that there may be more of them inside than the window"
                    );
                }
            }
            What::Class => match self.proxy.class(head) {
                Some(class) => self.raise(slot, class, true),
                None => {
                    // What cannot be the value of a header, no client was to see either.
                    if let Ok(name) = HeaderValue::from_bytes(head) {
                        self.proxy.unknown_class(&name);
                    }
                }
            },
        }
    }

    /// A connection is over, or no process has it.
    pub(super) fn forget(&self, slot: u32) {
        self.release(slot);
        self.publish();
    }

    /// As [`Self::forget`], for who publishes what has become of several.
    pub(super) fn release(&self, slot: u32) {
        let Some(served) = self.slots.borrow_mut().remove(slot) else { return };
        if served.prepared.is_some() {
            self.is_used_up(served.process);
        }
        if let Some(parked) = &served.parked {
            parked.abort();
        }
        self.memory().slots[slot as usize].set(State::Free);
        drop(served);
    }

    /// Gives a connection to a process that wants it now, if there is one and none waits before; whether it did.
    pub(super) fn give_now(&self, group: &Group, slot: u32, is_opaque: bool, socket: &Socket) -> bool {
        let Some(connection) = socket.descriptor() else { return false };
        !group.is_hungry() && self.give_to_any(group, (slot, is_opaque), connection, socket.keeping())
    }

    fn give_to(
        &self,
        process: &Process,
        (slot, is_opaque): (u32, bool),
        connection: BorrowedFd<'_>,
        kept: Option<Kept>,
    ) -> bool {
        let Some(peer) = self.slots.borrow_mut().get(slot).map(|served| served.peer) else { return false };
        self.memory().slots[slot as usize].set_taken(false);
        if let Some(kept) = kept {
            kept.is_given(slot);
        }
        let is_given = process.give(slot, is_opaque, peer, connection);
        match kept {
            Some(kept) if is_given => kept.forget(),
            Some(kept) => kept.waits(),
            None => {}
        }
        if is_given && let Some(served) = self.slots.borrow_mut().get(slot) {
            served.process = Some(process.number);
            self.has_given.notify_one();
        }
        is_given
    }

    /// Gives a connection to a process of the group as soon as one wants it.
    pub(super) async fn give(
        &self,
        group: &Rc<Group>,
        slot: u32,
        is_opaque: bool,
        (connection, kept): (BorrowedFd<'_>, Option<Kept>),
    ) {
        let give = || self.give_to_any(group, (slot, is_opaque), connection, kept);
        let hungry = |since| {
            self.memory().places.set_hungry(true);
            self.is_hungry(group, since);
        };
        group.give_when_wanted(give, hungry).await;
    }

    /// To a process that wants one, or in place of a connection on which nothing is asked; whether there was one.
    fn give_to_any(
        &self,
        group: &Group,
        slot: (u32, bool),
        connection: BorrowedFd<'_>,
        kept: Option<Kept>,
    ) -> bool {
        let give = |process: &Rc<Process>| self.give_to(process, slot, connection, kept);
        group.give(give) || self.give_in_place(group, give)
    }

    /// What is said on these connections is not known.
    pub(super) fn say_opaque(&self, group: &Group) {
        if !self.is_opaque_said.replace(true) {
            say!(
                "connections to {} that are not HTTP/1 without TLS go to the server as they come: nothing is known of their requests, so that nobody is refused",
                group.address
            );
        }
    }

    /// What was decided about a parked request.
    pub(super) fn resume(&self, slot: u32, state: State) {
        let Some(words) = self.memory().slots.get(slot as usize) else { return };
        let process = self.slots.borrow_mut().get(slot).and_then(|served| {
            served.parked = None;
            served.process
        });
        if !words.change(State::Parked, state) {
            return;
        }
        // A thread that is about to sleep sees the word, or is seen here.
        if words.sleeps() {
            let _ = futex::wake(&words.word, futex::Flags::empty(), u32::MAX >> 1);
            return;
        }
        let process = process.and_then(|number| self.processes.borrow().get(&number).cloned());
        if let Some(process) = process {
            process.go(slot);
        }
    }
}
