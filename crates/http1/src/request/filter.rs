//! [`Filter`]: lets pass of what a client sends what the [`Screen`] has seen to be well-formed.

use super::breach::Breach;
use super::limits::Limits;
use super::screen::Screen;

/// What was read of a connection and not yet passed on: of a head, all comes at once.
#[derive(Debug)]
pub struct Filter {
    screen: Screen,
    /// Empty unless a head came in pieces, or is larger than there was room for.
    held: Vec<u8>,
    /// Of `held`, what may be passed on.
    good: usize,
    /// Whether `held` may be of another protocol.
    waits: bool,
}

/// Why nothing more is passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// A head is malformed: after so many requests, whose answers come first.
    Head(Breach, u64),
    /// A body is: the request it belongs to cannot be met.
    Body(Breach),
}

impl Filter {
    /// A filter for one connection.
    pub fn new(limits: Limits) -> Self {
        Self { screen: Screen::new(limits), held: Vec::new(), good: 0, waits: false }
    }

    /// So many requests are answered, none with another protocol: what follows the last one is
    /// another request. To be told before more is read.
    pub fn answered(&mut self, requests: u64) {
        self.screen.decide(requests);
        if self.waits && !self.screen.is_undecided() {
            self.look(0);
        }
    }

    /// Takes what has come; gives how many bytes of `piece` may be passed on at once, from its
    /// beginning. What else may be is in [`ready`](Self::ready), which is empty if there are any.
    pub fn take(&mut self, piece: &[u8]) -> usize {
        if !self.held.is_empty() {
            let before = self.held.len() - self.good;
            self.held.extend_from_slice(piece);
            self.look(before);
            return 0;
        }
        let good = self.screen.read(piece, 0);
        self.held.extend_from_slice(&piece[good..]);
        self.note();
        good
    }

    /// What may be passed on.
    pub fn ready(&self) -> &[u8] {
        &self.held[..self.good]
    }

    /// So many bytes of [`ready`](Self::ready) were passed on.
    pub fn passed(&mut self, bytes: usize) {
        self.good -= bytes;
        if bytes == self.held.len() {
            // Seldom needed, so nothing is kept for the next time.
            self.held = Vec::new();
        } else {
            self.held.drain(..bytes);
        }
    }

    /// Looks at what is held and not yet good; `fresh` bytes of that were looked at before.
    fn look(&mut self, fresh: usize) {
        self.good += self.screen.read(&self.held[self.good..], fresh);
        self.note();
    }

    fn note(&mut self) {
        if self.screen.breach().is_some() {
            self.held.truncate(self.good);
        }
        self.waits = self.screen.is_undecided() && self.held.len() > self.good;
    }

    /// What was found to be wrong, if anything. What came before it may still be ready.
    pub fn breach(&self) -> Option<Breach> {
        self.screen.breach()
    }

    /// Why nothing more is passed on, if it is so.
    pub fn stop(&self) -> Option<Stop> {
        let breach = self.screen.breach().filter(|_| self.good == 0)?;
        Some(match self.screen.is_in_body() {
            true => Stop::Body(breach),
            false => Stop::Head(breach, self.screen.heads()),
        })
    }

    /// Requests whose head was well-formed.
    pub fn requests(&self) -> u64 {
        self.screen.heads()
    }

    /// Whether more has come than can be understood before the last request is answered, which asks
    /// for another protocol.
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// What has come and was not passed on.
    pub fn into_held(self) -> Vec<u8> {
        self.held
    }

    /// Whether all that has come was passed on, and belongs to requests that have come as a whole.
    pub fn is_between_requests(&self) -> bool {
        self.held.is_empty() && self.screen.is_between_requests()
    }

    /// Whether the body of a request comes next.
    pub fn is_in_body(&self) -> bool {
        self.screen.is_in_body()
    }

    /// Whether part of a head has come, and not all of it.
    pub fn is_in_head(&self) -> bool {
        self.screen.is_in_head(self.held.len() - self.good)
    }
}
