//! [`Connections`]: all connections and streams, what they do, and what they are told.

use alloc::collections::VecDeque;

use slab::Slab;
use units::{ClassId, Time};

use super::cause::Cause;
use super::entry::{Entry, Streams};
use super::id::ConnectionId;
use super::limits::ConnectionLimits;
use super::phase::{Order, Phase};
use super::stall::Awaited;

/// All connections and streams, each with a payload `P`: a state machine that decides which of them are
/// refused or closed.
///
/// It is told what happens; what is to be done is read with [`Self::next_order`] after each of the calls
/// that say so. Ids of what was closed are ignored.
#[derive(Debug)]
pub struct Connections<P> {
    pub(super) limits: ConnectionLimits,
    pub(super) entries: Slab<Entry<P>>,
    generation: u32,
    open: usize,
    streams: usize,
    idle: usize,
    refused_streams: u64,
    orders: VecDeque<(ConnectionId, Order)>,
    /// When the slow ones were counted, and how many there were.
    pub(super) slow: (Time, usize),
    /// How much of the memory is used.
    pub(super) memory: f64,
    /// What was last said of the pressure.
    pub(super) told: f64,
}

/// By so many requests more may a client take back than it takes answers for. Browsers take a page's worth
/// back when their user goes on; a client that does nothing else floods (CVE-2023-44487).
const MAX_TAKEN_BACK: u32 = 200;

impl<P> Connections<P> {
    /// No connections yet, and what there may be.
    pub fn new(limits: ConnectionLimits) -> Self {
        Self {
            limits,
            entries: Slab::new(),
            generation: 0,
            open: 0,
            streams: 0,
            idle: 0,
            refused_streams: 0,
            orders: VecDeque::new(),
            slow: (Time::ZERO, 0),
            memory: 0.0,
            told: 0.0,
        }
    }

    /// Other limits. Connections beyond them stay; there are no more until some have gone.
    pub fn set_limits(&mut self, limits: ConnectionLimits) {
        self.limits = limits;
        self.memory = 0.0;
    }

    /// The limits.
    pub fn limits(&self) -> &ConnectionLimits {
        &self.limits
    }

    /// Connections open.
    pub fn open(&self) -> usize {
        self.open
    }

    /// Of these, connections without a request, which can be closed when others need the room.
    pub fn idle(&self) -> usize {
        self.idle
    }

    /// Streams of HTTP/2 open.
    pub fn streams(&self) -> usize {
        self.streams
    }

    /// Streams that were refused.
    pub fn refused_streams(&self) -> u64 {
        self.refused_streams
    }

    /// A client has connected; `owner` is any number that is the same for the same client address.
    pub fn connect(
        &mut self,
        now: Time,
        owner: u64,
        payload: impl FnOnce(ConnectionId) -> P,
    ) -> ConnectionId {
        self.open += 1;
        self.idle += 1;
        self.insert(|id| Entry::new(None, owner, Phase::New, now, payload(id)))
    }

    /// A client asks for something on a new stream of its connection, which has a request in hand. `None`
    /// when there is no room for another stream.
    pub fn open_stream(
        &mut self,
        now: Time,
        connection: ConnectionId,
        payload: impl FnOnce(ConnectionId) -> P,
    ) -> Option<ConnectionId> {
        if self.streams >= self.limits.streams {
            self.refused_streams += 1;
            return None;
        }
        self.streams += 1;
        self.count(now, connection, |streams| streams.open += 1);
        let owner = self.entry(connection).map_or(0, |entry| entry.owner);
        Some(self.insert(|id| Entry::new(Some(connection), owner, Phase::Busy, now, payload(id))))
    }

    /// A stream has ended; whether its client has taken the request back without waiting for the response.
    /// Orders may follow.
    pub fn close_stream(&mut self, now: Time, id: ConnectionId, taken_back: bool) -> Option<P> {
        let connection = self.entry(id)?.connection?;
        let entry = self.entries.try_remove(id.position())?;
        self.streams -= 1;
        let mut floods = false;
        self.count(now, connection, |streams| {
            streams.open = streams.open.saturating_sub(1);
            streams.taken_back = match taken_back {
                true => streams.taken_back + 1,
                false => streams.taken_back.saturating_sub(1),
            };
            floods = streams.taken_back > MAX_TAKEN_BACK;
        });
        if floods {
            self.order(connection, Order::Close, Some(Cause::Flood));
        }
        Some(entry.payload)
    }

    /// A connection is closed.
    pub fn close(&mut self, id: ConnectionId) -> Option<P> {
        self.entry(id).filter(|entry| !entry.is_stream())?;
        let entry = self.entries.try_remove(id.position())?;
        self.open -= 1;
        self.idle -= usize::from(entry.phase.is_idle());
        Some(entry.payload)
    }

    /// It is known now whose connection it is: behind a proxy, another client than the socket says.
    pub fn set_owner(&mut self, id: ConnectionId, owner: u64) {
        if let Some(entry) = self.entry_mut(id) {
            entry.owner = owner;
        }
    }

    /// HTTP/2 is spoken on a connection.
    pub fn multiplex(&mut self, id: ConnectionId) {
        if let Some(entry) = self.entry_mut(id) {
            entry.streams = Some(Streams::default());
        }
    }

