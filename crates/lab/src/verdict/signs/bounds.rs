//! What is much, and what is often.

use catalogue::watch::limits;

use crate::verdict::level::Level;

/// A resource is at its end from these shares of it on.
pub(super) const BUSY: f64 = 0.9;
pub(super) const FULL: f64 = 0.95;
/// And what should be there now and then is there in this share of all looks.
pub(super) const MOSTLY: f64 = 0.6;
/// More requests fail than the search allows.
pub(super) const FAILED: f64 = 0.01;

pub(super) fn percent(share: f64) -> f64 {
    share * 100.0
}

/// Whether connections wait to be accepted most of the time.
pub(super) fn is_unaccepted(level: &Level) -> bool {
    level.standing(limits::SOCKETS_UNACCEPTED) >= MOSTLY
}

/// Whether all workers are taken: connections wait to be accepted, or requests for a part of the server to take them.
pub(super) fn are_workers_taken(level: &Level) -> bool {
    let mut parts = level.labels(limits::PARTS_UNACCEPTED);
    is_unaccepted(level) || parts.any(|at| level.standing_of(limits::PARTS_UNACCEPTED, at) >= MOSTLY)
}

/// Whether requests lie unread most of the time.
pub(super) fn is_unread(level: &Level) -> bool {
    level.standing(limits::SOCKETS_UNREAD) >= MOSTLY
}
