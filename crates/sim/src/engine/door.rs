//! [`Door`]: a gate's connections, of clients whose requests are counted and of slow ones.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use policy::connections::{Awaited, ConnectionId, Connections, MemoryBudget, Order, Phase, Share, Stall};
use units::{Ratio, Span, Time};

use crate::model::{Pace, SlowClients};
use crate::subject::{Closing, GateConnections};

/// The gate looks at all of its connections so often.
const SWEEP_INTERVAL: Span = Span::from_millis(250);
/// Without room the gate tries to accept again so often, unless a connection is closed before.
const ACCEPT_PAUSE: Span = Span::from_millis(20);
/// What a connection with a request takes of a gate's memory, in bytes: an assumption, buffers to read and to
/// write that are 8 KiB each.
const CONNECTION_BYTES: u64 = 16 << 10;
/// Of a response that its client has not taken, the gate keeps so many bytes at most.
const MAX_KEPT_BYTES: u64 = 64 << 10;

/// The gate's connections. Accepting, reading heads and closing take no time of their own.
#[derive(Debug)]
pub(super) struct Door {
    connections: GateConnections,
    slow: SlowClients,
    table: Connections<Visitor>,
    memory: MemoryBudget,
    /// Connections that wait to be accepted.
    backlog: VecDeque<Waiting>,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    added: u64,
    visits: Vec<Visit>,
    /// When the gate tries again to accept.
    accept: Time,
    happenings: VecDeque<Happening>,
}

/// A client at the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Visitor {
    /// A client whose request counts, which has that key.
    Counted(usize),
    /// A slow client, by its number.
    Slow(usize),
}

/// What slow clients have.
#[derive(Debug, Clone, Default)]
struct Visit {
    connection: Option<ConnectionId>,
    /// Under which key its request is held.
    held: Option<usize>,
    /// Bytes of its response that the gate keeps.
    kept: u64,
    /// Bytes that it has not taken.
    left: f64,
}

#[derive(Debug)]
struct Waiting {
    visitor: Visitor,
    owner: u64,
    until: Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Connect {
        slow: usize,
    },
    /// The head of a slow client's request is whole.
    HeadWhole {
        slow: usize,
        connection: ConnectionId,
    },
    /// A slow client has taken as much of its response as counts.
    Took {
        slow: usize,
        connection: ConnectionId,
    },
    Sweep,
}

/// What the gate has to do about a client.
#[derive(Debug, Clone, Copy)]
pub(super) enum Happening {
    /// Its request has come, over that connection.
    Asks(Visitor, ConnectionId),
    /// A client whose request counts has waited to be accepted for longer than it has patience, or there was
    /// no room for it to wait. By its request's key.
    GivesUp(usize),
    /// The connection of a slow client was closed while its request was held under that key.
    Closed(usize),
}

impl Door {
    pub(super) fn new(connections: GateConnections, slow: SlowClients) -> Self {
        let mut door = Self {
            connections,
            slow,
            table: Connections::new(connections.limits),
            memory: MemoryBudget::new(connections.limits.memory),
            backlog: VecDeque::new(),
            events: BinaryHeap::new(),
            added: 0,
            visits: vec![Visit::default(); slow.number as usize],
            accept: Time::NEVER,
            happenings: VecDeque::new(),
        };
        for number in 0..door.visits.len() {
            // They come one after the other in the time after which they would come again.
            let share = number as f64 / f64::from(slow.number);
            door.add(Time::ZERO + Span::from_secs_f64(share * slow.again), Event::Connect { slow: number });
        }
        door.add(Time::ZERO + SWEEP_INTERVAL, Event::Sweep);
        door
    }

    /// When something happens here although nothing happens elsewhere.
    pub(super) fn next(&self) -> Time {
        let event = self.events.peek().map_or(Time::NEVER, |Reverse((at, ..))| *at);
        let patience = self.backlog.front().map_or(Time::NEVER, |waiting| waiting.until);
        event.min(patience).min(self.accept)
    }