    /// A connection or a stream comes to another phase.
    pub fn enter(&mut self, id: ConnectionId, phase: Phase, now: Time) {
        let Some(entry) = self.entry_mut(id) else { return };
        let (before, phase) = (entry.phase, entry.next_phase(phase));
        if before == phase {
            return;
        }
        (entry.phase, entry.since) = (phase, now);
        if !entry.is_stream() {
            self.idle = self.idle + usize::from(phase.is_idle()) - usize::from(before.is_idle());
        }
    }

    /// What a connection or a stream is doing; what was closed lingers.
    pub fn phase(&self, id: ConnectionId) -> Phase {
        self.entry(id).map_or(Phase::Lingering, |entry| entry.phase)
    }

    /// When its phase began.
    pub fn since(&self, id: ConnectionId) -> Time {
        self.entry(id).map_or(Time::ZERO, |entry| entry.since)
    }

    /// A peer is waited for, unless it has been already.
    pub fn waits(&mut self, id: ConnectionId, awaited: Awaited, now: Time) {
        if let Some(entry) = self.entry_mut(id) {
            entry.stall(awaited).waits(now);
        }
    }

    /// So many bytes moved of what is awaited.
    pub fn moved(&mut self, id: ConnectionId, awaited: Awaited, bytes: usize) {
        if let Some(entry) = self.entry_mut(id) {
            entry.stall(awaited).moved(bytes);
        }
    }

    /// It is no longer awaited.
    pub fn over(&mut self, id: ConnectionId, awaited: Awaited) {
        if let Some(entry) = self.entry_mut(id) {
            entry.stall(awaited).over();
        }
    }

    /// A request has got a place in the server.
    pub fn dispatched(&mut self, id: ConnectionId, class: Option<ClassId>) {
        let Some(entry) = self.entry_mut(id) else { return };
        entry.placed = true;
        let Some(class) = class else { return };
        entry.class = class;
        let connection = entry.connection;
        if let Some(connection) = connection.and_then(|connection| self.entry_mut(connection)) {
            connection.class = class;
        }
    }

    /// A request is answered.
    pub fn answered(&mut self, id: ConnectionId, now: Time) {
        if let Some(entry) = self.entry_mut(id) {
            entry.placed = false;
        }
        self.enter(id, Phase::Idle, now);
    }

    /// The class of the last request that was served; without one, below all others.
    pub fn class(&self, id: ConnectionId) -> ClassId {
        self.entry(id).map_or(ClassId(u8::MAX), |entry| entry.class)
    }

    /// What is kept with a connection or a stream.
    pub fn get(&self, id: ConnectionId) -> Option<&P> {
        self.entry(id).map(|entry| &entry.payload)
    }

    /// Connections, without their streams, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (ConnectionId, &P)> {
        let connections = self.entries.iter().filter(|(_, entry)| !entry.is_stream());
        connections.map(|(position, entry)| (ConnectionId::new(entry.generation, position), &entry.payload))
    }

    /// The next that is to be told something else than before, and what.
    pub fn next_order(&mut self) -> Option<(ConnectionId, Order)> {
        self.orders.pop_front()
    }

    /// Closes a connection or a stream whose request cannot go on. An order follows.
    pub fn give_up(&mut self, id: ConnectionId) {
        self.order(id, Order::Close, Some(Cause::Stuck));
    }

    /// Why a connection or a stream was told to end with a request in hand; a stream ends with its connection.
    pub fn cause(&self, id: ConnectionId) -> Option<Cause> {
        let entry = self.entry(id)?;
        entry.cause.or_else(|| self.entry(entry.connection?)?.cause)
    }

    /// Tells a connection or a stream what to do, and why if a request in hand is lost by it; a harsher order stands.
    pub(super) fn order(&mut self, id: ConnectionId, order: Order, cause: Option<Cause>) {
        let Some(entry) = self.entry_mut(id) else { return };
        if entry.order < order {
            (entry.order, entry.cause) = (order, cause);
            self.orders.push_back((id, order));
        }
    }

    /// Counts streams; a connection is busy as long as it has one.
    fn count(&mut self, now: Time, id: ConnectionId, change: impl FnOnce(&mut Streams)) {
        let Some(entry) = self.entry_mut(id) else { return };
        let streams = entry.streams.get_or_insert_default();
        change(streams);
        let phase = if streams.open > 0 { Phase::Busy } else { Phase::Idle };
        if entry.phase != Phase::Lingering {
            self.enter(id, phase, now);
        }
    }

    fn insert(&mut self, entry: impl FnOnce(ConnectionId) -> Entry<P>) -> ConnectionId {
        self.generation = self.generation.wrapping_add(1);
        let vacant = self.entries.vacant_entry();
        let id = ConnectionId::new(self.generation, vacant.key());
        vacant.insert(Entry { generation: self.generation, ..entry(id) });
        id
    }

    fn entry(&self, id: ConnectionId) -> Option<&Entry<P>> {
        self.entries.get(id.position()).filter(|entry| entry.generation == id.generation())
    }

    pub(super) fn entry_mut(&mut self, id: ConnectionId) -> Option<&mut Entry<P>> {
        self.entries.get_mut(id.position()).filter(|entry| entry.generation == id.generation())
    }
}
