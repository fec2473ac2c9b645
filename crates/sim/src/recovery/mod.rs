//! [`map_recovery`]: whether a server comes back from a surge by itself, and when, by load and by how often clients ask again.
//!
//! Clients that have given up and ask again are load that the overload makes itself: beyond a border it keeps itself up
//! when what began it is over (Bronson, Aghayev, Charapko and Zhu, "Metastable failures in distributed systems", 2021).

mod map;
mod question;
mod search;
mod text;
mod trial;

pub use self::map::{Boundary, RecoveryMap, Row};
pub use self::question::{RecoveryError, RecoveryQuestion, SurgeLoad, SurgeLoadError};
pub use self::search::map_recovery;
pub use self::trial::RecoveryTrial;
