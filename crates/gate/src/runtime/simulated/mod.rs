//! A network without a kernel: connections between tasks of one thread, on the runtime's time.
//!
//! For the simulation of the whole gate, which is why it stands here: what the gate reads and writes
//! is a [`Stream`](super::stream::Stream), and one of its kinds is [`SimulatedStream`]. With the clock paused
//! (`tokio::time::pause`) and all draws from one seed, a run is repeated to the byte.
//!
//! Bytes take time to arrive, arrive in pieces, and are bounded by a window, as TCP's are; a connection
//! that is dropped with bytes unread is reset, else ended. What else can happen to a connection is drawn when
//! it is made: see [`Faults`].

mod chance;
mod fault;
mod network;
mod pipe;
mod slot;
mod stream;

pub use fault::{Faults, Made};
pub use network::{Network, SimulatedListener};
pub use stream::SimulatedStream;
