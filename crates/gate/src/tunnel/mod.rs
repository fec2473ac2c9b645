//! Tunnels: connections on which client and server have gone over to another protocol.
//!
//! They begin with a request like any other: it waits for its place, and the server may refuse.
//! Only when the server has answered with 101 and the protocol that was asked for do bytes pass
//! unread, and none that the client sent go to the server before that: a server that has refused
//! would take them for requests that the gate has not seen. From then on a tunnel has no place in the
//! window, which it would hold for hours without doing anything; there is a limit for all instead.
//!
//! When the gate ends they do so one after the other (`drain`), WebSockets by the closing handshake of RFC 6455: a frame
//! of the gate's own, which goes where one of theirs has ended (`frames`).

mod drain;
mod frames;
mod pipe;
mod relay;
pub(crate) mod tunnels;
