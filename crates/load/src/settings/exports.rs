//! [`ExportPaths`]: files for other programs.

use std::path::PathBuf;

/// Files for other programs; what was there before is replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportPaths {
    /// How many latencies of each phase are in which interval, as CSV.
    pub latency_csv: Option<PathBuf>,
    /// Total latency by percentile, as HdrHistogram's tools write it.
    pub latency_hgrm: Option<PathBuf>,
    /// One line per request, as CSV.
    pub requests_csv: Option<PathBuf>,
}
