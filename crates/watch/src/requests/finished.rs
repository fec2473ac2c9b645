//! [`Finished`]: one request, as the programs tell it.

use std::ops::AddAssign;

use record::PhaseName;
use units::{Span, Time};

/// What a request used in one phase. Times are processor time, except [`Usage::disk_wait`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// In user mode.
    pub user: Span,
    /// In the kernel, without soft interrupts.
    pub kernel: Span,
    /// In soft interrupts that came while its thread ran, whomever they served.
    pub soft_interrupt: Span,
    /// Asleep until a disk had answered.
    pub disk_wait: Span,
    /// Bytes read from disks.
    pub disk_bytes: u64,
    /// Bytes of files that were changed, which go to disks later.
    pub disk_written: u64,
    /// System calls that read, from sockets and files.
    pub reads: u64,
    /// System calls that write.
    pub writes: u64,
}

impl Usage {
    /// Processor time as the paper's stopwatch has it: without interrupts.
    pub fn cpu(&self) -> Span {
        self.user + self.kernel
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.user += other.user;
        self.kernel += other.kernel;
        self.soft_interrupt += other.soft_interrupt;
        self.disk_wait += other.disk_wait;
        self.disk_bytes += other.disk_bytes;
        self.disk_written += other.disk_written;
        self.reads += other.reads;
        self.writes += other.writes;
    }
}

/// One request. Moments are on the clock `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Finished {
    /// When its connection was established, if that was seen.
    pub established: Option<Time>,
    /// When its connection was accepted, if that was seen.
    pub accepted: Option<Time>,
    /// When its first byte had come and it could have been read.
    pub began: Time,
    /// When its first bytes had been read.
    pub read: Time,
    /// When its header had been parsed, if it ever was.
    pub parsed: Option<Time>,
    /// When the last part of the response had been handed to the kernel, if any was.
    pub sent: Option<Time>,
    /// When the server was ready for something else.
    pub ended: Time,
    /// Bytes received.
    pub bytes_received: u64,
    /// Bytes handed to the kernel, header included.
    pub bytes_sent: u64,
    /// The server's port.
    pub port: u16,
    /// The client's port.
    pub client_port: u16,
    /// It was the first on its connection.
    pub is_first: bool,
    /// Whether it was seen when it could have been read; [`began`](Self::began) is when it was read if not.
    pub is_arrival_seen: bool,
    /// What it used in each phase: the phase is the index.
    pub used: [Usage; 3],
}

/// Words of `struct http_request` in state.h.
const WORDS: usize = 11 + 3 * USAGE_WORDS;
/// Words of `struct usage` there.
const USAGE_WORDS: usize = 8;
/// As in state.h.
const FIRST: u64 = 4;
const UNSEEN: u64 = 8;

impl Finished {
    /// How long a phase took. Of a request that was not parsed, or not answered, the phase before has all.
    pub fn elapsed(&self, phase: PhaseName) -> Span {
        let sent = self.sent.unwrap_or(self.ended);
        let parsed = self.parsed.unwrap_or(sent);
        match phase {
            PhaseName::Parse => parsed.since(self.began),
            PhaseName::Process => sent.since(parsed),
            PhaseName::Log => self.ended.since(sent),
        }
    }

    /// Reads what `tell` in phases.h has written; none if it is not of the length that this has.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks::<8>();
        if words.len() != WORDS || !rest.is_empty() {
            return None;
        }
        let word = |at: usize| u64::from_ne_bytes(words[at]);
        let moment = |at: usize| Time::from_nanos(word(at));
        let seen = |at: usize| (word(at) != 0).then(|| moment(at));
        let usage = |at: usize| Usage {
            user: Span::from_nanos(word(at)),
            kernel: Span::from_nanos(word(at + 1)),
            soft_interrupt: Span::from_nanos(word(at + 2)),
            disk_wait: Span::from_nanos(word(at + 3)),
            disk_bytes: word(at + 4),
            disk_written: word(at + 5),
            reads: word(at + 6),
            writes: word(at + 7),
        };
        Some(Self {
            established: seen(0),
            accepted: seen(1),
            port: word(2) as u16,
            client_port: (word(2) >> 16) as u16,
            is_first: word(3) & FIRST != 0,
            is_arrival_seen: word(3) & UNSEEN == 0,
            began: moment(4),
            read: moment(5),
            parsed: seen(6),
            sent: seen(7),
            ended: moment(8),
            bytes_received: word(9),
            bytes_sent: word(10),
            used: [0, 1, 2].map(|phase| usage(11 + phase * USAGE_WORDS)),
        })
    }
}
