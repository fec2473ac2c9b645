//! The figures of all groups, by their names in the record.

use super::{connections, kernel, limits, network, processes, requests};
use crate::Metric;

/// All of them.
pub fn all() -> impl Iterator<Item = Metric> {
    let groups = [kernel::ALL, processes::ALL, network::ALL, connections::ALL, limits::ALL, requests::ALL];
    groups.into_iter().flatten().copied()
}
