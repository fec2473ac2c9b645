//! Which connections are closed or refused when descriptors, memory or time run short (Web2K section 3.4).
//!
//! [`Connections`] is told what connections and their streams do, by id and with times; it answers whether
//! there is room for another one and gives [`Order`]s to close some. It holds no socket and no byte.
//! [`MemoryBudget`] is what all of them together may keep in memory.

mod budget;
mod cause;
mod entry;
mod id;
mod limits;
mod phase;
mod pressure;
mod slow;
mod stall;
mod sweep;
mod table;

pub use budget::{MemoryBudget, Share, Unblocked};
pub use cause::Cause;
pub use id::ConnectionId;
pub use limits::ConnectionLimits;
pub use phase::{Order, Phase};
pub use stall::{Awaited, Stall};
pub use table::Connections;
