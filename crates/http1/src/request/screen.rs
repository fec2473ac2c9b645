//! [`Screen`]: follows what a client sends and says how much of it may be read as HTTP.

use super::breach::Breach;
use super::framing::Framing;
use super::limits::Limits;
use super::strict::StrictHead;
use crate::chunks::{Chunks, Part};

/// Follows what a client sends. It reads no clock and no socket, and keeps no bytes.
#[derive(Debug)]
pub(super) struct Screen {
    limits: Limits,
    mode: Mode,
    heads: u64,
    breach: Option<Breach>,
}

/// What the next byte belongs to.
#[derive(Debug)]
enum Mode {
    Head(StrictHead),
    /// So much of a body is left.
    Body(u64),
    Chunks(Box<Chunks>),
    /// Another protocol, or the next request: that shows when the last one, which asks for an
    /// upgrade, is answered.
    Undecided,
}

impl Screen {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, mode: Mode::Head(StrictHead::default()), heads: 0, breach: None }
    }

    /// Reads on: gives how many of `bytes` are well-formed. What is left is the first part of a
    /// head, to be brought again with what follows it, or the beginning of a breach. `fresh` of
    /// `bytes` were brought before.
    pub(super) fn read(&mut self, bytes: &[u8], fresh: usize) -> usize {
        let mut at = 0;
        while at < bytes.len() && self.breach.is_none() {
            match self.step(&bytes[at..], fresh.saturating_sub(at)) {
                Ok(0) => break,
                Ok(taken) => at += taken,
                Err((taken, breach)) => {
                    at += taken;
                    self.breach = Some(breach);
                }
            }
        }
        at
    }

    fn step(&mut self, rest: &[u8], fresh: usize) -> Result<usize, (usize, Breach)> {
        match &mut self.mode {
            Mode::Head(head) => {
                let read = head.read(rest, fresh, &self.limits).map_err(|breach| (0, breach))?;
                let Some(head) = read else { return Ok(0) };
                self.heads += 1;
                self.mode = match head.framing {
                    Framing::Nothing if head.upgrade => Mode::Undecided,
                    Framing::Nothing => Mode::Head(StrictHead::default()),
                    Framing::Length(length) => Mode::Body(length),
                    Framing::Chunks => Mode::Chunks(Box::default()),
                };
                Ok(head.length)
            }
            Mode::Body(left) => {
                let taken = (*left).min(rest.len() as u64);
                *left -= taken;
                if *left == 0 {
                    self.mode = Mode::Head(StrictHead::default());
                }
                Ok(taken as usize)
            }
            Mode::Chunks(chunks) => {
                let (taken, over) = follow(chunks, rest, &self.limits);
                if over.map_err(|breach| (taken, breach))? {
                    self.mode = Mode::Head(StrictHead::default());
                }
                Ok(taken)
            }
            Mode::Undecided => Ok(0),
        }
    }

    /// So many requests are answered, none with another protocol.
    pub(super) fn decide(&mut self, answered: u64) {
        if self.is_undecided() && answered >= self.heads {
            self.mode = Mode::Head(StrictHead::default());
        }
    }

    /// Whether it is open what follows the last request.
    pub(super) fn is_undecided(&self) -> bool {
        matches!(self.mode, Mode::Undecided)
    }

    /// What is wrong, once something is. Nothing is read from then on.
    pub(super) fn breach(&self) -> Option<Breach> {
        self.breach
    }

    /// Whether a body is under way.
    pub(super) fn is_in_body(&self) -> bool {
        matches!(self.mode, Mode::Body(_) | Mode::Chunks(_))
    }

    /// Whether a head comes next, and nothing of it has come.
    pub(super) fn is_between_requests(&self) -> bool {
        self.breach.is_none() && matches!(&self.mode, Mode::Head(head) if head.is_untouched(0))
    }

    /// Whether part of a head has come, `came` bytes, and not all of it. An empty line before a head does not count.
    pub(super) fn is_in_head(&self, came: usize) -> bool {
        match &self.mode {
            Mode::Head(head) => !head.is_untouched(came),
            Mode::Body(_) | Mode::Chunks(_) | Mode::Undecided => false,
        }
    }

    /// Requests whose head was well-formed.
    pub(super) fn heads(&self) -> u64 {
        self.heads
    }
}

/// Gives how many of `bytes` belong to the body and are well-formed, and whether it is over.
fn follow(chunks: &mut Chunks, bytes: &[u8], limits: &Limits) -> (usize, Result<bool, Breach>) {
    let (mut rest, rules) = (bytes, limits.chunks());
    let over = loop {
        match chunks.next(&mut rest, &rules) {
            Ok(Part::Data(_) | Part::Trailers(_)) => {}
            Ok(Part::More) => break Ok(false),
            Ok(Part::End) => break Ok(true),
            Err(fault) => break Err(fault.into()),
        }
    };
    (bytes.len() - rest.len(), over)
}
