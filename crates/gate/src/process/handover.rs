//! Handing the listening sockets over to the gate that follows, by a Unix socket.
//!
//! The new gate connects, is given the sockets themselves (unix(7), `SCM_RIGHTS`) and says when it
//! accepts; then the old one stops accepting and drains. Both listen on the same sockets, so a
//! connection that waits in a listen queue waits for whichever of them comes first. The control
//! socket is handed over like the others: nothing in the file system changes, which the old gate
//! may have given up the right to.

use std::fs;
use std::io::{self, BufRead as _, BufReader, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::net::sockopt::socket_peercred;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use tokio::io::Interest;

use crate::runtime::inherited::Sockets;
use crate::runtime::log::say;
use crate::session::cookies::Secret;

/// The name that the control socket itself is passed on by.
const CONTROL: &str = "control";
/// What the new gate says first, with the version of all that follows.
const TAKE_OVER: &str = "take over 1\n";
/// What it says when it accepts.
const SERVING: &str = "serving\n";
/// Sockets in one message; the kernel takes up to 253.
const MAX_SOCKETS: usize = 64;
/// For an answer of the other gate, which should come at once.
const PATIENCE: Duration = Duration::from_secs(10);
/// For the new gate to get ready: it may look names up.
const START: Duration = Duration::from_secs(60);

/// Why nothing was taken over although somebody is there.
#[derive(Debug, thiserror::Error)]
pub enum HandoverError {
    /// The path is something else.
    #[error("{path} is not a socket; choose another path for control")]
    NotASocket {
        /// The control socket's.
        path: PathBuf,
    },
    /// Somebody else listens there.
    #[error("{path} belongs to user {uid}, from whom no sockets are taken; choose another path for control")]
    Stranger {
        /// The control socket's.
        path: PathBuf,
        /// Who listens.
        uid: u32,
    },
    /// The other gate does not hand over.
    #[error(
        "the gate at {path} did not hand its sockets over: {why}; stop it, or choose another path for control"
    )]
    InVain {
        /// The control socket's.
        path: PathBuf,
        /// What went wrong.
        why: io::Error,
    },
    /// The path cannot be listened at.
    #[error("cannot listen at {path}: {why}; its directory must exist and be writable")]
    Listen {
        /// The control socket's.
        path: PathBuf,
        /// What the kernel says.
        why: io::Error,
    },
}

/// What is passed on beside the sockets.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Estate {
    /// What each socket is for, in the order in which they are passed.
    sockets: Vec<String>,
    /// The secret that was made up, so that its sessions go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<Secret>,
}

/// The gate that was here before, which still accepts.
#[derive(Debug)]
pub(crate) struct Predecessor {
    stream: UnixStream,
    pub(crate) secret: Option<Secret>,
}

impl Predecessor {
    /// Tells it that this gate accepts from now on.
    pub(crate) fn replace(mut self) {
        // One that is gone needs not be told.
        let _ = self.stream.write_all(SERVING.as_bytes());
    }
}

/// Asks the gate at `path` for its sockets; none when there is no gate. Besides root and the
/// user this gate runs as, only `user` is trusted to pass sockets on.
///
/// # Errors
/// When something is there that does not hand over.
pub(crate) fn take_over(
    path: &Path,
    user: Option<u32>,
) -> Result<Option<(Predecessor, Sockets)>, HandoverError> {
    let stream = match UnixStream::connect(path) {
        Ok(stream) => stream,
        Err(why) => return nobody(path, why).map(|()| None),
    };
    let in_vain = |why| HandoverError::InVain { path: path.to_owned(), why };
    let uid = socket_peercred(&stream).map_err(|why| in_vain(why.into()))?.uid.as_raw();
    if uid != 0 && uid != geteuid().as_raw() && Some(uid) != user {
        return Err(HandoverError::Stranger { path: path.to_owned(), uid });
    }
    let (estate, sockets) = ask(&stream).map_err(in_vain)?;
    if estate.sockets.len() != sockets.len() {
        return Err(in_vain(io::Error::other("the sockets do not match their names")));
    }
    let sockets = Sockets::passed_on(estate.sockets.into_iter().zip(sockets));
    Ok(Some((Predecessor { stream, secret: estate.secret }, sockets)))
}

/// Whether `path` is free, but for the socket of a gate that is no more.
fn nobody(path: &Path, why: io::Error) -> Result<(), HandoverError> {
    match why.kind() {
        io::ErrorKind::NotFound => Ok(()),
        io::ErrorKind::ConnectionRefused => {
            let socket = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
            if !socket {
                return Err(HandoverError::NotASocket { path: path.to_owned() });
            }
            // What cannot be removed is in the way of listening, and is reported there.
            let _ = fs::remove_file(path);
            Ok(())
        }
        _ => Err(HandoverError::InVain { path: path.to_owned(), why }),
    }
}

