//! [`Places`]: who may be in the server.

use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// Who may be in the server, as both sides see it. All of it is a hint: the gate counts anew, and a process that writes what
/// it likes here gains no more than what it has already, the server's own sockets.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Places {
    free: AtomicI32,
    waits: AtomicU32,
    /// Whether the gate is to be woken when something has happened.
    asleep: AtomicU32,
    /// Whether the gate has connections that no process wants.
    hungry: AtomicU32,
    /// Whether the gate has been told to look, and has not looked yet.
    told: AtomicU32,
    /// Whether processes may accept connections themselves.
    calm: AtomicU32,
}

impl Places {
    /// Whether a request may begin without being asked about: there are places, and no request waits for one.
    pub fn are_open(&self) -> bool {
        self.waits.load(Ordering::Relaxed) == 0 && self.free.load(Ordering::Relaxed) > 0
    }

    /// Whether processes may accept connections themselves, as far as the gate has seen.
    pub fn are_calm(&self) -> bool {
        self.calm.load(Ordering::Relaxed) != 0
    }

    /// Processes may accept connections themselves from now on, or are to leave that to the gate.
    pub fn set_calm(&self, calm: bool) {
        self.calm.store(calm.into(), Ordering::SeqCst);
    }

    /// Takes one. There may be none left: of two that begin at once both do.
    pub fn take(&self) {
        self.free.fetch_sub(1, Ordering::Relaxed);
    }

    /// Gives one back.
    pub fn give(&self) {
        self.free.fetch_add(1, Ordering::Release);
    }

    /// So many more, or fewer.
    pub fn add(&self, more: i32) {
        self.free.fetch_add(more, Ordering::AcqRel);
    }

    /// How many there are.
    pub fn free(&self) -> i32 {
        self.free.load(Ordering::Acquire)
    }

    /// Whether anybody waits for one.
    pub fn set_waits(&self, waits: bool) {
        self.waits.store(waits.into(), Ordering::Release);
    }

    /// Whether anybody waits for one.
    pub fn is_waited_for(&self) -> bool {
        self.waits.load(Ordering::Acquire) != 0
    }

    /// The gate is to be woken by the next that happens, or not.
    pub fn set_asleep(&self, asleep: bool) {
        self.asleep.store(asleep.into(), Ordering::SeqCst);
    }

    /// Whether the gate has to be woken; told to one only.
    pub fn must_wake(&self) -> bool {
        self.asleep.load(Ordering::SeqCst) != 0 && self.asleep.swap(0, Ordering::SeqCst) != 0
    }

    /// Whether the gate is still to be told to look, which one does for all.
    pub fn must_tell(&self) -> bool {
        self.told.swap(1, Ordering::SeqCst) == 0
    }

    /// The gate looks now.
    pub fn set_looking(&self) {
        self.told.store(0, Ordering::SeqCst);
    }

    /// The gate has connections that no process wants, or none.
    pub fn set_hungry(&self, hungry: bool) {
        self.hungry.store(hungry.into(), Ordering::SeqCst);
    }

    /// Whether the gate wants to know of a process that wants a connection; told to one only.
    pub fn must_tell_wanted(&self) -> bool {
        self.hungry.load(Ordering::SeqCst) != 0 && self.hungry.swap(0, Ordering::SeqCst) != 0
    }
}