    /// Lets happen what is due, and accepts what can be, while `upstream` requests are inside the server;
    /// `waiting` says whether others wait for a place in it.
    pub(super) fn advance(&mut self, now: Time, upstream: usize, waiting: bool) {
        while self.events.peek().is_some_and(|Reverse((at, ..))| *at <= now) {
            let Some(Reverse((.., event))) = self.events.pop() else { break };
            match event {
                Event::Connect { slow } => self.connect(now, Visitor::Slow(slow), self.owner(slow)),
                Event::HeadWhole { slow, connection } if self.has(slow, connection) => {
                    self.table.enter(connection, Phase::Busy, now);
                    self.happenings.push_back(Happening::Asks(Visitor::Slow(slow), connection));
                }
                Event::Took { slow, connection } if self.has(slow, connection) => {
                    self.take(now, slow, connection);
                }
                Event::HeadWhole { .. } | Event::Took { .. } => {}
                Event::Sweep => self.sweep(now, upstream, waiting),
            }
        }
        while self.backlog.front().is_some_and(|waiting| waiting.until <= now) {
            let Some(Waiting { visitor, .. }) = self.backlog.pop_front() else { break };
            self.give_up(now, visitor);
        }
        if self.accept <= now {
            self.accept_all(now, upstream);
        }
    }

    /// A client connects: it is accepted in the same turn, if there is room.
    pub(super) fn connect(&mut self, now: Time, visitor: Visitor, owner: u64) {
        if self.backlog.len() >= self.connections.backlog {
            return self.give_up(now, visitor);
        }
        if self.backlog.is_empty() {
            self.accept = now;
        }
        let until = now + Span::from_secs_f64(self.slow.patience);
        self.backlog.push_back(Waiting { visitor, owner, until });
    }

    /// The next thing to do.
    pub(super) fn happening(&mut self) -> Option<Happening> {
        self.happenings.pop_front()
    }

    /// The request of a slow client is held under that key.
    pub(super) fn holds(&mut self, slow: usize, held: usize) {
        if let Some(visit) = self.visits.get_mut(slow) {
            visit.held = Some(held);
        }
    }

    /// The server has answered the request of a slow client, which takes its response.
    pub(super) fn answered(&mut self, now: Time, slow: usize, connection: ConnectionId) {
        if !self.has(slow, connection) {
            return;
        }
        let Pace::Read { response, .. } = self.slow.pace else {
            self.close(now, connection);
            return;
        };
        let most =
            if self.memory.may_keep(MemoryBudget::PIECE) { MAX_KEPT_BYTES } else { MemoryBudget::PIECE };
        let kept = most.min(response as u64);
        self.memory.keep(kept);
        if let Some(visit) = self.visits.get_mut(slow) {
            (visit.kept, visit.left, visit.held) = (kept, response, None);
        }
        self.table.waits(connection, Awaited::Taking, now);
        self.await_progress(now, slow, connection);
    }

    /// A request has a place in the server.
    pub(super) fn dispatched(&mut self, connection: ConnectionId) {
        self.table.dispatched(connection, None);
    }

    /// A connection has done what it was for. Gives the key under which the request of a slow client is held.
    pub(super) fn close(&mut self, now: Time, connection: ConnectionId) -> Option<usize> {
        let visitor = self.table.close(connection)?;
        if !self.backlog.is_empty() {
            self.accept = now;
        }
        let Visitor::Slow(slow) = visitor else { return None };
        let Visit { kept, held, .. } = self.visits.get_mut(slow).map(std::mem::take)?;
        self.memory.unkeep(kept, 0);
        self.add(now + Span::from_secs_f64(self.slow.again), Event::Connect { slow });
        held
    }

    /// From which address a slow client comes.
    pub(super) fn owner(&self, slow: usize) -> u64 {
        u64::MAX - slow as u64 % u64::from(self.slow.addresses)
    }

    /// How much of what there is, is used, when the policy is to be told.
    pub(super) fn changed_pressure(&mut self, now: Time, upstream: usize) -> Option<Ratio> {
        self.table.changed_pressure(now, upstream)
    }

