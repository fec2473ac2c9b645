//! Fairness inside a class: who of those that wait is served next, and who gives way when there is no room.
//!
//! [`Shares`](shares::Shares) says where a request stands ([`Rank`](rank::Rank)), by what its session and its
//! client have had lately; [`Flows`](flows::Flows) has those that wait take turns.

pub(crate) mod floor;
pub(crate) mod flows;
pub(crate) mod pauses;
pub(crate) mod rank;
pub(crate) mod recent;
pub(crate) mod shares;
