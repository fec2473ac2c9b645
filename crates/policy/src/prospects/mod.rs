//! Which sessions can be finished: what is learnt of how long they are, and what it says of one that is under way.
//!
//! [`Lengths`](lengths::Lengths) follows sessions to their ends, which it takes from a [`Silence`](silence::Silence), and knows
//! of each [`Progress`](progress::Progress) the [`Prospect`](prospect::Prospect); [`Crowd`](crowd::Crowd) is how many more begin than
//! can be finished, [`Door`](door::Door) lets as many begin as can, and [`Spare`](spare::Spare) is what was left for them.

mod beginnings;
pub(crate) mod crowd;
pub(crate) mod door;
pub(crate) mod lengths;
pub(crate) mod mean;
mod outcomes;
pub(crate) mod progress;
pub(crate) mod prospect;
pub(crate) mod silence;
pub(crate) mod spare;
