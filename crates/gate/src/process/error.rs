//! Why the gate cannot start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::downstream::certificate::Unusable;
use crate::observe::access_log::journal::LogError;
use crate::process::handover::HandoverError;
use crate::process::privileges::PrivilegeError;
use crate::runtime::net::ListenError;
use crate::upstream::places::LookUpError;

/// Why the gate cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An address or a Unix socket cannot be listened at.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A certificate cannot be used.
    #[error("{}: {what}; {mend}", file.display())]
    Certificate {
        /// The certificate or its key.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
        /// What to do about it.
        mend: &'static str,
    },
    /// TLS cannot be set up.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
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
    /// A session to explain is of no class that there is.
    #[error("there is no class \"{class}\"; there are {known}")]
    Class {
        /// As given.
        class: String,
        /// Those there are.
        known: String,
    },
    /// What should be a request to explain is none.
    #[error(
        "\"{line}\" is no part of a request; give for example 'GET /path' and header lines 'Name: value'"
    )]
    Request {
        /// The line that cannot be understood.
        line: String,
    },
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

impl From<Unusable> for Error {
    fn from(Unusable { file, what, mend }: Unusable) -> Self {
        Self::Certificate { file, what, mend }
    }
}
