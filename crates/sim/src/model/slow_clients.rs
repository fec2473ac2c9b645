//! [`SlowClients`]: clients that keep a gate's connections and give little for them.

use super::error::{ModelError, within};

/// Clients that send their requests or take their responses slowly, beside those whose requests are counted:
/// an attack such as Slowloris, or a bad network. Each has a connection and opens another when it was closed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlowClients {
    /// How many there are.
    pub number: u32,
    /// From how many addresses they come, each alike.
    pub addresses: u32,
    /// What they are slow at.
    pub pace: Pace,
    /// After how many seconds without a connection they connect again.
    pub again: f64,
    /// How many seconds a client, whichever, waits to be accepted before it gives up.
    pub patience: f64,
}

/// What slow clients are slow at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// The head of a request, which comes with so many bytes per second and is not whole before long.
    Send(f64),
    /// The response, of which so many bytes per second are taken; the request is one of the model's.
    Read {
        /// Bytes per second.
        rate: f64,
        /// Bytes of the response.
        response: f64,
    },
}

impl SlowClients {
    /// The head of a slow client's request, in bytes: a gate takes longer ones, and a client can send any.
    pub(crate) const HEAD_BYTES: f64 = 8192.0;

    /// A response in bytes where none is given.
    pub const RESPONSE_BYTES: f64 = 100e3;

    /// As many slow clients at that pace, each from an address of its own.
    pub fn new(number: u32, pace: Pace) -> Self {
        Self { number, addresses: number, pace, again: 1.0, patience: 5.0 }
    }

    pub(super) fn check(&self) -> Result<(), ModelError> {
        within("the number of slow clients", f64::from(self.number), 1.0, 1e6)?;
        within("the number of addresses of slow clients", f64::from(self.addresses), 1.0, 1e6)?;
        within("the time after which slow clients connect again, in seconds,", self.again, 1e-3, 1e6)?;
        within("the time for which clients wait to be accepted, in seconds,", self.patience, 1e-3, 1e6)?;
        match self.pace {
            Pace::Send(rate) => within("what slow clients send, in bytes per second,", rate, 1e-3, 1e9),
            Pace::Read { rate, response } => {
                within("the responses of slow clients, in bytes,", response, 1.0, 1e12)?;
                within("what slow clients take, in bytes per second,", rate, 1e-3, 1e9)
            }
        }
    }
}
