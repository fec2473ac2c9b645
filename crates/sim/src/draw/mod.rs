//! What chance decides: gaps between arrivals, classes, service demands.
//!
//! Each role has a stream of random numbers of its own, so that two settings that are compared
//! meet the same arrivals and the same demands (common random numbers: Law, "Simulation Modeling
//! and Analysis", section 11.2).

mod arrivals;
mod observed;
mod samples;
mod seed;
mod service;
mod traced;

pub(crate) use self::arrivals::Gaps;
pub use self::arrivals::{Arrivals, ArrivalsError, Mmpp};
pub use self::observed::{NoGaps, Observed};
pub use self::samples::{Samples, SamplesError};
pub(crate) use self::seed::{Random, Role, Seed, mixed};
pub(crate) use self::service::Demands;
pub use self::service::{Service, ServiceError};
pub use self::traced::{TraceError, Traced};
