//! What passes between the gate and a server that it is attached to: messages on their channels, the memory that they
//! share, and where a response ends. No input or output, no clock, no allocation; with the feature `shared`, which is the
//! gate's, also the channels, the memory itself, and what outlives the gate.
//!
//! The gate accepts connections of the server's own listeners, and hands each one over when its first request may be
//! served; from then on client and server have nothing between them. That a request on a kept connection begins and ends
//! is told by words in shared memory ([`memory`]), and only a request that has to wait is asked about. While there are places
//! for all, a server that serves many connections at a time accepts them itself, and the first request is as the others.

#![no_std]

#[cfg(feature = "shared")]
pub mod channel;
#[cfg(feature = "shared")]
pub mod deferring;
pub mod events;
mod heads;
#[cfg(feature = "shared")]
pub mod keeper;
pub mod memory;
pub mod message;
pub mod places;
pub mod response;
#[cfg(feature = "shared")]
pub mod scheduling;
#[cfg(feature = "shared")]
pub mod shared;
pub mod slot;
pub mod tokens;
