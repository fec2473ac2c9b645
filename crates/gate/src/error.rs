//! Why the gate cannot start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::downstream::certificate::Unusable;
use crate::process::handover::HandoverError;
use crate::process::privileges::PrivilegeError;

/// Why the gate cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is taken, not ours, or privileged.
    #[error("cannot listen on {place}: {why}; {mend}", mend = mend(why))]
    Listen {
        /// Address or path.
        place: String,
        /// What the kernel says.
        why: io::Error,
    },
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
    /// The admin interface's Unix socket cannot be had.
    #[error("cannot listen on socket {}: {why}; check that its directory exists and may be written to", path.display())]
    Socket {
        /// Where.
        path: PathBuf,
        /// What the kernel says.
        why: io::Error,
    },
    /// The admin interface would obey everybody.
    #[error(
        "admin on {address} would obey everybody who can reach it; add token-file to [admin], or listen on 127.0.0.1"
    )]
    Exposed {
        /// Where it was to listen.
        address: SocketAddr,
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
    /// What systemd or the gate before passed on cannot be used.
    #[error("socket \"{name}\" was passed on to the gate, but cannot be used: {why}")]
    Inherited {
        /// What it is called.
        name: String,
        /// What is wrong with it.
        why: io::Error,
    },
    /// The gate that is to be replaced keeps its sockets.
    #[error(transparent)]
    Handover(#[from] HandoverError),
    /// The configured user cannot be taken on.
    #[error(transparent)]
    Privileges(#[from] PrivilegeError),
    /// The access log cannot be opened.
    #[error("cannot open access log {to}: {why}; the user that the gate runs as must be able to write there")]
    Log {
        /// Where it should go.
        to: String,
        /// What the kernel says.
        why: io::Error,
    },
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

fn mend(why: &io::Error) -> &'static str {
    match why.kind() {
        io::ErrorKind::AddrInUse => "another program listens there; choose another port or stop that program",
        io::ErrorKind::PermissionDenied => "ports below 1024 need privileges; choose a higher one",
        io::ErrorKind::AddrNotAvailable => "this machine has no such address",
        _ => "choose another address",
    }
}
