//! [`Heads`]: the heads of requests that have begun, until the gate reads them.

use core::sync::atomic::{AtomicU64, Ordering, fence};

/// As much of a request's head is kept.
pub const MAX_HEAD: usize = 1496;

/// 1 MiB: what is touched again and again stays near to the processor.
const LENGTH: usize = 131_072;

/// Heads, one behind the other: the oldest are written over when there is no room, whether or not they have been read.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Heads {
    /// Words that have been written since the beginning.
    tail: AtomicU64,
    words: [AtomicU64; LENGTH],
}

impl Heads {
    /// Keeps what there is room for; gives where it is, and how much of it.
    pub(crate) fn keep(&self, head: &[u8]) -> (u64, u16) {
        let head = &head[..head.len().min(MAX_HEAD)];
        if head.is_empty() {
            return (0, 0);
        }
        let at = self.tail.fetch_add(head.len().div_ceil(size_of::<u64>()) as u64, Ordering::AcqRel);
        for (step, bytes) in (0..).zip(head.chunks(size_of::<u64>())) {
            let mut word = [0; size_of::<u64>()];
            word[..bytes.len()].copy_from_slice(bytes);
            self.word(at.wrapping_add(step)).store(u64::from_ne_bytes(word), Ordering::Relaxed);
        }
        (at, head.len() as u16)
    }

    /// Copies a head; gives how long it is: nothing of one that has been written over.
    pub(crate) fn read(&self, (at, length): (u64, u16), into: &mut [u8; MAX_HEAD]) -> usize {
        let length = usize::from(length).min(MAX_HEAD);
        for (step, bytes) in (0..).zip(into[..length].chunks_mut(size_of::<u64>())) {
            let word = self.word(at.wrapping_add(step)).load(Ordering::Relaxed).to_ne_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
        // Who has written over it had taken the room before.
        fence(Ordering::Acquire);
        let is_there = self.tail.load(Ordering::Relaxed).wrapping_sub(at) <= LENGTH as u64;
        if is_there { length } else { 0 }
    }

    fn word(&self, at: u64) -> &AtomicU64 {
        &self.words[(at % LENGTH as u64) as usize]
    }
}

#[cfg(test)]
impl Heads {
    #[allow(clippy::declare_interior_mutable_const, reason = "each that is made of it is its own")]
    pub(crate) const EMPTY: Self =
        Self { tail: AtomicU64::new(0), words: [const { AtomicU64::new(0) }; LENGTH] };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_kept_until_there_is_no_room() {
        static HEADS: Heads = Heads::EMPTY;
        let mut into = [0; MAX_HEAD];
        assert_eq!(HEADS.keep(b""), (0, 0));
        let first = HEADS.keep(b"GET / HTTP/1.1\r\n");
        let second = HEADS.keep(&[b'x'; 2 * MAX_HEAD]);
        assert_eq!((first, second), ((0, 16), (2, MAX_HEAD as u16)));
        assert_eq!(HEADS.read(second, &mut into), MAX_HEAD);
        assert!(into.iter().all(|byte| *byte == b'x'));
        assert_eq!(HEADS.read(first, &mut into), 16);
        assert_eq!(&into[..16], b"GET / HTTP/1.1\r\n");
        while HEADS.tail.load(Ordering::Relaxed) <= LENGTH as u64 {
            HEADS.keep(&[b'y'; MAX_HEAD]);
        }
        assert_eq!(HEADS.read(first, &mut into), 0, "it has been written over");
        let last = HEADS.keep(b"the last");
        assert_eq!(HEADS.read(last, &mut into), 8);
        assert_eq!(&into[..8], b"the last");
    }
}
