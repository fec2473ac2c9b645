//! [`Trace`]: all that happened, a line each.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::hash::Hasher as _;
use std::rc::Rc;

use tokio::time::Instant;

/// What happened in a world. Lines are kept when they are wanted; their hash always is.
#[derive(Debug, Clone)]
pub struct Trace(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    began: Instant,
    /// FNV-1a of all lines.
    hash: Cell<u64>,
    kept: Option<RefCell<String>>,
}

/// Whether lines are kept or only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Text and hash.
    Lines,
    /// The hash alone.
    Hash,
}

struct Fnv(u64);

impl std::hash::Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Trace {
    /// An empty trace that begins now.
    pub fn new(keep: Keep) -> Self {
        let kept = (keep == Keep::Lines).then(RefCell::default);
        let hash = Cell::new(0xCBF2_9CE4_8422_2325);
        Self(Rc::new(Inner { began: Instant::now(), hash, kept }))
    }

    /// Writes a line; the time stands in front of it, in milliseconds.
    pub fn line(&self, what: fmt::Arguments<'_>) {
        let line = format!("{} {what}\n", self.0.began.elapsed().as_millis());
        let mut hash = Fnv(self.0.hash.get());
        hash.write(line.as_bytes());
        self.0.hash.set(hash.finish());
        if let Some(kept) = &self.0.kept {
            kept.borrow_mut().push_str(&line);
        }
    }

    /// The hash of all lines.
    pub fn hash(&self) -> u64 {
        self.0.hash.get()
    }

    /// The lines, if they were kept.
    pub fn text(&self) -> String {
        self.0.kept.as_ref().map(|kept| kept.borrow().clone()).unwrap_or_default()
    }
}
