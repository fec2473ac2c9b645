//! [`Stall`]: how long a peer has kept others waiting.

use units::{Span, Time};

/// What is awaited on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// That the client takes what there is to send.
    Taking,
    /// The rest of a request's body.
    Upload,
    /// The rest of the server's response.
    Answer,
}

/// Since when a peer has been waited for, if at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stall {
    since: Option<Time>,
    moved: usize,
    /// When it was last seen that something had moved.
    stirred: Option<Time>,
    /// Something has moved since.
    stirs: bool,
}

impl Stall {
    /// Where room is short, a client that sends or takes a byte now and then is as good as one that does nothing,
    /// and holds a connection as long. This much has to move before the waiting counts as over.
    pub const MIN_PROGRESS: usize = 4096;

    pub(super) fn waits(&mut self, now: Time) {
        if self.since.is_none() {
            *self = Self { since: Some(now), stirred: Some(now), ..Self::default() };
        } else if core::mem::take(&mut self.stirs) {
            self.stirred = Some(now);
        }
    }

    pub(super) fn moved(&mut self, bytes: usize) {
        if self.since.is_some() {
            self.stirs = true;
            self.moved = self.moved.saturating_add(bytes);
            if self.moved >= Self::MIN_PROGRESS {
                self.over();
            }
        }
    }

    pub(super) fn over(&mut self) {
        self.since = None;
    }

    pub(super) fn since(&self) -> Option<Time> {
        self.since
    }

    /// Whether nothing at all has moved for so long.
    pub(super) fn still_for(&self, now: Time, longest: Span) -> bool {
        self.since.is_some()
            && !self.stirs
            && self.stirred.is_some_and(|stirred| now.since(stirred) > longest)
    }
}
