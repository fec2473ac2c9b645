//! [`Wait`]: how long a turn of the reactor waits for the kernel.

use units::Span;

use crate::engine::batcher::Batching;

/// The bounds of a wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    pub(super) longest: Span,
    pub(super) batching: Batching,
}
