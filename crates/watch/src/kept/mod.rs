//! What a watch keeps of the last minutes in fine looks, in memory, until somebody wants to know what happened.
//!
//! | file | idea |
//! | --- | --- |
//! | `look` | everything at one moment, and what went on between two of them |
//! | `waiting` | connections that wait to be accepted, found out quickly |
//! | `ring` | the last of what came, as far as there is room |
//! | `keeper` | takes the looks, and writes them |
//! | `threshold` | what makes it write |

mod keeper;
mod look;
mod ring;
mod threshold;
mod waiting;

pub(crate) use keeper::Keeper;
pub use keeper::{Keep, MAX_KEEP, MIN_KEEP};
pub(crate) use look::Look;
pub use threshold::{BadThreshold, Threshold};
