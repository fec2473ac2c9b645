//! [`Control`]: how the caller of a simulation follows it and ends it early.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// The caller of a simulation, who is told how far it is and may end it early. Replications that are
/// under way then are finished, so that long ones are not missing; no other is begun.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Becomes true when enough has been simulated.
    pub stop: &'a AtomicBool,
    /// Called after each replication, by whichever thread finished it, with how many there are; a long
    /// run counts as many as would be as long as it is so far.
    pub tell: &'a (dyn Fn(u32) + Sync),
}

static NEVER: AtomicBool = AtomicBool::new(false);

impl Control<'static> {
    /// The caller is told nothing and cannot end it early.
    pub(crate) const NONE: Self = Self { stop: &NEVER, tell: &|_| () };
}

impl Control<'_> {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("stop", self.stop).finish_non_exhaustive()
    }
}
