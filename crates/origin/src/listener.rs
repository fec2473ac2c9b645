//! [`Listener`]: a listening socket, and the file that a Unix socket leaves.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use socket2::{Domain, SockAddr, Socket, Type};

use crate::address::Address;

/// A socket that listens.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) socket: Socket,
    /// As asked for, with the port that was taken if that was left open.
    pub(crate) address: Address,
    pub(crate) file: Option<SocketFile>,
}

/// The file of a Unix socket; removed when dropped.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Gone already: another process has removed it.
        let _ = fs::remove_file(&self.0);
    }
}

impl Listener {
    pub(crate) fn new(address: &Address, backlog: u16) -> io::Result<Self> {
        match address {
            Address::Tcp(asked) => {
                let socket = Socket::new(Domain::for_address(*asked), Type::STREAM, None)?;
                // As every server does: else the port is not free for a minute after the last one.
                socket.set_reuse_address(true)?;
                socket.bind(&(*asked).into())?;
                socket.listen(backlog.into())?;
                let address = socket.local_addr()?.as_socket().unwrap_or(*asked);
                Ok(Self { socket, address: address.into(), file: None })
            }
            Address::Unix(path) => {
                let name = SockAddr::unix(path)?;
                remove_stale(path, &name)?;
                let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
                socket.bind(&name)?;
                let file = SocketFile(path.clone());
                socket.listen(backlog.into())?;
                Ok(Self { socket, address: address.clone(), file: Some(file) })
            }
        }
    }
}

/// Removes the socket of a server that ended without doing so: one that refuses connections.
/// Anything else stays, and is in the way.
fn remove_stale(path: &Path, name: &SockAddr) -> io::Result<()> {
    let kind = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !kind.is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "something that is not a socket is there"));
    }
    match Socket::new(Domain::UNIX, Type::STREAM, None)?.connect(name) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
        Ok(()) => Err(io::ErrorKind::AddrInUse.into()),
    }
}
