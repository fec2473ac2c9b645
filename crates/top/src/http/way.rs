//! [`Way`]: connections to a place.

use std::io;

use tokio::net::{TcpStream, UnixStream};

use super::ssh::Tunnel;
use super::wire::Wire;
use crate::place::{Address, Place};

/// What leads to a place.
#[derive(Debug)]
pub(super) enum Way {
    Tcp(Address),
    Unix(std::path::PathBuf),
    Ssh(Tunnel),
}

impl Way {
    pub(super) fn to(place: &Place) -> Self {
        match place {
            Place::Tcp(address) => Self::Tcp(address.clone()),
            Place::Unix(path) => Self::Unix(path.clone()),
            Place::Ssh(ssh) => Self::Ssh(Tunnel::new(ssh.clone())),
        }
    }

    pub(super) async fn connect(&self) -> io::Result<Box<dyn Wire>> {
        match self {
            Self::Tcp(Address { host, port }) => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                // Requests are small, and each is waited for.
                let _ = stream.set_nodelay(true);
                Ok(Box::new(stream))
            }
            Self::Unix(path) => Ok(Box::new(UnixStream::connect(path).await?)),
            Self::Ssh(tunnel) => tunnel.connect().await,
        }
    }

    /// From now on no program may ask the user for anything: the terminal is taken.
    pub(super) fn be_quiet(&self) {
        if let Self::Ssh(tunnel) = self {
            tunnel.be_quiet();
        }
    }
}
