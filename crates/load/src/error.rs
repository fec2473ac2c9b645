//! Why a run could not be made at all. What goes wrong during a run is counted, not returned.

use std::io;

use crate::output::error::OutputError;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name of the host could not be looked up.
    #[error("cannot find the address of {host}: {source}")]
    Resolve {
        /// The name.
        host: String,
        /// The resolver's reason.
        source: io::Error,
    },
    /// A class has a source address of the other family than the target.
    #[error(
        "class \"{class}\" has the source address {source_address}, from which {target} cannot be reached"
    )]
    SourceAddress {
        /// The class.
        class: String,
        /// Its address.
        source_address: std::net::IpAddr,
        /// The target's address.
        target: std::net::SocketAddr,
    },
    /// TLS cannot be spoken as asked.
    #[error("cannot use TLS: {0}")]
    Tls(String),
    /// Metrics cannot be served.
    #[error(transparent)]
    Metrics(#[from] telemetry::EndpointError),
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// A file for other programs could not be made, or the tables of the record not written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The operating system refused what every run needs.
    #[error("cannot start the generator: {0}")]
    Start(#[from] io::Error),
}

impl Error {
    /// The name `host` stands for nothing.
    pub(crate) fn no_address(host: &str) -> Self {
        Self::Resolve { host: host.to_owned(), source: io::Error::other("the name has no address") }
    }

    /// Whether what was asked for cannot be, rather than that it failed.
    pub fn is_of_usage(&self) -> bool {
        matches!(self, Self::SourceAddress { .. } | Self::Tls(_) | Self::Output(OutputError::File { .. }))
    }
}
