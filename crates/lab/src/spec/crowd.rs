//! [`Crowd`]: a closed loop instead of a search, for what a server does in all.

use std::num::NonZeroU32;

use units::Span;

/// So many clients, each with one request after the other, for so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crowd {
    /// From 1 on.
    pub clients: NonZeroU32,
    /// For how long they are there before anything is counted, if not for as long as before any probe.
    pub warmup: Option<Span>,
    /// The measuring window.
    pub hold: Span,
}
