//! [`plan_capacity`]: how many servers it takes, of which size, to serve so many requests as is wanted.
//!
//! The load is given, and the equipment is found; [`advise`](crate::advise) finds the load for equipment that is given.

mod answer;
mod profile;
mod question;
mod search;
mod text;

pub use self::answer::{CapacityPlan, Level, Trial};
pub use self::profile::{Profile, ProfileError};
pub use self::question::{Balancings, PlanError, Question};
pub use self::search::plan_capacity;
