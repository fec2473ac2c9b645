//! Why the gate cannot start.

use std::io;
use std::net::SocketAddr;

/// Why the gate cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is taken, not ours, or privileged.
    #[error("cannot listen on {address}: {why}; {mend}", mend = mend(why))]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the kernel says.
        why: io::Error,
    },
    /// The upstream's name has no address.
    #[error("cannot find upstream {address}: {why}; check its name and port")]
    Upstream {
        /// As configured.
        address: String,
        /// What the resolver says.
        why: io::Error,
    },
    /// The upstream's address is not one.
    #[error("upstream \"{address}\" {why}; {mend}")]
    Address {
        /// As given.
        address: String,
        /// What is wrong with it.
        why: &'static str,
        /// What to give instead.
        mend: &'static str,
    },
    /// What should be a request to explain is none.
    #[error(
        "\"{line}\" is no part of a request; give for example 'GET /path' and header lines 'Name: value'"
    )]
    Request {
        /// The line that cannot be understood.
        line: String,
    },
    /// The policy refuses its configuration.
    #[error(transparent)]
    Policy(#[from] policy::ConfigError),
    /// The system gave no event loop, no timer or no random numbers.
    #[error("cannot start: {0}")]
    System(io::Error),
}

fn mend(why: &io::Error) -> &'static str {
    match why.kind() {
        io::ErrorKind::AddrInUse => "another program listens there; choose another port or stop that program",
        io::ErrorKind::PermissionDenied => "ports below 1024 need privileges; choose a higher one",
        io::ErrorKind::AddrNotAvailable => "this machine has no such address",
        _ => "choose another address",
    }
}
