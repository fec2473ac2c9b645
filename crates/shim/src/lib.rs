//! What is loaded into a server that the gate is attached to (`LD_PRELOAD`, ld.so(8)): the C library's functions about
//! sockets, each of which does what it always does, but for listeners and for connections that come from the gate.
//!
//! A listener is adopted when it is used first, not when it begins to listen: a process that only passes it on, such as the first
//! of a server, keeps what is real. From then on its number in this process is an epoll instance
//! (`adoption`): in it is the channel to the gate, or the real listener where there is no gate, so that whatever a server
//! does to learn of connections works as before. A request on a kept connection takes a place in shared memory, or waits
//! (`reading`); where its response ends is seen in what is written (`writing`).
//!
//! There is no allocation, no lock on the way of a request, and no thread. Descriptors that are not known go straight to the
//! C library. `errno` is the C library's own.

#![no_std]

mod accepting;
mod adoption;
mod alone;
mod attaching;
mod calm;
mod channel;
mod clock;
mod connections;
mod crowded;
mod descriptors;
mod editing;
pub mod exports;
mod following;
mod listener;
mod next;
mod passing;
mod polling;
mod readers;
mod reading;
mod table;
mod wakers;
mod writing;

#[cfg(all(feature = "preload", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: it takes nothing and does not return.
    unsafe { libc::abort() }
}
