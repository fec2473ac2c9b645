//! What a request may need besides a processor, and what clients do that wait in vain.

use crate::draw::Service;

/// What a request needs besides a processor. It holds a thread for all of it, so that a slow
/// client or an idle connection keeps others out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Equipment {
    /// Disks, each first come, first served.
    pub disks: u32,
    /// Bytes per second of the server's link, which all responses share; no limit when it is `None`.
    pub link: Option<f64>,
    /// Bytes per second of each client's own link.
    pub client: Option<f64>,
    /// Seconds for which a connection is kept open after its response and holds a thread.
    pub keep_alive: Option<f64>,
}

impl Equipment {
    /// Whether there is nothing but a processor.
    pub(crate) fn is_bare(&self) -> bool {
        self.link.is_none() && self.client.is_none() && self.keep_alive.is_none()
    }
}

impl Default for Equipment {
    fn default() -> Self {
        Self { disks: 1, link: None, client: None, keep_alive: None }
    }
}

/// How large responses are: lognormal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// Bytes on average.
    pub mean: f64,
    /// Standard deviation over mean; 0 when all have the mean size.
    pub cv: f64,
}

/// How long clients wait for an answer. The server does not learn that they have given up, and works on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patience {
    /// Seconds on average.
    pub mean: f64,
    /// The law around that.
    pub law: Service,
}

/// What clients do whose requests were rejected, or who have given up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retries {
    /// The share that comes back.
    pub share: f64,
    /// After an exponential time of this mean, in seconds.
    pub delay: f64,
    /// How many times as long that is each time.
    pub backoff: f64,
    /// How often at most.
    pub most: u32,
    /// Whether chance decides each time what a request needs of processors, the tiers' included, or it needs the same each
    /// time.
    pub anew: bool,
}

impl Retries {
    /// They do not come back.
    pub(crate) const NONE: Self = Self { share: 0.0, delay: 0.0, backoff: 1.0, most: 0, anew: false };
}
