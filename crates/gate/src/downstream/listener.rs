//! [`Listening`]: a listener's socket, and accepting from it.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net as unix;
use std::path::Path;

use rustix::net::sockopt;
use socket2::SockAddr;

use crate::downstream::socket::Socket;
use crate::runtime::inherited::Sockets;
use crate::runtime::net::{self, ListenError};
#[cfg(feature = "simulate")]
use crate::runtime::simulated::SimulatedListener;
use crate::runtime::stream::Stream;
use gate_config::settings::listen_address::ListenAddress;

/// A listener's socket, taken before the event loop is there.
#[derive(Debug)]
pub(crate) enum Listening {
    Tcp(std::net::TcpListener),
    Unix(unix::UnixListener),
}

/// The same in the event loop.
#[derive(Debug)]
pub(crate) enum Accepting {
    Tcp(tokio::net::TcpListener),
    Unix(tokio::net::UnixListener),
    #[cfg(feature = "simulate")]
    Simulated(SimulatedListener),
}

impl Listening {
    /// Takes the socket for `name` from those that were passed on, or opens one at `place`.
    pub(crate) fn open(
        sockets: &mut Sockets,
        name: &str,
        place: &ListenAddress,
        backlog: u32,
        only_v6: bool,
    ) -> Result<Self, ListenError> {
        let path = match place {
            ListenAddress::Tcp(address) => {
                return net::listen(sockets, name, *address, backlog, only_v6).map(Self::Tcp);
            }
            ListenAddress::Unix(path) => path,
        };
        let unusable = |why| ListenError::Address { place: place.to_string(), why };
        let passed = sockets.take(name, &SockAddr::unix(path).map_err(unusable)?)?;
        let open = || {
            let listener = match passed {
                Some(passed) => unix::UnixListener::from(passed),
                None => {
                    remove_abandoned(path)?;
                    unix::UnixListener::bind(path)?
                }
            };
            listener.set_nonblocking(true)?;
            Ok(Self::Unix(listener))
        };
        open().map_err(unusable)
    }

    /// Where it stands: the port is known now.
    pub(crate) fn place(&self, asked: &ListenAddress) -> Result<ListenAddress, ListenError> {
        match self {
            Self::Tcp(listener) => {
                let why = |why| ListenError::Address { place: asked.to_string(), why };
                Ok(ListenAddress::Tcp(listener.local_addr().map_err(why)?))
            }
            Self::Unix(_) => Ok(asked.clone()),
        }
    }

    /// The socket once more, to be passed on.
    pub(crate) fn passed_on(&self) -> io::Result<OwnedFd> {
        Ok(match self {
            Self::Tcp(listener) => listener.try_clone()?.into(),
            Self::Unix(listener) => listener.try_clone()?.into(),
        })
    }

    /// Into the event loop.
    pub(crate) fn accepting(self) -> io::Result<Accepting> {
        Ok(match self {
            Self::Tcp(listener) => {
                // Linux gives both to the connections accepted, which saves calls for each.
                sockopt::set_tcp_nodelay(&listener, true)?;
                // What is asked is answered soon, and the answer says that the question has come: without this a new
                // connection says so at once, by a segment of its own.
                sockopt::set_tcp_quickack(&listener, false)?;
                Accepting::Tcp(tokio::net::TcpListener::from_std(listener)?)
            }
            Self::Unix(listener) => Accepting::Unix(tokio::net::UnixListener::from_std(listener)?),
        })
    }
}

impl Accepting {
    /// The next connection, and where it comes from. A client of a Unix socket is on this
    /// machine.
    pub(crate) async fn accept(&self) -> io::Result<(Socket, IpAddr)> {
        match self {
            Self::Tcp(listener) => {
                let (socket, peer) = listener.accept().await?;
                Ok((Socket::new(Stream::Tcp(socket)), peer.ip()))
            }
            Self::Unix(listener) => {
                let (socket, _) = listener.accept().await?;
                Ok((Socket::new(Stream::Unix(socket)), Ipv4Addr::LOCALHOST.into()))
            }
            #[cfg(feature = "simulate")]
            Self::Simulated(listener) => {
                let (stream, peer) = listener.accept().await?;
                Ok((Socket::new(Stream::Simulated(Box::new(stream))), peer.ip()))
            }
        }
    }
}

/// Removes a Unix socket whose owner is gone; it would be in the way of ours.
fn remove_abandoned(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    if is_socket
        && unix::UnixStream::connect(path).is_err_and(|why| why.kind() == io::ErrorKind::ConnectionRefused)
    {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Takes the path of a Unix socket away, so that clients see at once that there is no listener.
pub(crate) fn remove(address: &ListenAddress) {
    if let ListenAddress::Unix(path) = address {
        // If it stays, the next gate finds that there is no process behind it.
        let _ = fs::remove_file(path);
    }
}
