//! [`Offered`]: how many requests there are.

/// How many requests there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Offered {
    /// Requests per second over those that the processors can serve: the paper's `r`.
    Load(f64),
    /// Requests per second.
    Rate(f64),
    /// So many clients, each of which thinks for an exponential time of so many seconds on average, sends a
    /// request and waits for the answer. The model's arrivals are left as they are by default.
    Clients(u32, f64),
}
