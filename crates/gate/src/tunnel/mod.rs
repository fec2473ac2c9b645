//! Tunnels: connections on which client and server have gone over to another protocol.

pub(crate) mod pipe;
pub(crate) mod relay;
pub(crate) mod tunnels;
