//! The quantities Headworks counts in, as types.
//!
//! A point in time and a length of time are different things ([`Time`], [`Span`]); so are a
//! rate and a count. Everything is an integer or an `f64` inside, copies freely, and can be
//! parsed from what a person types (`30s`, `250ms`, `10k`, `20KiB`). No `std`, no allocation,
//! no dependencies: every other crate may use it.
#![no_std]

#[cfg(test)]
extern crate std;

mod bytes;
mod count;
mod counted;
mod id;
mod number;
mod rate;
mod ratio;
mod time;

pub use bytes::Bytes;
pub use count::Count;
pub use counted::Counted;
pub use id::{ClassId, RequestId, SessionId};
pub use number::ParseError;
pub use rate::Rate;
pub use ratio::Ratio;
pub use time::{Span, Time};
