//! Listening sockets: opening them, or taking those that were passed on.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

use crate::runtime::inherited::{InheritedError, Sockets};

/// Why the gate cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address is taken, not ours, or privileged.
    #[error("cannot listen on {place}: {why}; {mend}", mend = mend(why))]
    Address {
        /// Address or path.
        place: String,
        /// What the kernel says.
        why: io::Error,
    },
    /// The admin interface's Unix socket cannot be had.
    #[error("cannot listen on socket {}: {why}; check that its directory exists and may be written to", path.display())]
    Socket {
        /// Where.
        path: PathBuf,
        /// What the kernel says.
        why: io::Error,
    },
    /// A socket that was passed on cannot be used.
    #[error(transparent)]
    Inherited(#[from] InheritedError),
}

fn mend(why: &io::Error) -> &'static str {
    match why.kind() {
        io::ErrorKind::AddrInUse => "another program listens there; choose another port or stop that program",
        io::ErrorKind::PermissionDenied => "ports below 1024 need privileges; choose a higher one",
        io::ErrorKind::AddrNotAvailable => "this machine has no such address",
        _ => "choose another address",
    }
}

/// How long to leave a listener alone whose accept failed for lack of something.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Opens a listening socket. A connection beyond `backlog` that waits to be accepted would be
/// dropped by the kernel and cost its client seconds.
///
/// Takes the socket for `name` from those that were passed on, if there is one. `[::]` stands for
/// all addresses of IPv4 as well, unless `only_v6`.
pub(crate) fn listen(
    sockets: &mut Sockets,
    name: &str,
    address: SocketAddr,
    backlog: u32,
    only_v6: bool,
) -> Result<std::net::TcpListener, ListenError> {
    if let Some(passed) = sockets.take(name, &address.into())? {
        return Ok(passed.into());
    }
    let open = || {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        // A gate started again must not wait for the connections of the one before.
        socket.set_reuse_address(true)?;
        if address.is_ipv6() {
            socket.set_only_v6(only_v6)?;
        }
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        Ok(socket.into())
    };
    open().map_err(|why| ListenError::Address { place: address.to_string(), why })
}
