//! [`Strictness`]: what the filters of all connections share.

use std::cell::{Cell, RefCell};

use http::Version;
use http::request::Parts;
use http1::request::{Breach, Limits, decoded};

/// What all connections share: what was found, and a place to read into.
#[derive(Debug)]
pub(crate) struct Strictness {
    counts: [Cell<u64>; Breach::ALL.len()],
    pub(super) scratch: RefCell<Box<[u8]>>,
}

impl Default for Strictness {
    fn default() -> Self {
        /// What hyper asks for at once is less, except in large bodies.
        const SCRATCH: usize = 64 * 1024;
        Self { counts: Default::default(), scratch: RefCell::new(vec![0; SCRATCH].into()) }
    }
}

impl Strictness {
    /// Requests refused, by what was wrong with them.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Breach::ALL.iter().map(|breach| breach.name()).zip(self.counts.iter().map(Cell::get))
    }

    pub(super) fn count(&self, breach: Breach) {
        let count = &self.counts[breach as usize];
        count.set(count.get() + 1);
    }

    /// What is wrong with a request, if it came over HTTP/2: no filter has seen it then.
    pub(crate) fn breach(&self, head: &Parts, limits: &Limits) -> Option<Breach> {
        if head.version != Version::HTTP_2 {
            return None;
        }
        decoded(head, limits).inspect_err(|breach| self.count(*breach)).err()
    }
}
