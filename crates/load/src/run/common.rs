//! [`Common`]: what all threads of a run have in common.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

use crate::client::setup::Setup;
use crate::engine::clock::Clock;

/// What all threads of a run have in common.
pub(crate) struct Common {
    pub(crate) setup: Setup,
    pub(crate) clock: Clock,
    /// The signal that ends the run; 0 while there was none.
    pub(crate) signal: Arc<AtomicUsize>,
    /// When the last that may begin had ended; 0 while there are others, or no bound.
    pub(crate) closed: AtomicU64,
    /// Threads with work of the window under way.
    pub(crate) unsettled: AtomicU32,
}
