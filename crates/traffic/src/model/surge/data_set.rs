//! [`DataSet`]: how many files there are.

use super::popularity::Requested;

/// How many files there are, and what their tail is like.
pub(in crate::model) struct DataSet {
    pub(super) body: u32,
    pub(super) tail: u32,
    pub(super) requested: Requested,
}

/// The 7,000 files of Shin, Koh and Won, "Measurement and Analysis of Web Server Response Time",
/// table 1. Two figures are chosen so that the table comes out: with 32 files in the tail, the
/// total and the largest; with 1.27 % of the requests for them, the mean of the requests.
pub(in crate::model) const RESPONSE_TIME_PAPER: DataSet =
    DataSet { body: 6968, tail: 32, requested: Requested::with_tail(0.0127) };

/// As many files with 7 % of them in the tail, as Barford and Crovella have it.
pub(in crate::model) const AS_PUBLISHED: DataSet =
    DataSet { body: 6510, tail: 490, requested: Requested::AS_PUBLISHED };
