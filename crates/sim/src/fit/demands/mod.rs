//! What requests need of a processor, from how long the server had them.

mod busy_periods;
mod estimate;
mod fitted;
mod matched;
mod placement;
mod replay;
mod sample;
mod shares;
mod two_states;

pub use self::estimate::Source;
pub(super) use self::estimate::{Demands, estimate};
pub(super) use self::fitted::{FittedNeeds, law};
#[cfg(test)]
pub(super) use self::replay::Server;
pub(super) use self::sample::Sample;
