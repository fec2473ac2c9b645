//! Where held requests are kept: a slab, and queues threaded through it.
//!
//! A request is in at most one queue, so one pair of links in its slot is enough, and moving it
//! allocates nothing.

use alloc::vec;
use alloc::vec::Vec;
use core::hash::BuildHasherDefault;

use units::{ClassId, RequestId, Time};

use crate::costs::Begun;
use crate::fairness::flows::{Flow, Flows, Node};
use crate::fairness::rank::Rank;
use crate::held_ids::HeldIds;
use crate::kind::Kind;
use crate::overtaking::Inside;
use crate::prospects::prospect::Prospect;
use crate::protocol::SessionHint;
use crate::waits::{Stage, Waits};

/// Position of a held request in the slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key(u32);

/// One of the queues; [`Layout`] gives them their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueId(pub(crate) usize);

/// Where a held request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// In a queue.
    Queue(QueueId),
    /// With the driver, which is finding its class.
    Classifying,
    /// Inside the server.
    InService,
    /// With the server, which does nothing for it: it has no place.
    Streaming,
    /// Refused in shadow mode, and nevertheless inside the server.
    Settled,
}

/// One held request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    pub(crate) id: RequestId,
    pub(crate) client: u64,
    /// What its session token says.
    pub(crate) session: SessionHint,
    /// What it asks for.
    pub(crate) kind: Kind,
    pub(crate) class: Option<ClassId>,
    /// The class that it waits in, if not its own.
    pub(crate) demoted_to: Option<ClassId>,
    /// Where it stands among those of its class, once its turn for admission has come.
    pub(crate) rank: Rank,
    /// What counts now of what serving its session promises.
    pub(crate) prospect: Prospect,
    /// What it promises, where that counts.
    pub(crate) promised: Prospect,
    pub(crate) position: Position,
    /// When it came to its place.
    pub(crate) since: Time,
    /// What was known of its cost when it was dispatched.
    pub(crate) begun: Begun,
    /// How long it waited in the queues it has left.
    pub(crate) waits: Waits,
    /// Order of arrival.
    pub(crate) sequence: u64,
    /// Periods it was held back.
    pub(crate) held_back: u32,
    /// Whether its client has gone while the server works on it.
    pub(crate) aborted: bool,
    /// Whether it took its place when it had been without one.
    pub(crate) resumed: bool,
    /// Whether what becomes of it tells something of how long sessions are.
    pub(crate) is_followed: bool,
    /// Whether it has kept its place although the server did nothing for it.
    pub(crate) stuck: bool,
    /// Who overtakes it in the server.
    pub(crate) inside: Inside,
    /// Whether it has given its place back before its response began.
    pub(crate) idles: bool,
    previous: u32,
    next: u32,
    /// Its place among those that take turns.
    node: Node,
}

impl Held {
    /// Whether a session begins with it, or comes back after a long time.
    pub(crate) fn begins(&self) -> bool {
        matches!(self.rank, Rank::New | Rank::Again)
    }

    /// A request that arrives; [`Store::insert`] gives it its order.
    pub(crate) fn arriving(id: RequestId, client: u64, session: SessionHint, kind: Kind, now: Time) -> Self {
        Self {
            id,
            client,
            session,
            kind,
            class: session.class(),
            demoted_to: None,
            rank: Rank::New,
            prospect: Prospect::NONE,
            promised: Prospect::NONE,
            position: Position::Classifying,
            since: now,
            begun: Begun::default(),
            waits: Waits::default(),
            sequence: 0,
            held_back: 0,
            is_followed: false,
            aborted: false,
            resumed: false,
            stuck: false,
            inside: Inside::default(),
            idles: false,
            previous: NONE,
            next: NONE,
            node: Node::NONE,
        }
    }

    /// Whether its class was known when it arrived.
    pub(crate) fn is_known(&self) -> bool {
        matches!(self.session, SessionHint::Known(_))
    }

    /// With whom it takes turns: sessions with sessions, and clients with clients where there is no session, or
    /// one that has had its share.
    pub(crate) fn flow(&self) -> Flow {
        let session = match self.session {
            SessionHint::Known(session) => Some(session.id.0),
            SessionHint::New | SessionHint::Visitor(_) => None,
        };
        match (self.rank, session) {
            (Rank::Existing, Some(session)) => Flow { client: None, owner: session },
            (Rank::Existing | Rank::New | Rank::Again, _) => Flow { client: None, owner: self.client },
            // Of one client those without a session are one flow.
            (Rank::Excess, session) => Flow { client: Some(self.client), owner: session.unwrap_or(u64::MAX) },
        }
    }
}

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Queue {
    head: u32,
    tail: u32,
    length: u32,
}

