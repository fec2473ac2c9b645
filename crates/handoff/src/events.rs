//! [`Events`]: what happens on connections, told by all processes to the gate.

use crate::heads::Heads;
pub use crate::heads::MAX_HEAD;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Events that are kept until the gate reads them.
const LENGTH: usize = 4096;

/// What has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum What {
    /// A request has begun without being asked about; its head is told.
    Began = 1,
    /// A response is over, all of it sent or not.
    Ended = 2,
    /// The server has closed the connection.
    Gone = 3,
    /// The server names a class for the session of the request at hand; its name is told.
    Class = 4,
    /// The server passes the connection to another process, where it is not followed.
    PassedOn = 5,
    /// The first on a connection that the server has accepted itself has begun; its head is told.
    BeganFirst = 6,
    /// As that, and its client is told of the session that was prepared.
    BeganSession = 7,
}

/// Something that has happened on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub what: What,
    /// The connection.
    pub slot: u32,
    /// When, in nanoseconds of CLOCK_MONOTONIC.
    pub time: u64,
    /// Status of a response that has ended; 0 of one that did not begin.
    pub status: u16,
    /// Bytes of it.
    pub bytes: u64,
}

/// A bounded queue for many writers and one reader, without locks (Vyukov, "Bounded MPMC queue"). A writer that finds it full
/// drops what it would say; what it costs is counted anew.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Events {
    tail: AtomicU64,
    dropped: AtomicU64,
    cells: [Cell; LENGTH],
    heads: Heads,
}

#[derive(Debug)]
#[repr(C, align(64))]
struct Cell {
    turn: AtomicU64,
    time: AtomicU64,
    bytes: AtomicU64,
    slot: AtomicU32,
    status: AtomicU16,
    length: AtomicU16,
    what: AtomicU8,
    /// Where the head is.
    head: AtomicU64,
}

/// Where the reader is.
#[derive(Debug, Default)]
pub struct Reader {
    next: u64,
}

impl Events {
    pub(crate) fn begin(&self) {
        self.begin_at(0);
    }

    /// Empties it.
    fn begin_at(&self, next: u64) {
        (next..next + LENGTH as u64).for_each(|turn| self.cell(turn).turn.store(turn, Ordering::Relaxed));
        self.tail.store(next, Ordering::Release);
    }

    fn cell(&self, turn: u64) -> &Cell {
        &self.cells[(turn % LENGTH as u64) as usize]
    }

    /// Tells of an event; of `head` what there is room for.
    pub fn tell(&self, event: Event, head: &[u8]) {
        /// Others that tell of something come before it so often. Who has written nonsense there is not waited for.
        const TRIES: u32 = 1000;
        let (mut turn, mut tries) = (self.tail.load(Ordering::Relaxed), 0);
        let cell = loop {
            tries += 1;
            let cell = self.cell(turn);
            let there = cell.turn.load(Ordering::Acquire);
            if there == turn {
                let next = turn.wrapping_add(1);
                match self.tail.compare_exchange_weak(turn, next, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => break cell,
                    Err(now) => turn = now,
                }
            } else if there < turn || tries > TRIES {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                return;
            } else {
                turn = self.tail.load(Ordering::Relaxed);
            }
        };
        cell.time.store(event.time, Ordering::Relaxed);
        cell.bytes.store(event.bytes, Ordering::Relaxed);
        cell.slot.store(event.slot, Ordering::Relaxed);
        cell.status.store(event.status, Ordering::Relaxed);
        cell.what.store(event.what as u8, Ordering::Relaxed);
        let (at, length) = self.heads.keep(head);
        cell.length.store(length, Ordering::Relaxed);
        cell.head.store(at, Ordering::Relaxed);
        // One that was passed over meanwhile, because it took too long, has lost its turn.
        let _ = cell.turn.compare_exchange(turn, turn.wrapping_add(1), Ordering::Release, Ordering::Relaxed);
    }

    /// Events that there was no room for.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Whether there is one that is being written, or was when its writer ended.
    pub fn is_stuck(&self, reader: &Reader) -> bool {
        self.tail.load(Ordering::Acquire) > reader.next
            && self.cell(reader.next).turn.load(Ordering::Acquire) != reader.next + 1
    }

    /// Whether it is as no writer leaves it, or seems so while one writes.
    pub fn is_broken(&self, reader: &Reader) -> bool {
        let (next, tail) = (reader.next, self.tail.load(Ordering::Acquire));
        let is_within = (next..=next + LENGTH as u64).contains(&tail);
        !is_within || tail == next && self.cell(next).turn.load(Ordering::Acquire) != next
    }

    /// Begins anew behind what has been read.
    pub fn mend(&self, reader: &Reader) {
        self.begin_at(reader.next);
    }

    /// How many have been read.
    pub fn position(reader: &Reader) -> u64 {
        reader.next
    }

    /// Goes on without it.
    pub fn skip(&self, reader: &mut Reader) {
        self.cell(reader.next).turn.store(reader.next + LENGTH as u64, Ordering::Release);
        reader.next += 1;
    }

