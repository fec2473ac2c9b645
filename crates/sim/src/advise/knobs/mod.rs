//! [`advise_knobs`]: the two knobs with which a gate meets its objectives at a load that it cannot choose.
//!
//! Differentiation moves service from the less important classes to the others, favour moves it from
//! fast responses to many (Web2K section 5); how much of either a server needs depends on the server,
//! the load and the mix. All pairs meet the same requests.

mod advice;
mod text;

pub use self::advice::{KnobAdvice, KnobOptions, KnobTrial, advise_knobs};
