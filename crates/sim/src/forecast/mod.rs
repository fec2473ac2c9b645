//! What other knobs of a gate would do to the load that it had in the last minutes.
//!
//! A gate knows of each request when it came, whose it was, how long it was in the server, and what became of it
//! ([`Request`]). `sessions` puts them together to sessions, `habits` learns how users go on and when they leave, also from
//! those that were refused on the way, `demand` what requests need of the server; `model` makes a simulation of it, `run` tries
//! knobs in it, `suggestion` says which to take. `outcome` says what came of the sessions themselves, in the same terms, and `check` holds the one against the other.

mod check;
mod demand;
mod error;
mod habits;
mod model;
mod outcome;
mod patience;
mod predicted;
mod quantile;
mod request;
mod run;
mod sessions;
mod setting;
mod suggestion;

pub use self::check::Check;
pub use self::error::ForecastError;
pub use self::model::{ClassLoad, Front, Load};
pub use self::outcome::{ClassOutcome, Outcome, outcome};
pub use self::predicted::Predicted;
pub use self::request::{Fate, Request};
pub use self::run::{Forecast, Until, forecast};
pub use self::setting::{ClassForecast, Setting};