    /// The next event, with the head in `into`, and how long that is; nothing where it is not written yet.
    pub fn read(&self, reader: &mut Reader, into: &mut [u8; MAX_HEAD]) -> Option<(Event, usize)> {
        loop {
            let cell = self.cell(reader.next);
            if cell.turn.load(Ordering::Acquire) != reader.next + 1 {
                return None;
            }
            let kept = (cell.head.load(Ordering::Relaxed), cell.length.load(Ordering::Relaxed));
            let length = self.heads.read(kept, into);
            let what = match cell.what.load(Ordering::Relaxed) {
                1 => Some(What::Began),
                2 => Some(What::Ended),
                3 => Some(What::Gone),
                4 => Some(What::Class),
                5 => Some(What::PassedOn),
                6 => Some(What::BeganFirst),
                7 => Some(What::BeganSession),
                _ => None,
            };
            let event = what.map(|what| Event {
                what,
                slot: cell.slot.load(Ordering::Relaxed),
                time: cell.time.load(Ordering::Relaxed),
                status: cell.status.load(Ordering::Relaxed),
                bytes: cell.bytes.load(Ordering::Relaxed),
            });
            self.skip(reader);
            if let Some(event) = event {
                return Some((event, length));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::boxed::Box;
    use std::vec::Vec;

    fn events() -> Box<Events> {
        let cell = || Cell {
            turn: AtomicU64::new(0),
            time: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            slot: AtomicU32::new(0),
            status: AtomicU16::new(0),
            length: AtomicU16::new(0),
            what: AtomicU8::new(0),
            head: AtomicU64::new(0),
        };
        let cells: Vec<Cell> = (0..LENGTH).map(|_| cell()).collect();
        let cells: Box<[Cell; LENGTH]> = cells.try_into().unwrap();
        let events = Box::new(Events {
            tail: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            cells: *cells,
            heads: Heads::EMPTY,
        });
        events.begin();
        events
    }

    /// All of it is made on the stack first, where a test has too little.
    fn with_room(test: fn()) {
        let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(test).unwrap();
        if let Err(why) = thread.join() {
            std::panic::resume_unwind(why);
        }
    }

    fn event(slot: u32) -> Event {
        Event { what: What::Began, slot, time: 5, status: 0, bytes: 0 }
    }

    #[test]
    fn what_several_tell_is_read_once_and_in_their_order() {
        with_room(|| {
            let (events, mut reader, mut head) = (events(), Reader::default(), [0; MAX_HEAD]);
            let each = 20_000_u32;
            let mut seen = [0_u32; 2];
            std::thread::scope(|scope| {
                for writer in 0..2 {
                    let events = &events;
                    scope.spawn(move || {
                        for number in 0..each {
                            let before = events.dropped();
                            events.tell(event(2 * number + writer), b"GET / HTTP/1.1");
                            if events.dropped() > before {
                                std::thread::yield_now();
                            }
                        }
                    });
                }
                while u64::from(seen[0] + seen[1]) + events.dropped() < u64::from(2 * each) {
                    let Some((event, length)) = events.read(&mut reader, &mut head) else { continue };
                    assert_eq!(&head[..length], b"GET / HTTP/1.1");
                    seen[event.slot as usize % 2] += 1;
                }
            });
            assert_eq!(u64::from(seen[0] + seen[1]) + events.dropped(), u64::from(2 * each));
        });
    }

    #[test]
    fn what_there_is_no_room_for_is_dropped_and_counted() {
        with_room(|| {
            let (events, mut reader, mut head) = (events(), Reader::default(), [0; MAX_HEAD]);
            (0..LENGTH as u32 + 3).for_each(|slot| events.tell(event(slot), &[b'a'; 2 * MAX_HEAD]));
            assert_eq!(events.dropped(), 3);
            let read: Vec<_> = core::iter::from_fn(|| events.read(&mut reader, &mut head)).collect();
            // Of the first heads nothing is left, of the events all.
            assert_eq!((read.len(), read[7].0.slot, read[7].1), (LENGTH, 7, 0));
            assert_eq!((read[LENGTH - 1].0.slot, read[LENGTH - 1].1), (LENGTH as u32 - 1, MAX_HEAD));
        });
    }

    #[test]
    fn nonsense_is_found_and_mended() {
        with_room(|| {
            let (events, mut reader, mut head) = (events(), Reader::default(), [0; MAX_HEAD]);
            events.tell(event(1), b"");
            assert!(events.read(&mut reader, &mut head).is_some() && !events.is_broken(&reader));
            let spoil: [fn(&Events); 4] = [
                |events| events.tail.store(u64::MAX, Ordering::Relaxed),
                |events| events.tail.store(0, Ordering::Relaxed),
                |events| events.cells.iter().for_each(|cell| cell.turn.store(u64::MAX, Ordering::Relaxed)),
                |events| events.cells.iter().for_each(|cell| cell.turn.store(0, Ordering::Relaxed)),
            ];
            for spoil in spoil {
                spoil(&events);
                assert!(events.is_broken(&reader));
                // It ends.
                events.tell(event(2), b"");
                events.mend(&reader);
                assert!(!events.is_broken(&reader));
                events.tell(event(3), b"");
                assert_eq!(events.read(&mut reader, &mut head).unwrap().0, event(3));
            }
        });
    }

    #[test]
    fn a_writer_that_ended_is_passed_over() {
        with_room(|| {
            let (events, mut reader, mut head) = (events(), Reader::default(), [0; MAX_HEAD]);
            // One has taken its turn and written nothing.
            events.tail.fetch_add(1, Ordering::Relaxed);
            events.tell(event(2), b"");
            assert_eq!(events.read(&mut reader, &mut head), None);
            assert!(events.is_stuck(&reader));
            events.skip(&mut reader);
            assert_eq!(events.read(&mut reader, &mut head).unwrap().0, event(2));
            assert!(!events.is_stuck(&reader));
        });
    }
}
