//! The admin interface's Unix socket.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{Mode, fchmod};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::runtime::inherited::Sockets;
use crate::runtime::net::ListenError;

/// Only the user that the gate runs as may connect.
const MODE: u32 = 0o600;
const BACKLOG: i32 = 64;
/// By this name it is passed on to the next gate, and by systemd.
pub(crate) const SOCKET: &str = "admin-socket";

/// Listens at `path`: on the socket that was passed on, or in the place of a gate that was there
/// before. A client that has a connection to that gate keeps it.
pub(crate) fn listen_locally(sockets: &mut Sockets, path: &Path) -> Result<UnixListener, ListenError> {
    let mut open = || {
        if let Some(passed) = sockets.take_named(SOCKET).map(UnixListener::from)
            && passed.local_addr()?.as_pathname() == Some(path)
        {
            passed.set_nonblocking(true)?;
            return Ok(passed);
        }
        match fs::symlink_metadata(path) {
            Ok(there) if there.file_type().is_socket() => fs::remove_file(path)?,
            Ok(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    "a file is there that is no socket",
                ));
            }
            Err(_) => {}
        }
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        // Linux makes the file with the mode the socket has when it is bound, so there is no
        // moment at which others could connect.
        fchmod(&socket, Mode::from_raw_mode(MODE))?;
        socket.bind(&SockAddr::unix(path)?)?;
        fs::set_permissions(path, Permissions::from_mode(MODE))?;
        socket.listen(BACKLOG)?;
        Ok(UnixListener::from(socket))
    };
    open().map_err(|why| ListenError::Socket { path: path.to_owned(), why })
}