/// All held requests.
#[derive(Debug)]
pub(crate) struct Store {
    slots: Vec<Held>,
    free: Vec<u32>,
    index: HeldIds<u32>,
    queues: Vec<Queue>,
    /// How many wait in each stage.
    waiting: [u32; Stage::COUNT],
    /// Those in discard and class queues, by their turns.
    flows: Flows,
    /// Of each of those queues, what prospects those have that wait in it: a bit for each [`Prospect`].
    prospects: Vec<u32>,
    layout: Layout,
    sequence: u64,
    room: usize,
}

impl Store {
    /// Room for so many requests, and for `streaming` that wait in no queue.
    pub(crate) fn new(room: usize, streaming: usize, layout: Layout) -> Self {
        let all = room + streaming;
        Self {
            slots: Vec::with_capacity(all),
            free: Vec::with_capacity(all),
            // Twice the room: the table then cleans up its tombstones in place.
            index: HeldIds::with_capacity_and_hasher(all * 2, BuildHasherDefault::default()),
            queues: vec![Queue { head: NONE, tail: NONE, length: 0 }; layout.queues()],
            waiting: [0; Stage::COUNT],
            flows: Flows::new(layout.roots() * Prospect::COUNT, room),
            prospects: vec![0; layout.roots()],
            layout,
            sequence: 0,
            room: all,
        }
    }

    /// Room for another number of requests; those held stay, even if they are more.
    pub(crate) fn set_room(&mut self, room: usize, streaming: usize) {
        let all = room + streaming;
        self.room = all;
        self.slots.reserve(all.saturating_sub(self.slots.len()));
        self.free.reserve(all.saturating_sub(self.free.len()));
        self.index.reserve((all * 2).saturating_sub(self.index.len()));
        self.flows.make_room(room);
    }

    /// Those that the server does not have, in the order of their arrival.
    pub(crate) fn keys_outside(&self) -> Vec<Key> {
        let outside = |slot: &&u32| {
            !matches!(self.slots[**slot as usize].position, Position::InService | Position::Streaming)
        };
        let mut keys: Vec<Key> = self.index.values().filter(outside).map(|slot| Key(*slot)).collect();
        keys.sort_unstable_by_key(|key| self.get(*key).sequence);
        keys
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() >= self.room
    }

    pub(crate) fn contains(&self, id: RequestId) -> bool {
        self.index.contains_key(&id)
    }

    pub(crate) fn key(&self, id: RequestId) -> Option<Key> {
        self.index.get(&id).map(|slot| Key(*slot))
    }

    pub(crate) fn get(&self, key: Key) -> &Held {
        &self.slots[key.0 as usize]
    }

    pub(crate) fn get_mut(&mut self, key: Key) -> &mut Held {
        &mut self.slots[key.0 as usize]
    }

