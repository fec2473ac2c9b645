//! Which requests have a latency.

use record::{RequestError, RequestRow};

/// Whether what the client waited is known, if only as a lower bound: the rule of
/// [`record::LatencySummary`].
pub(super) fn counts_as_latency(row: &RequestRow) -> bool {
    matches!(row.error, None | Some(RequestError::Timeout | RequestError::Censored))
}
