//! [`Memory`]: what the gate and the server's processes share.

use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use crate::events::Events;
use crate::message::VERSION;
use crate::places::Places;
use crate::slot::Slot;
use crate::tokens::Tokens;

/// Processes at most, each counted once for each listener that it uses.
pub const PROCESSES: usize = 4096;
/// Connections at most that are handed over and not closed.
pub const SLOTS: usize = 65_536;
/// Connections that a process may accept itself until the gate has seen that it has.
pub const READY: usize = 256;

/// "hwattach".
const MAGIC: [u32; 2] = [0x6861_7474, 0x6163_6877];

/// What the gate and the server's processes share: a sealed memory file (memfd_create(2)) of zeros at first, in which most
/// pages are never touched. There are atomic words and bytes in it only, so that it may be looked at whatever others do.
#[derive(Debug)]
#[repr(C)]
pub struct Memory {
    magic: [AtomicU32; 2],
    version: AtomicU32,
    /// Who may be in the server.
    pub places: Places,
    /// Whose sessions begin, or go on, without the gate.
    pub tokens: Tokens,
    /// Processes of the server.
    pub processes: [Process; PROCESSES],
    /// Connections.
    pub slots: [Slot; SLOTS],
    /// What has happened on them.
    pub events: Events,
}

/// A process of the server that uses a listener.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Process {
    wants: AtomicU32,
    has_many: AtomicU32,
    /// Whether it has threads that wait for one connection each.
    waits_alone: AtomicU32,
    queued: AtomicI32,
    /// Whether it accepts connections itself.
    accepts: AtomicU32,
    /// 0 unless connections wait that no process takes.
    crowd: AtomicU32,
    /// What it had found there when it looked last.
    crowd_seen: AtomicU32,
    number_ready: AtomicI32,
    /// Slots for such, each one more than its number; 0 in an empty place.
    ready: [AtomicU32; READY],
}

impl Memory {
    /// Marks fresh memory as what it is.
    pub fn begin(&self) {
        self.mark();
        self.events.begin();
    }

    /// By this processes know what it is.
    pub fn mark(&self) {
        self.version.store(VERSION.into(), Ordering::Relaxed);
        self.magic.iter().zip(MAGIC).for_each(|(word, magic)| word.store(magic, Ordering::Release));
    }

    /// Whether it is what it should be.
    pub fn is_ours(&self) -> bool {
        let has_magic =
            self.magic.iter().zip(MAGIC).all(|(word, magic)| word.load(Ordering::Acquire) == magic);
        has_magic && self.version.load(Ordering::Relaxed) == u32::from(VERSION)
    }
}

impl Process {
    /// One that waits for a connection while it has others serves many at a time.
    const AT_ONCE: [i32; 2] = [1, 64];

    /// As of a process that has just come.
    pub fn begin(&self) {
        self.wants.store(0, Ordering::Relaxed);
        self.has_many.store(0, Ordering::Relaxed);
        self.waits_alone.store(0, Ordering::Relaxed);
        self.accepts.store(0, Ordering::Relaxed);
        self.crowd.store(0, Ordering::Relaxed);
        self.crowd_seen.store(0, Ordering::Relaxed);
        self.ready.iter().for_each(|place| place.store(0, Ordering::Relaxed));
        self.number_ready.store(0, Ordering::Relaxed);
        self.queued.store(0, Ordering::Release);
    }

    /// It waits for a connection; whether that is new.
    pub fn want(&self, has_others: bool) -> bool {
        if has_others {
            self.serves_many();
        }
        self.wants.load(Ordering::Relaxed) == 0 && self.wants.swap(1, Ordering::SeqCst) == 0
    }

    /// It serves many at a time, and may be given further ones while it does not wait.
    pub fn serves_many(&self) {
        if self.has_many.load(Ordering::Relaxed) == 0 {
            self.has_many.store(1, Ordering::Relaxed);
        }
    }

    /// Whether it does.
    pub fn has_many(&self) -> bool {
        self.has_many.load(Ordering::Relaxed) != 0
    }

    /// A thread of it waits for the next request of one connection.
    pub fn waits_alone(&self) {
        if self.waits_alone.load(Ordering::Relaxed) == 0 {
            self.waits_alone.store(1, Ordering::Relaxed);
        }
    }

    /// Whether who serves a connection of it waits for the next request, and for nothing else.
    pub fn serves_alone(&self) -> bool {
        !self.has_many() || self.waits_alone.load(Ordering::Relaxed) != 0
    }