    /// Takes a request in; the caller has seen that there is room.
    pub(crate) fn insert(&mut self, mut held: Held) -> Key {
        held.sequence = self.sequence;
        self.sequence += 1;
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = held;
                slot
            }
            None => {
                self.slots.push(held);
                (self.slots.len() - 1) as u32
            }
        };
        self.index.insert(held.id, slot);
        Key(slot)
    }

    /// Forgets a request, wherever it is, and returns what was known of it.
    pub(crate) fn remove(&mut self, key: Key) -> Held {
        self.unlink(key);
        let held = *self.get(key);
        self.index.remove(&held.id);
        self.free.push(key.0);
        held
    }

    /// Moves a request to a place that is not a queue.
    pub(crate) fn put(&mut self, key: Key, position: Position, now: Time) {
        let waits = self.waits(key, now);
        self.unlink(key);
        let held = self.get_mut(key);
        held.position = position;
        held.since = now;
        held.waits = waits;
    }

    /// How long a request has waited by `now`.
    pub(crate) fn waits(&self, key: Key, now: Time) -> Waits {
        let held = self.get(key);
        let mut waits = held.waits;
        if let Position::Queue(queue) = held.position {
            waits.add(self.layout.stage(queue), now.since(held.since));
        }
        waits
    }

    /// Moves a request to the end of a queue.
    pub(crate) fn enqueue(&mut self, key: Key, queue: QueueId, now: Time) {
        self.put(key, Position::Queue(queue), now);
        if let Some(root) = self.layout.root(queue) {
            let held = self.get(key);
            let (flow, prospect) = (held.flow(), held.prospect.index());
            self.get_mut(key).node = self.flows.add(root * Prospect::COUNT + prospect, flow, key.0);
            self.prospects[root] |= 1 << prospect;
        }
        self.link(key, queue);
    }

    /// Moves a request to the end of the queue it is in; what its session promises counts as `prospect` from now on. If it counted as something
    /// else before, it comes last of those with that prospect.
    pub(crate) fn promise(&mut self, key: Key, prospect: Prospect) {
        let Held { position: Position::Queue(queue), since, prospect: before, .. } = *self.get(key) else {
            return;
        };
        if before == prospect {
            self.pass_over(key);
            return;
        }
        self.put(key, Position::Classifying, since);
        self.get_mut(key).prospect = prospect;
        self.enqueue(key, queue, since);
    }

    /// Moves a request to the end of the queue it is in. Its place among those that take turns stays.
    pub(crate) fn pass_over(&mut self, key: Key) {
        if let Position::Queue(queue) = self.get(key).position {
            self.unlink_from(key, queue);
            self.link(key, queue);
        }
    }

    fn link(&mut self, key: Key, queue: QueueId) {
        self.waiting[self.layout.stage(queue) as usize] += 1;
        let tail = self.queues[queue.0].tail;
        self.get_mut(key).previous = tail;
        match tail {
            NONE => self.queues[queue.0].head = key.0,
            tail => self.slots[tail as usize].next = key.0,
        }
        let queue = &mut self.queues[queue.0];
        queue.tail = key.0;
        queue.length += 1;
    }

    pub(crate) fn head(&self, queue: QueueId) -> Option<Key> {
        Some(self.queues[queue.0].head).filter(|head| *head != NONE).map(Key)
    }

    /// The request of a class or discard queue whose turn it is, and since when: of those with most prospect.
    pub(crate) fn next_turn(&self, queue: QueueId) -> Option<(Key, u64)> {
        let root = self.layout.root(queue)?;
        let most = self.prospects[root].checked_ilog2()?;
        let (slot, turn) = self.flows.first(root * Prospect::COUNT + most as usize)?;
        Some((Key(slot), turn))
    }

    /// Of the session or client that holds most of a class or discard queue the newest request, and how many
    /// those are: of those with least prospect.
    pub(crate) fn longest_flow(&self, queue: QueueId) -> Option<(Key, u32)> {
        let root = self.layout.root(queue)?;
        let least = self.prospects[root].trailing_zeros() as usize;
        let (slot, length) = self.flows.longest(root * Prospect::COUNT + least.min(Prospect::COUNT - 1))?;
        Some((Key(slot), length))
    }

    /// How many requests of a flow wait in a class or discard queue.
    pub(crate) fn length_of_flow(&self, queue: QueueId, flow: Flow) -> u32 {
        let Some(root) = self.layout.root(queue) else { return 0 };
        let of = |prospect| self.flows.length(root * Prospect::COUNT + prospect, flow);
        (0..Prospect::COUNT).filter(|prospect| self.prospects[root] >> prospect & 1 > 0).map(of).sum()
    }

    /// The requests in a queue, from its head.
    pub(crate) fn iter(&self, queue: QueueId) -> impl Iterator<Item = Key> + '_ {
        let next = |key: &Key| Some(self.get(*key).next).filter(|next| *next != NONE).map(Key);
        core::iter::successors(self.head(queue), next)
    }

    pub(crate) fn tail(&self, queue: QueueId) -> Option<Key> {
        Some(self.queues[queue.0].tail).filter(|tail| *tail != NONE).map(Key)
    }

    pub(crate) fn length(&self, queue: QueueId) -> u32 {
        self.queues[queue.0].length
    }

    /// Where a request waits; none when it does not.
    pub(crate) fn stage(&self, key: Key) -> Option<Stage> {
        match self.get(key).position {
            Position::Queue(queue) => Some(self.layout.stage(queue)),
            _ => None,
        }
    }

    /// How many wait in a stage, whatever their class.
    pub(crate) fn waiting(&self, stage: Stage) -> u32 {
        self.waiting[stage as usize]
    }

    /// How many wait in all stages.
    pub(crate) fn waiting_in_all(&self) -> u32 {
        self.waiting.iter().sum()
    }

    /// Length of several queues together.
    pub(crate) fn lengths(&self, queues: impl Iterator<Item = QueueId>) -> u32 {
        queues.map(|queue| self.length(queue)).sum()
    }

    fn unlink(&mut self, key: Key) {
        let Held { position: Position::Queue(queue), node, prospect, .. } = *self.get(key) else { return };
        if node != Node::NONE {
            self.flows.remove(node);
            if let Some(root) = self.layout.root(queue)
                && self.flows.is_empty(root * Prospect::COUNT + prospect.index())
            {
                self.prospects[root] &= !(1 << prospect.index());
            }
        }
        self.unlink_from(key, queue);
        let held = self.get_mut(key);
        held.node = Node::NONE;
        held.position = Position::Classifying;
    }

    fn unlink_from(&mut self, key: Key, queue: QueueId) {
        self.waiting[self.layout.stage(queue) as usize] -= 1;
        let Held { previous, next, .. } = *self.get(key);
        match previous {
            NONE => self.queues[queue.0].head = next,
            previous => self.slots[previous as usize].next = next,
        }
        match next {
            NONE => self.queues[queue.0].tail = previous,
            next => self.slots[next as usize].previous = previous,
        }
        self.queues[queue.0].length -= 1;
        let held = self.get_mut(key);
        (held.previous, held.next) = (NONE, NONE);
    }
}

