//! What clients send is looked at byte by byte before hyper reads it as HTTP/1.
//!
//! A request that two programs understand differently is how one client speaks in the name of
//! another: the gate sees one request, the server behind it two. hyper forgives what RFC 9112
//! allows to be forgiven (a line that ends with LF alone, a length beside chunks), and what it
//! forgives can not be seen afterwards. So it gets only what can be read in one way: whole heads
//! that pass, and of bodies what is framed correctly.
//!
//! `head` reads a head line by line, `chunks` follows a body, `screen` puts them together without
//! a socket, and `filter` stands between socket and hyper. A breach ends what is read. Requests
//! before it are answered, then the client is told. HTTP/2 has frames instead of lines; what its
//! requests would mean as HTTP/1, `decoded` looks at.

mod breach;
mod bytes;
mod checked;
mod chunks;
mod decoded;
mod filter;
mod head;
mod names;
mod screen;
#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod trial;

use std::cell::{Cell, RefCell};

pub(crate) use breach::Breach;
pub(crate) use checked::Checked;
pub(crate) use filter::{Filter, Stop};

/// How much of what a request may have; in bytes, but for `fields`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The request line and all header lines.
    pub(crate) head: usize,
    pub(crate) target: usize,
    /// One header line.
    pub(crate) field: usize,
    /// Header lines, and again of trailers.
    pub(crate) fields: usize,
    pub(crate) trailers: usize,
    /// What stands before a chunk: its length and extensions.
    pub(crate) chunk_line: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: 32 * 1024,
            target: 8 * 1024,
            field: 16 * 1024,
            fields: 100,
            trailers: 4 * 1024,
            chunk_line: 256,
        }
    }
}

/// What all connections share: what was found, and a place to read into.
#[derive(Debug)]
pub(crate) struct Strictness {
    counts: [Cell<u64>; Breach::ALL.len()],
    scratch: RefCell<Box<[u8]>>,
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

    fn count(&self, breach: Breach) {
        let count = &self.counts[breach as usize];
        count.set(count.get() + 1);
    }
}