fn ask(mut stream: &UnixStream) -> io::Result<(Estate, Vec<OwnedFd>)> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(TAKE_OVER.as_bytes())?;
    let mut first = [0; 4096];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(stream, &mut [IoSliceMut::new(&mut first)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut sockets = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            sockets.extend(passed);
        }
    }
    let mut text = first[..received.bytes].to_vec();
    if text.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it closed the connection"));
    }
    if !text.ends_with(b"\n") {
        BufReader::new(stream).read_until(b'\n', &mut text)?;
    }
    Ok((serde_json::from_slice(&text)?, sockets))
}

/// A control socket.
#[derive(Debug)]
pub(crate) struct Control {
    path: PathBuf,
    listener: UnixListener,
    /// Device and file, to know it again.
    file: Option<(u64, u64)>,
}

impl Control {
    /// Listens at `path`, on the socket of the gate before if that passed its own on.
    ///
    /// # Errors
    /// When it cannot.
    pub(crate) fn listen(path: &Path, sockets: &mut Sockets) -> Result<Self, HandoverError> {
        let mut open = || {
            // The gate before was found by this path, so the socket is that of the path.
            if let Some(passed) = sockets.take_named(CONTROL).map(UnixListener::from) {
                passed.set_nonblocking(true)?;
                return Ok(passed);
            }
            let listener = UnixListener::bind(path)?;
            // For others there is nothing to take over here.
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let listener = open().map_err(|why| HandoverError::Listen { path: path.to_owned(), why })?;
        Ok(Self { path: path.to_owned(), file: identity(path), listener })
    }

    /// Offers `listeners` to the next gate for as long as it is polled; gives the process that
    /// has taken them and accepts.
    pub(crate) async fn offer(
        &self,
        listeners: &[(String, OwnedFd)],
        secret: impl Fn() -> Option<Secret>,
    ) -> io::Result<i32> {
        let listener = tokio::net::UnixListener::from_std(self.listener.try_clone()?)?;
        loop {
            // The backlog keeps others waiting; there is one successor at a time.
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            match self.hand_over(&stream, listeners, secret()).await {
                Ok(pid) => return Ok(pid),
                Err(why) => say!("the next gate did not take over: {why}; this one goes on"),
            }
        }
    }

    async fn hand_over(
        &self,
        stream: &tokio::net::UnixStream,
        listeners: &[(String, OwnedFd)],
        secret: Option<Secret>,
    ) -> io::Result<i32> {
        let peer = stream.peer_cred()?;
        if peer.uid() != 0 && peer.uid() != geteuid().as_raw() {
            return Err(io::Error::other(format!("user {} may not have the sockets", peer.uid())));
        }
        expect(stream, TAKE_OVER, PATIENCE).await?;
        let mut names: Vec<String> = listeners.iter().map(|(name, _)| name.clone()).collect();
        names.push(CONTROL.to_owned());
        let mut passed: Vec<_> = listeners.iter().map(|(_, socket)| socket.as_fd()).collect();
        passed.push(self.listener.as_fd());
        let text = serde_json::to_string(&Estate { sockets: names, secret })? + "\n";
        let send = || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            if !control.push(SendAncillaryMessage::ScmRights(&passed)) {
                return Err(io::Error::other(format!(
                    "{} sockets are more than can be passed",
                    passed.len()
                )));
            }
            Ok(sendmsg(stream, &[IoSlice::new(text.as_bytes())], &mut control, SendFlags::NOSIGNAL)?)
        };
        let sent = stream.async_io(Interest::WRITABLE, send).await?;
        if sent < text.len() {
            return Err(io::Error::from(io::ErrorKind::WriteZero));
        }
        expect(stream, SERVING, START).await?;
        Ok(peer.pid().unwrap_or_default())
    }

    /// Takes the socket out of the file system, unless another has taken its place there.
    pub(crate) fn remove(&self) {
        if self.file.is_some() && identity(&self.path) == self.file {
            // Without the right to, it stays; the next gate sees that no process listens and takes
            // its place.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let file = fs::symlink_metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

/// Reads exactly `text`.
async fn expect(stream: &tokio::net::UnixStream, text: &'static str, longest: Duration) -> io::Result<()> {
    let mut got = Vec::new();
    let reading = async {
        while got.len() < text.len() {
            stream.readable().await?;
            let mut piece = [0; 64];
            let most = (text.len() - got.len()).min(piece.len());
            match stream.try_read(&mut piece[..most]) {
                Ok(0) => {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it closed the connection"));
                }
                Ok(length) => got.extend_from_slice(&piece[..length]),
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => {}
                Err(why) => return Err(why),
            }
        }
        Ok(())
    };
    match tokio::time::timeout(longest, reading).await {
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "it said nothing for too long")),
        Ok(Err(why)) => Err(why),
        Ok(Ok(())) if got == text.as_bytes() => Ok(()),
        Ok(Ok(())) => Err(io::Error::new(io::ErrorKind::InvalidData, "it speaks another language")),
    }
}
