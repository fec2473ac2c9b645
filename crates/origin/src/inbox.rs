//! [`Inbox`]: bytes read from a connection and not yet understood.

use std::io::{self, Read};

use crate::limits::MAX_HEAD;

/// A fixed buffer; what was consumed makes room when the next read needs it.
#[derive(Debug)]
pub(crate) struct Inbox {
    bytes: Box<[u8; MAX_HEAD]>,
    start: usize,
    end: usize,
}

/// What a read brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filled {
    /// The peer has finished sending.
    End,
    /// Some bytes, with room to spare: nothing more was there.
    Some,
    /// As many bytes as there was room for; more may be waiting.
    Full,
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Self { bytes: Box::new([0; MAX_HEAD]), start: 0, end: 0 }
    }

    /// The bytes not yet consumed.
    pub(crate) fn pending(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Drops the first `count` pending bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Reads once.
    pub(crate) fn fill(&mut self, source: &mut impl Read) -> io::Result<Filled> {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let room = self.bytes.get_mut(self.end..).unwrap_or_default();
        let count = loop {
            match source.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        let filled = match count {
            0 => Filled::End,
            all if all == room.len() => Filled::Full,
            _ => Filled::Some,
        };
        self.end += count;
        Ok(filled)
    }
}
