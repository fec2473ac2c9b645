//! Why the gate cannot start.

use std::io;
use std::net::SocketAddr;

use gate_config::dry_run::ExplainError;

use crate::downstream::certificate::Unusable;
use crate::downstream::door::TlsError;
use crate::observe::access_log::log::LogError;
use crate::process::handover::HandoverError;
use crate::process::privileges::PrivilegeError;
use crate::runtime::net::ListenError;
use crate::upstream::endpoints::LookUpError;

/// Why the gate cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An address or a Unix socket cannot be listened at.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A file of certificates that the configuration names cannot be used.
    #[error(transparent)]
    Configuration(#[from] config::Error),
    /// A certificate cannot take the place of the one in use.
    #[error(transparent)]
    Certificate(#[from] Unusable),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The admin interface would obey everybody.
    #[error(
        "admin on {address} would obey everybody who can reach it; add token-file to [admin], or listen on 127.0.0.1"
    )]
    Exposed {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// The upstream's name has no address.
    #[error(transparent)]
    Upstream(#[from] LookUpError),
    /// A request cannot be explained.
    #[error(transparent)]
    Explain(#[from] ExplainError),
    /// The gate that is to be replaced keeps its sockets.
    #[error(transparent)]
    Handover(#[from] HandoverError),
    /// The configured user cannot be taken on.
    #[error(transparent)]
    Privileges(#[from] PrivilegeError),
    /// The access log cannot be opened.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The policy refuses its configuration.
    #[error(transparent)]
    Policy(#[from] policy::ConfigError),
    /// The system gave no event loop, no timer or no random numbers.
    #[error("cannot start: {0}")]
    System(io::Error),
}
