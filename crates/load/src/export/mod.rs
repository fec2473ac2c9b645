//! What other programs read: latencies as CSV and as an HdrHistogram log of percentiles, requests as CSV.
//!
//! | file | idea |
//! | --- | --- |
//! | `files` | which are asked for; made before the run, so that a wrong path ends nothing but the attempt |
//! | `distribution` | latencies by phase, and by percentile |
//! | `requests` | one line per request |

mod distribution;
pub(crate) mod files;
pub(crate) mod requests;
