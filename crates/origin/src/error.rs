//! Why the server could not start.

use std::io;
use std::path::PathBuf;

use crate::address::Address;
use crate::limits::MAX_CONTENT;

/// Why the server could not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address could not be listened on.
    #[error("cannot listen on {address}: {}", in_words(.address, .source))]
    Listen {
        /// The address asked for.
        address: Address,
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
    /// The content, or a file of it, could not be read.
    #[error("cannot read the content {}: {source}", .path.display())]
    Content {
        /// The directory or file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// There is more content than static mode keeps in memory.
    #[error("{} holds more than {MAX_CONTENT} bytes; static mode keeps all in memory, worker mode does not", .path.display())]
    TooMuchContent {
        /// The directory.
        path: PathBuf,
    },
}

fn in_words(address: &Address, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => "address already in use".to_owned(),
        io::ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
        io::ErrorKind::PermissionDenied if address.tcp().is_some() => "ports below 1024 need root".to_owned(),
        _ => error.to_string(),
    }
}
