//! The event loop of a thread: sockets, timers, tasks and the clock. It knows nothing of HTTP.
//!
//! | file | idea |
//! | --- | --- |
//! | `reactor` | sockets and timers of one thread, and its two ways to the kernel |
//! | `ring`, `buffers` | io_uring |
//! | `epoll` | the way that every kernel offers |
//! | `slot`, `socket`, `stream` | a connection as the reactor, a task, and a library sees it |
//! | `timers`, `yields`, `batcher`, `wait` | when to wake, when to leave the processor to others, how long to wait |
//! | `runtime` | tasks |
//! | `share` | one of the threads of a run |

pub(crate) mod backend;
mod batcher;
mod buffers;
pub(crate) mod clock;
mod epoll;
pub(crate) mod reactor;
mod ring;
pub(crate) mod runtime;
pub(crate) mod share;
pub(crate) mod slot;
pub(crate) mod socket;
pub(crate) mod stream;
pub(crate) mod timers;
mod wait;
mod yields;