    /// It does not wait for one any more.
    pub fn stop_wanting(&self) {
        self.wants.store(0, Ordering::Release);
    }

    /// It accepts connections itself from now on, or leaves that to the gate.
    pub fn set_accepts(&self, accepts: bool) {
        self.accepts.store(accepts.into(), Ordering::SeqCst);
    }

    /// Whether it accepts connections itself, and waits for some.
    pub fn accepts(&self) -> bool {
        self.accepts.load(Ordering::SeqCst) != 0 && self.wants.load(Ordering::SeqCst) != 0
    }

    /// Connections wait that no process takes: it is to give those back on which nothing is asked; another number each time that this is found, and 0 when it
    /// is over.
    pub fn set_crowd(&self, crowd: u32) {
        self.crowd.store(crowd, Ordering::Release);
    }

    /// That number.
    pub fn crowd(&self) -> u32 {
        self.crowd.load(Ordering::Acquire)
    }

    /// It has looked for connections to give back since it was this number.
    pub fn set_crowd_seen(&self, crowd: u32) {
        self.crowd_seen.store(crowd, Ordering::Release);
    }

    /// That number, when it looked last.
    pub fn crowd_seen(&self) -> u32 {
        self.crowd_seen.load(Ordering::Acquire)
    }

    /// Whether it waits for one, whatever is on its way to it.
    pub fn wants(&self) -> bool {
        self.wants.load(Ordering::SeqCst) != 0
    }

    /// A slot is ready; whether there was room for it.
    pub fn add_ready(&self, slot: u32) -> bool {
        let free = |place: &&AtomicU32| {
            place.load(Ordering::Relaxed) == 0
                && place.compare_exchange(0, slot + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        let is_added = self.ready.iter().find(free).is_some();
        if is_added {
            self.number_ready.fetch_add(1, Ordering::AcqRel);
        }
        is_added
    }

    /// Takes one, with how many are left, about.
    pub fn take_ready(&self) -> Option<(u32, usize)> {
        let slot = self.ready.iter().find_map(|place| {
            let is_there = place.load(Ordering::Relaxed) != 0;
            let slot = if is_there { place.swap(0, Ordering::AcqRel) } else { 0 };
            slot.checked_sub(1)
        })?;
        let before = self.number_ready.fetch_sub(1, Ordering::AcqRel);
        Some((slot, usize::try_from(before - 1).unwrap_or_default()))
    }

    /// One that was taken is not used. There is room: where the gate has filled it meanwhile, it finds out that this one is amiss.
    pub fn give_back_ready(&self, slot: u32) {
        let _ = self.add_ready(slot);
    }

    /// Whether there is one, as far as is known.
    pub fn has_ready(&self) -> bool {
        self.number_ready.load(Ordering::Acquire) > 0
    }

    /// How many could be added.
    pub fn not_ready(&self) -> usize {
        self.ready.iter().filter(|place| place.load(Ordering::Relaxed) == 0).count()
    }

    /// Whether it can be given one.
    pub fn is_willing(&self) -> bool {
        let has_many = usize::from(self.has_many.load(Ordering::Relaxed) != 0);
        self.wants.load(Ordering::SeqCst) != 0 && self.queued() < Self::AT_ONCE[has_many]
    }

    /// Connections that are on their way to it.
    pub fn queued(&self) -> i32 {
        self.queued.load(Ordering::Acquire).max(0)
    }

    /// One more is on its way. Who serves one at a time has to say that it wants the next. Gives whether it had said so.
    pub fn send(&self) -> bool {
        self.queued.fetch_add(1, Ordering::AcqRel);
        let wanted = self.wants.load(Ordering::Relaxed) != 0;
        if self.has_many.load(Ordering::Relaxed) == 0 {
            self.stop_wanting();
        }
        wanted
    }

    /// One could not be sent; `wanted` is what [`Self::send`] gave.
    pub fn take_back(&self, wanted: bool) {
        self.queued.fetch_sub(1, Ordering::AcqRel);
        if wanted {
            self.wants.store(1, Ordering::SeqCst);
        }
    }

    /// None is on its way.
    pub fn has_none(&self) {
        self.queued.store(0, Ordering::Release);
    }

    /// One has come. Who serves one at a time has to say that it wants the next.
    pub fn received(&self) {
        if self.has_many.load(Ordering::Relaxed) == 0 {
            self.stop_wanting();
        }
        self.queued.fetch_sub(1, Ordering::AcqRel);
    }
}