    fn accept_all(&mut self, now: Time, upstream: usize) {
        self.accept = Time::NEVER;
        while !self.backlog.is_empty() {
            if !self.has_room(now, upstream) {
                self.accept = now + ACCEPT_PAUSE;
                return;
            }
            let Some(Waiting { visitor, owner, .. }) = self.backlog.pop_front() else { return };
            let connection = self.table.connect(now, owner, |_| visitor);
            self.begin(now, visitor, connection);
        }
    }

    fn has_room(&mut self, now: Time, upstream: usize) -> bool {
        if self.connections.closing == Closing::Timeouts {
            return self.table.open() + upstream < self.connections.limits.connections;
        }
        // What is closed makes room at once.
        self.table.has_room(now, upstream) || self.carry_out(now) > 0
    }

    /// A client was accepted. One whose request counts sends it at once, with the connection as its own.
    fn begin(&mut self, now: Time, visitor: Visitor, connection: ConnectionId) {
        let Visitor::Slow(slow) = visitor else {
            self.table.enter(connection, Phase::Busy, now);
            self.happenings.push_back(Happening::Asks(visitor, connection));
            return;
        };
        if let Some(visit) = self.visits.get_mut(slow) {
            *visit = Visit { connection: Some(connection), ..Visit::default() };
        }
        self.table.enter(connection, Phase::Head, now);
        let head = match self.slow.pace {
            Pace::Send(rate) => Span::from_secs_f64(SlowClients::HEAD_BYTES / rate),
            Pace::Read { .. } => Span::ZERO,
        };
        self.add(now + head, Event::HeadWhole { slow, connection });
    }

    /// A slow client has taken some of its response.
    fn take(&mut self, now: Time, slow: usize, connection: ConnectionId) {
        let Some(visit) = self.visits.get_mut(slow) else { return };
        visit.left -= Stall::MIN_PROGRESS as f64;
        let left = visit.left;
        self.table.moved(connection, Awaited::Taking, Stall::MIN_PROGRESS);
        if left <= 0.0 {
            self.table.answered(connection, now);
            self.close(now, connection);
        } else {
            self.table.waits(connection, Awaited::Taking, now);
            self.await_progress(now, slow, connection);
        }
    }

    fn await_progress(&mut self, now: Time, slow: usize, connection: ConnectionId) {
        if let Pace::Read { rate, .. } = self.slow.pace {
            let after = Span::from_secs_f64(Stall::MIN_PROGRESS as f64 / rate);
            self.add(now + after, Event::Took { slow, connection });
        }
    }

    fn sweep(&mut self, now: Time, upstream: usize, waiting: bool) {
        let kept = self.memory.taken(Share::Unsent);
        self.table.set_memory(self.table.open() as u64 * CONNECTION_BYTES + kept);
        let makes_room = self.connections.closing == Closing::MakesRoom;
        self.table.sweep(now);
        if makes_room {
            let wanted = if waiting { usize::MAX } else { 0 };
            self.table.make_room_in_server(now, wanted);
            self.table.relieve(now, upstream);
        }
        self.carry_out(now);
        self.add(now + SWEEP_INTERVAL, Event::Sweep);
    }

    /// Closes what is to be closed; gives how many connections that were.
    fn carry_out(&mut self, now: Time) -> usize {
        let mut closed = 0;
        while let Some((connection, order)) = self.table.next_order() {
            if !matches!(order, Order::Timeout | Order::Close) {
                continue;
            }
            if let Some(held) = self.close(now, connection) {
                self.happenings.push_back(Happening::Closed(held));
            }
            closed += 1;
        }
        closed
    }

    fn give_up(&mut self, now: Time, visitor: Visitor) {
        match visitor {
            Visitor::Counted(key) => self.happenings.push_back(Happening::GivesUp(key)),
            Visitor::Slow(slow) => {
                self.add(now + Span::from_secs_f64(self.slow.again), Event::Connect { slow });
            }
        }
    }

    fn has(&self, slow: usize, connection: ConnectionId) -> bool {
        self.visits.get(slow).is_some_and(|visit| visit.connection == Some(connection))
    }

    fn add(&mut self, at: Time, event: Event) {
        self.added += 1;
        self.events.push(Reverse((at, self.added, event)));
    }
}
