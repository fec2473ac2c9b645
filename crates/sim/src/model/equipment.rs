//! What a request may need besides a processor, and what rejected clients do.

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

/// What clients do whose requests were rejected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retries {
    /// The share that comes back.
    pub share: f64,
    /// After an exponential time of this mean, in seconds.
    pub delay: f64,
    /// How often at most.
    pub most: u32,
}
