//! What can be read off the policy while it runs. Counts only ever grow.

use alloc::vec;
use alloc::vec::Vec;

use units::{ClassId, Ratio, Span};

use crate::protocol::Reason;
use crate::waiting_room::room::RoomSnapshot;

/// Counts of one class, or of requests whose class was never found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Requests classified, or known from their session.
    pub arrived: u64,
    /// Of these, requests of existing sessions.
    pub existing: u64,
    /// Joined the class queue.
    pub admitted: u64,
    /// Held back in a discard queue at least once.
    pub held_back: u64,
    /// Sent to the server (in shadow mode: would have been).
    pub dispatched: u64,
    /// The server was done with it.
    pub finished: u64,
    /// The client went away first.
    pub aborted: u64,
    /// Of these, those that did not end a stream that they were taking.
    pub gave_up: u64,
    /// Refused (in shadow mode: would have been), by [`Reason::index`].
    pub rejected: [u64; Reason::ALL.len()],
}

/// Counters of every class, and of the unclassified behind them.
#[derive(Debug)]
pub(crate) struct Stats {
    counters: Vec<Counters>,
    pub(crate) unknown_ids: u64,
}

impl Stats {
    pub(crate) fn new(classes: usize) -> Self {
        Self { counters: vec![Counters::default(); classes + 1], unknown_ids: 0 }
    }

    pub(crate) fn of(&mut self, class: Option<ClassId>) -> &mut Counters {
        let unclassified = self.counters.len() - 1;
        &mut self.counters[class.map_or(unclassified, ClassId::index)]
    }

    pub(crate) fn get(&self, class: Option<ClassId>) -> Counters {
        let unclassified = self.counters.len() - 1;
        self.counters[class.map_or(unclassified, ClassId::index)]
    }
}

/// Requests waiting in each stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StageLengths {
    /// In the acceptor queue.
    pub acceptor: u32,
    /// In the pending queues.
    pub pending: u32,
    /// In the discard queues.
    pub discard: u32,
    /// In the class queues.
    pub class: u32,
}

/// The policy at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Snapshot {
    /// Waiting, by stage.
    pub lengths: StageLengths,
    /// Inside the server.
    pub in_service: u32,
    /// With the server, which does nothing for them: they hold no place.
    pub streaming: u32,
    /// Of those inside, requests whose body came late: they took a place whether one was free or not.
    pub resumed: u32,
    /// How many may be, of any class.
    pub window: u32,
    /// Places on top that only the important may take.
    pub express: u32,
    /// The present look-ahead `k`.
    pub look_ahead: u32,
    /// The present `m` of the acceptor cycle.
    pub quota: u32,
    /// As last told with [`crate::Driver::set_pressure`].
    pub pressure: Ratio,
    /// Requests per second that the server can do in all its places, as soon as that is known.
    pub capacity: Option<f64>,
    /// Requests refused before their class was found.
    pub unclassified: Counters,
    /// Inputs that named a request which is not held.
    pub unknown_ids: u64,
}

/// One class at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassSnapshot {
    /// Which.
    pub class: ClassId,
    /// Its counts.
    pub counters: Counters,
    /// Length of its class queue.
    pub queued: u32,
    /// Length of its discard queues.
    pub held_back: u32,
    /// Target length of its class queue.
    pub target: f64,
    /// How long its clients wait before they give up, as far as is known; at most the class queue's
    /// deadline.
    pub patience: Span,
    /// Probability of admission for requests of existing sessions.
    pub admits_existing: f64,
    /// Probability of admission for new sessions.
    pub admits_new: f64,
    /// Whether its sessions are admitted now, rather than its requests.
    pub admits_sessions: bool,
    /// How many requests a session has on average, as soon as that is known.
    pub session_requests: Option<f64>,
    /// Sessions per second that begin, or would: without those that are refused before their class is known, and without who asks again.
    pub session_starts: f64,
    /// Its waiting room, which is empty unless visitors are told of it.
    pub room: RoomSnapshot,
}
