//! [`Cause`]: why a connection or a stream is closed with a request in hand.

use super::stall::Awaited;

/// Why a connection or a stream is closed with a request in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Nothing has moved for too long of what is awaited.
    Stalled(Awaited),
    /// Others need its room, and wait for it.
    Room,
    /// It is in the way of others, and cannot go on.
    Stuck,
    /// Its client takes many requests back.
    Flood,
    /// Time is up.
    Drain,
}

impl Cause {
    /// As it stands in the access log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stalled(Awaited::Upload) => "upload-stalled",
            Self::Stalled(Awaited::Taking) => "download-stalled",
            Self::Stalled(Awaited::Answer) => "answer-timeout",
            Self::Room => "made-room",
            Self::Stuck => "stuck",
            Self::Flood => "flood",
            Self::Drain => "drain-timeout",
        }
    }
}
