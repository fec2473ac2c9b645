//! Overload control after Web2K (HPL-2000-61): one state machine that decides which request is
//! served, which waits and which is refused.
//!
//! It sees ids, classes, kinds, times and counts, nothing else: no clock, no socket, no thread, no
//! `std`. A driver (the gate, the simulator) hands it [`Input`]s with the time they happened
//! and carries out the [`Output`]s:
//!
//! ```
//! use policy::{Config, Input, Kind, Output, Policy, SessionHint};
//! use units::{ClassId, RequestId, Time};
//!
//! let mut policy = Policy::new(Config::default())?;
//! let (now, id) = (Time::ZERO, RequestId(7));
//! policy.handle(now, Input::Arrived { id, session: SessionHint::New, client: 1, kind: Kind::of("GET", "/") });
//! policy.handle(now, Input::Cycle);
//! assert_eq!(policy.poll(), Some(Output::Classify(id)));
//! policy.handle(now, Input::Classified { id, class: ClassId(0) });
//! assert_eq!(policy.poll(), Some(Output::Dispatch(id)));
//! policy.handle(now, Input::Finished { id });
//! assert_eq!(policy.poll(), None);
//! # Ok::<(), policy::ConfigError>(())
//! ```
//!
//! The stages, in the order a request meets them:
//!
//! 1. acceptor queue, drained `m` requests a cycle ([`Limits::burst`])
//! 2. sessions ([`Session`]): a known class needs no classification
//! 3. early prioritisation with a look-ahead ([`LookAhead`])
//! 4. classification, by the driver
//! 5. predictive admission per class ([`Gains`])
//! 6. discard queues: a second chance in the next period
//! 7. class queues and a start-time fair scheduler; what is short ([`Kind`]) overtakes what is long
//! 8. the window: how many requests may be inside the server ([`Window`])
//! 9. guards at every stage ([`Limits`], [`Input::Pressure`], [`Input::Aborted`])
//!
//! The same configuration, seed and inputs give the same outputs. Every queue is bounded, and
//! after [`Policy::new`] nothing is allocated, except for a larger configuration
//! ([`Policy::reconfigure`]).
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod acceptor;
mod admission;
mod config;
mod costs;
mod guards;
mod kind;
mod knobs;
mod look_ahead;
mod machine;
mod patience;
mod protocol;
mod scheduler;
mod session;
mod stats;
mod store;
mod waits;
mod window;

pub use admission::Gains;
pub use config::{Class, Config, ConfigError, Deadlines, Limits, Mode};
pub use kind::Kind;
pub use knobs::Knobs;
pub use look_ahead::LookAhead;
pub use machine::Policy;
pub use protocol::{Input, Output, Reason, SessionHint};
pub use session::{Session, SessionLimits, SessionStatus};
pub use stats::{ClassSnapshot, Counters, Snapshot, StageLengths};
pub use waits::{Stage, Waits};
pub use window::Window;