/// Which queue is which: a fixed numbering for a number of classes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    classes: usize,
}

impl Layout {
    pub(crate) fn new(classes: usize) -> Self {
        Self { classes }
    }

    /// Number of queues in all.
    pub(crate) fn queues(self) -> usize {
        self.class(ClassId(self.classes as u8), Rank::Existing).0
    }

    /// How many of them have requests that take turns: the discard and the class queues.
    pub(crate) fn roots(self) -> usize {
        self.queues() - self.discard(ClassId(0), Rank::Existing).0
    }

    /// Which of those a queue is.
    pub(crate) fn root(self, queue: QueueId) -> Option<usize> {
        queue.0.checked_sub(self.discard(ClassId(0), Rank::Existing).0)
    }

    /// All queues.
    pub(crate) fn every(self) -> impl Iterator<Item = QueueId> {
        (0..self.queues()).map(QueueId)
    }

    /// The part of the acceptor queue for a known class, or for requests not known.
    pub(crate) fn acceptor(self, known: Option<ClassId>) -> QueueId {
        QueueId(known.map_or(self.classes, ClassId::index))
    }

    /// Requests not known to be important: those whose class is known, or the others.
    pub(crate) fn pending(self, known: bool) -> QueueId {
        QueueId(self.classes + 1 + usize::from(!known))
    }

    /// Requests of a class that are held back.
    pub(crate) fn discard(self, class: ClassId, rank: Rank) -> QueueId {
        QueueId(self.classes + 3 + Rank::COUNT * class.index() + rank.index())
    }

    /// Admitted requests of a class.
    pub(crate) fn class(self, class: ClassId, rank: Rank) -> QueueId {
        let before = self.discard(ClassId(self.classes as u8), Rank::Existing).0;
        QueueId(before + Rank::COUNT * class.index() + rank.index())
    }

    /// The stage that a queue belongs to.
    pub(crate) fn stage(self, queue: QueueId) -> Stage {
        if queue.0 >= self.class(ClassId(0), Rank::Existing).0 {
            Stage::Class
        } else if queue.0 >= self.discard(ClassId(0), Rank::Existing).0 {
            Stage::Discard
        } else if queue.0 >= self.pending(true).0 {
            Stage::Pending
        } else {
            Stage::Acceptor
        }
    }

    /// All admitted requests of a class, by rank.
    pub(crate) fn admitted(self, class: ClassId) -> impl DoubleEndedIterator<Item = QueueId> {
        Rank::ALL.into_iter().map(move |rank| self.class(class, rank))
    }

    /// All held-back requests of a class, by rank.
    pub(crate) fn held_back(self, class: ClassId) -> impl DoubleEndedIterator<Item = QueueId> {
        Rank::ALL.into_iter().map(move |rank| self.discard(class, rank))
    }

    /// All classes, most important first.
    pub(crate) fn all(self) -> impl DoubleEndedIterator<Item = ClassId> + Clone {
        (0..self.classes).map(|class| ClassId(class as u8))
    }

    /// The whole acceptor queue, from the most important known class to the unknown.
    pub(crate) fn acceptors(self) -> impl DoubleEndedIterator<Item = QueueId> {
        (0..=self.classes).map(QueueId)
    }

    pub(crate) fn pendings(self) -> impl Iterator<Item = QueueId> {
        [true, false].into_iter().map(move |known| self.pending(known))
    }

    /// From the most to the least important class, by rank in each.
    pub(crate) fn discards(self) -> impl DoubleEndedIterator<Item = QueueId> {
        let first = self.discard(ClassId(0), Rank::Existing).0;
        (first..self.class(ClassId(0), Rank::Existing).0).map(QueueId)
    }

    pub(crate) fn class_queues(self) -> impl Iterator<Item = QueueId> {
        (self.class(ClassId(0), Rank::Existing).0..self.queues()).map(QueueId)
    }
}
