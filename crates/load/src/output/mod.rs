//! What a run writes: its record, and files for other programs.
//!
//! | file | idea |
//! | --- | --- |
//! | `writer` | the tables of the record, on a thread of their own |
//! | `requests` | one line per request, as CSV |
//! | `latencies`, `distribution` | latencies by phase as CSV, and by percentile as HdrHistogram's tools write them |
//! | `error` | why something could not be written |

mod distribution;
pub(crate) mod error;
pub(crate) mod latencies;
pub(crate) mod requests;
pub(crate) mod writer;
