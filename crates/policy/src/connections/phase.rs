//! [`Phase`] and [`Order`]: what a connection is doing, and what it is told to do.

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nothing has come since it was opened.
    New,
    /// TLS is being agreed on.
    Handshake,
    /// Nothing has come since its last request was answered.
    Idle,
    /// Part of a request's head has come.
    Head,
    /// A request waits or is in service.
    Busy,
    /// Another protocol is spoken with the server, through the gate.
    Tunnel,
    /// Answered for the last time; waiting for the client to close.
    Lingering,
}

impl Phase {
    /// Whether no request has begun to come.
    pub fn is_idle(self) -> bool {
        matches!(self, Self::New | Self::Idle)
    }
}

/// What a connection is told to do; a later one is harsher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// Go on.
    Serve,
    /// Finish the request in hand and close.
    Finish,
    /// Say that the request did not arrive in time, and close.
    Timeout,
    /// Close.
    Close,
}
