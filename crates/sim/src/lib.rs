//! Simulator of a web server in overload, after "Web server performance under heavy loads" (Iyengar,
//! MacNair and Nguyen), exact where it can be.
//!
//! A [`Model`] is a server with a limited number of threads that share a processor, a bounded queue
//! before them, and requests of several classes; [`run`] simulates it in as many replications as a
//! precision takes. The same seed gives the same outcome, to the last bit, on any number of cores.
//!
//! ```
//! use sim::{Model, Offered, Plan};
//! // Poisson arrivals at full load and no queue: one request in 26 is rejected, whatever the
//! // distribution of what requests need.
//! let model = Model { offered: Offered::Load(1.0), queue: Some(0), ..Model::default() };
//! let plan = Plan { replications: 16, precision: None, ..Plan::default() };
//! let outcome = sim::run(&model, &plan)?;
//! assert!((outcome.rejected.mean - 1.0 / 26.0).abs() < 0.001);
//! # Ok::<(), sim::ModelError>(())
//! ```

pub mod advise;
mod control;
mod course;
mod draw;
mod dynamic;
mod engine;
pub mod exact;
pub mod fit;
pub mod forecast;
mod front;
mod levels;
mod model;
mod mva;
mod outcome;
mod parallel;
mod plan;
pub mod planner;
mod recording;
pub mod recovery;
mod replications;
mod sessions;
mod subject;
pub mod sweep;
mod text;
mod time_series;
mod warmup;
mod watch;

pub use control::Control;
pub use draw::{
    Arrivals, ArrivalsError, Mmpp, NoGaps, Observed, Samples, SamplesError, Service, ServiceError,
    TraceError, Traced,
};
pub use model::{
    Balancing, BalancingError, Call, Class, DYNAMIC, Discipline, DisciplineError, Equipment, Fleet,
    GivenArrivals, Limit, LimitError, Model, ModelError, NoText, Notes, Offered, OverrideError, Overrides,
    Pace, Patience, Quota, Retries, Room, RoomError, STATIC, SessionModelError, Size, SlowClients, Tier,
};
pub use outcome::{ClassOutcome, GateClassOutcome, LatencyOutcome, Outcome, Precision, TierOutcome};
pub use plan::Plan;
pub use recording::Recording;
pub use replications::{run, run_behind, run_under};
pub use sessions::{
    Gate, Host, Script, SessionClassOutcome, SessionIntervalOutcome, SessionLevelOutcome, SessionModel,
    SessionsOutcome, run_sessions, run_sessions_under,
};
pub use subject::{Closing, GateConnections, ModelGate};
pub use time_series::{ClassInterval, Interval, Range, TimeSeries, time_series};
