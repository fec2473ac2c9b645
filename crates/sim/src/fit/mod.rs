//! From measurement to model: what an access log or a run of the load generator says about the
//! requests of a server, and a [`Model`](crate::Model) with these properties.

mod arrivals;
mod characterise;
mod check;
mod classes;
mod counts;
mod demands;
mod dispersion;
mod fitted;
#[cfg(test)]
mod known_demands;
mod log;
mod model;
mod observation;
mod options;
mod run;
mod set_aside;
#[cfg(test)]
mod tests;
mod text;
mod watched;
mod windows;

pub use self::arrivals::FittedArrivals;
pub use self::characterise::fit;
pub use self::check::{Check, Figure};
pub use self::classes::{FittedClass, Quantiles};
pub use self::demands::Source as DemandSource;
pub use self::dispersion::Dispersion;
pub use self::fitted::Fit;
pub use self::log::{LogFormat, LoggedAt, TimeTaken};
pub use self::model::UnknownCost;
pub use self::observation::{Observation, ObservationError, Origin};
pub use self::options::{Chosen, FitOptions, Stated};
pub use self::watched::fit_watched;
pub use self::windows::{Window, WindowVerdict};
