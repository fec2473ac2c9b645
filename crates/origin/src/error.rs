//! Why the server could not start.

use std::io;
use std::net::SocketAddr;

/// Why the server could not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address could not be listened on.
    #[error("cannot listen on {address}: {}", in_words(.source))]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// A thread or its event queue could not be made.
    #[error("cannot start worker {number}: {source}")]
    Worker {
        /// Which of the workers, from 0.
        number: usize,
        /// What the kernel said.
        source: io::Error,
    },
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => "address already in use".to_owned(),
        io::ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
        io::ErrorKind::PermissionDenied => "ports below 1024 need root".to_owned(),
        _ => error.to_string(),
    }
}
