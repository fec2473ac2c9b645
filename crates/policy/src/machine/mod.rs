//! The machine: how requests move between the stages.
//!
//! `arrive` is stages 1 to 4, `admit` 5 and 6, `dispatch` 7 and 8; guards stand where a request
//! enters or waits. `capacity` learns what the server can do; `fates` is what becomes of requests, and `reconfigure` changes all stages at once.

mod admit;
mod arrive;
mod capacity;
mod dispatch;
mod fates;
mod policy;
mod reconfigure;
mod refill;
mod visitors;

pub use policy::Policy;
