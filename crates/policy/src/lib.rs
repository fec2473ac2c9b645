//! Overload control after Web2K (HPL-2000-61): one state machine that decides which request is
//! served, which waits and which is refused.
//!
//! It sees ids, classes, kinds, times and counts, nothing else: no clock, no socket, no thread, no
//! `std`. A [`Driver`] holds the requests, tells the [`Policy`] what happened and when, and has its
//! decisions carried out by a [`Handler`], which the gate and the simulator have each one of:
//!
//! ```
//! use policy::{Arrival, Config, Decision, Driver, Handler, Kind, Policy, SessionHint, Waits};
//! use units::{ClassId, RequestId, Time};
//!
//! /// Requests are their URLs here.
//! #[derive(Default)]
//! struct Server(Vec<RequestId>);
//!
//! impl Handler<&str> for Server {
//!     fn classify(&mut self, url: &mut &str) -> ClassId {
//!         if url.starts_with("/checkout") { ClassId(0) } else { ClassId(1) }
//!     }
//!
//!     fn decided(&mut self, _: Time, id: RequestId, _: &mut &str, decision: Decision, _: Waits) {
//!         if decision == Decision::Dispatch {
//!             self.0.push(id);
//!         }
//!     }
//! }
//!
//! let mut driver = Driver::new(Policy::new(Config::default())?);
//! let (mut server, now) = (Server::default(), Time::ZERO);
//! let arrival = Arrival { session: SessionHint::New, client: 1, kind: Kind::of("GET", "/checkout") };
//! let id = driver.arrive(now, arrival, "/checkout", &mut server);
//! driver.cycle(now, &mut server);
//! assert_eq!(server.0, [id]);
//! assert_eq!(driver.finish(now, id, &mut server), Some("/checkout"));
//! assert_eq!(driver.next_wake(now), Time::NEVER);
//! # Ok::<(), policy::ConfigError>(())
//! ```
//!
//! The stages, in the order a request meets them:
//!
//! 1. acceptor queue, drained `m` requests a cycle ([`Limits::burst`])
//! 2. sessions ([`Session`]): a known class needs no classification
//! 3. early prioritisation with a look-ahead ([`LookAhead`])
//! 4. classification, by the driver's [`Handler`]; then visitors ([`SessionHint::Visitor`]) may have to wait outside,
//!    where they come back in the order of their first visits ([`Ticket`])
//! 5. predictive admission per class ([`Gains`])
//! 6. discard queues: a second chance in the next period
//! 7. class queues and a start-time fair scheduler; what is short ([`Kind`]) overtakes what is long. Inside a
//!    class sessions and clients take turns, here and in the discard queues
//! 8. the window: how many requests may be inside the server ([`Window`])
//! 9. guards at every stage ([`Limits`], [`Driver::set_pressure`], [`Driver::abort`])
//!
//! Before all of them, [`connections`] says which client connections there is room for.
//!
//! The same configuration, seed and inputs give the same outputs. Every queue is bounded, and
//! after [`Policy::new`] the policy allocates nothing, except for a larger configuration
//! ([`Driver::reconfigure`]).
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod acceptor;
mod admission;
mod config;
pub mod connections;
mod costs;
mod driver;
mod error;
mod fairness;
mod guards;
mod held_ids;
mod kind;
mod knobs;
mod look_ahead;
mod machine;
mod overtaking;
mod patience;
mod prospects;
mod protocol;
mod scheduler;
mod session;
mod stats;
mod store;
mod table;
mod waiting_room;
mod waits;
mod window;

pub use admission::Gains;
pub use config::{Admission, Class, Config, Deadlines, Limits, Mode};
pub use driver::{Arrival, Decision, Driver, Handler, Stream};
pub use error::ConfigError;
pub use kind::Kind;
pub use knobs::Knobs;
pub use look_ahead::LookAhead;
pub use machine::Policy;
pub use protocol::{KnownSession, Reason, SessionHint};
pub use session::{Session, SessionLimits, SessionStatus};
pub use stats::{ClassSnapshot, Counters, Snapshot, StageLengths};
pub use waiting_room::room::RoomSnapshot;
pub use waiting_room::visit::{Ticket, Told, Visit};
pub use waits::{Stage, Waits};
pub use window::Window;
