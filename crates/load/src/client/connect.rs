//! TCP handshakes, begun by hand so that their time can be told apart.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, getsockname, socket_with, sockopt,
};

use crate::client::address::Address;
use crate::client::sock_diag::SocketDiagnosis;
use crate::engine::reactor::Reactor;
use crate::engine::slot::Responses;
use crate::engine::socket::Socket;

/// When a handshake ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Established {
    /// It was part of the call that began it.
    Now,
    Later,
}

/// Begins the handshake. The socket is there from its first SYN on, so that it can be asked
/// about even when the handshake never ends.
pub(crate) fn begin(
    reactor: &Rc<Reactor>,
    target: &Address,
    source: Option<IpAddr>,
    responses: Responses,
) -> io::Result<(Socket, Established)> {
    let (fd, connected) = match target {
        Address::Inet(target) => begin_inet(*target, source)?,
        Address::Unix(path) => {
            let fd = open(AddressFamily::UNIX)?;
            let connected = connect(&fd, &SocketAddrUnix::new(path)?);
            (fd, connected)
        }
    };
    let established = match connected {
        Ok(()) => Established::Now,
        Err(Errno::INPROGRESS) => Established::Later,
        Err(error) => return Err(error.into()),
    };
    let socket = Socket::new(Rc::clone(reactor), fd, responses)?;
    if matches!(target, Address::Inet(_)) {
        socket.allow_discard();
    }
    Ok((socket, established))
}

fn begin_inet(target: SocketAddr, source: Option<IpAddr>) -> io::Result<(OwnedFd, Result<(), Errno>)> {
    let fd = open(if target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 })?;
    // A request is one small segment; it must not wait for another to fill up with.
    sockopt::set_tcp_nodelay(&fd, true)?;
    if let Some(source) = source {
        // Ports of connections that linger in TIME_WAIT may be taken again.
        sockopt::set_socket_reuseaddr(&fd, true)?;
        bind(&fd, &SocketAddr::new(source, 0))?;
    }
    let connected = connect(&fd, &target);
    Ok((fd, connected))
}

fn open(family: AddressFamily) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(family, SocketType::STREAM, flags, None)?)
}

/// SYNs sent again; asked right after the handshake, or while it lasts.
pub(crate) fn syn_retransmits(socket: &Socket, diagnosis: Option<&SocketDiagnosis>, target: &Address) -> u32 {
    let (Some(diagnosis), Address::Inet(target)) = (diagnosis, target) else { return 0 };
    let local = socket.with_fd(|fd| getsockname(fd.as_fd())).and_then(Result::ok);
    let local = local.and_then(|local| SocketAddr::try_from(local).ok());
    local.and_then(|local| diagnosis.between(local, *target)).map_or(0, |info| info.retransmits)
}
