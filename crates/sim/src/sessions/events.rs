//! [`EventQueue`]: what will happen when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::{RequestId, Time};

/// Something that will happen unless it has become pointless by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A user has read a page.
    Read { user: usize },
    /// A user asks again, who has asked so often for it.
    Retry { user: usize, object: usize, tries: u32 },
    /// A user has waited long enough for an answer.
    GiveUp { request: usize, serial: u64 },
    /// A client tries again to connect, which has failed so often.
    Connect { request: usize, serial: u64, tries: u32 },
    /// The gate does.
    ConnectFromGate { held: RequestId, tries: u32 },
    /// A worker has waited long enough for its client, since it ended that turn.
    Hang { connection: usize, turn: u64 },
}

/// Events in order of time; those of the same time in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    added: u64,
}

impl EventQueue {
    pub(super) fn add(&mut self, at: Time, event: Event) {
        self.added += 1;
        self.events.push(Reverse((at, self.added, event)));
    }

    pub(super) fn next(&self) -> Time {
        self.events.peek().map_or(Time::NEVER, |Reverse((at, ..))| *at)
    }

    pub(super) fn take(&mut self) -> Option<Event> {
        self.events.pop().map(|Reverse((.., event))| event)
    }
}
