//! [`Model`]: what is simulated.

mod class;
mod discipline;
mod equipment;
mod error;
mod file;
mod fleet;
mod offered;
mod overrides;
mod quota;
mod room;
mod server;
mod slow_clients;
mod stability;
mod tier;

pub use self::class::{Class, DYNAMIC, STATIC};
pub use self::discipline::{Discipline, DisciplineError};
pub use self::equipment::{Equipment, Patience, Retries, Size};
pub(crate) use self::error::within;
pub use self::error::{ModelError, SessionModelError};
pub use self::file::{NoText, Notes};
pub use self::fleet::{Balancing, BalancingError, Fleet};
pub use self::offered::Offered;
pub use self::overrides::{GivenArrivals, OverrideError, Overrides};
pub use self::quota::{Limit, LimitError, Quota};
pub use self::room::{Room, RoomError};
pub use self::server::Model;
pub use self::slow_clients::{Pace, SlowClients};
pub use self::tier::{Call, Tier};
