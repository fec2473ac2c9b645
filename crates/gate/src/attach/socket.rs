//! [`Socket`]: a client's connection, while the gate has it.

use std::net::TcpStream as Plain;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use handoff::keeper::{Keeper, Role};
use rustix::net::{RecvFlags, recv};
use tokio::io::Interest;
use tokio::net::TcpStream;

use super::peek::{First, MAX_HEAD, known};
use super::process::Left;

/// A client's connection, while the gate has it. Most are handed over at once, so that the reactor is only told of one that
/// has to be waited for.
#[derive(Debug)]
pub(super) struct Socket {
    state: State,
    kept: Option<Kept>,
}

#[derive(Debug)]
enum State {
    Plain(Plain),
    Registered(TcpStream),
    /// It could not be registered, or is another's: there is no more to be had of it.
    Lost,
}

/// What is known to the keeper of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    keeper: &'static Keeper,
    fd: RawFd,
    to: RawFd,
    /// A process has it as well.
    is_of_process: bool,
}

impl Kept {
    /// Nothing is asked on it.
    fn is_idle(self) {
        self.keeper.set(self.fd, Role::Idle { to: self.to });
    }

    pub(super) fn waits(self) {
        self.keeper.set(self.fd, Role::Waiting { to: self.to });
    }

    /// It is about to be given to a process.
    pub(super) fn is_given(self, slot: u32) {
        self.keeper.set(self.fd, Role::Given { to: self.to, slot: slot as u16 });
    }

    /// It is not to be passed on.
    fn is_other(self) {
        self.keeper.set(self.fd, Role::Other);
    }

    pub(super) fn forget(self) {
        self.keeper.set(self.fd, Role::None);
    }
}

/// Whether the gate ends: what waits in it is left to the keeper.
static IS_LEFT: AtomicBool = AtomicBool::new(false);

/// From now on connections that wait stay open when they are dropped, until this process has ended and the keeper passes them
/// on to the server.
pub(super) fn leave_to_keeper() {
    IS_LEFT.store(true, Ordering::Relaxed);
}

impl Drop for Socket {
    fn drop(&mut self) {
        let Some(kept) = self.kept else { return };
        // What a process has is its own.
        if kept.is_of_process || !IS_LEFT.load(Ordering::Relaxed) {
            return kept.forget();
        }
        match std::mem::replace(&mut self.state, State::Lost) {
            State::Plain(socket) => std::mem::forget(socket),
            State::Registered(stream) => std::mem::forget(stream),
            State::Lost => {}
        }
    }
}

impl Socket {
    /// One that does not block, and that a process of the server has as well.
    pub(super) fn of_process(socket: OwnedFd, keeper: Option<&'static Keeper>) -> Self {
        let kept = keeper.map(|keeper| Kept { keeper, fd: socket.as_raw_fd(), to: 0, is_of_process: true });
        kept.iter().for_each(|kept| kept.is_other());
        Self { state: State::Plain(socket.into()), kept }
    }

    /// As [`Self::kept`], and nothing is asked on it.
    pub(super) fn idle(socket: OwnedFd, keeper: Option<&'static Keeper>, left: &Left) -> Self {
        let socket = Self::kept(socket, keeper, left);
        socket.kept.iter().for_each(|kept| kept.is_idle());
        socket
    }

    /// One that does not block, and that no process of the server has.
    pub(super) fn kept(socket: OwnedFd, keeper: Option<&'static Keeper>, left: &Left) -> Self {
        let (fd, to) = (socket.as_raw_fd(), left.to.as_raw_fd());
        let kept = keeper.map(|keeper| Kept { keeper, fd, to, is_of_process: false });
        kept.iter().for_each(|kept| kept.waits());
        Self { state: State::Plain(socket.into()), kept }
    }

    /// What the keeper knows of it.
    pub(super) fn keeping(&self) -> Option<Kept> {
        self.kept
    }

    /// Tells the reactor of it.
    pub(super) fn registered(&mut self) -> Option<&TcpStream> {
        if let State::Plain(_) = self.state
            && let State::Plain(plain) = std::mem::replace(&mut self.state, State::Lost)
        {
            match TcpStream::from_std(plain) {
                Ok(stream) => self.state = State::Registered(stream),
                // It is closed.
                Err(_) => self.kept.take().iter().for_each(|kept| kept.forget()),
            }
        }
        match &self.state {
            State::Registered(stream) => Some(stream),
            State::Plain(_) | State::Lost => None,
        }
    }

    /// As a stream of the reactor's, for who answers on it: no other is to do so any more. What comes with it is to be dropped
    /// after it.
    pub(super) fn into_stream(mut self) -> Option<(TcpStream, Self)> {
        self.registered()?;
        self.kept.iter().for_each(|kept| kept.is_other());
        match std::mem::replace(&mut self.state, State::Lost) {
            State::Registered(stream) => Some((stream, self)),
            State::Plain(_) | State::Lost => None,
        }
    }

    /// The descriptor.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.state {
            State::Plain(socket) => Some(socket.as_fd()),
            State::Registered(stream) => Some(stream.as_fd()),
            State::Lost => None,
        }
    }

    /// Waits until something is asked on it; whether it is still there.
    pub(super) async fn stirs(&mut self) -> bool {
        let is_there = self.descriptor().is_some_and(|socket| skip_empty_lines(socket).is_ok());
        let stirs = is_there
            || match self.registered() {
                Some(stream) => {
                    let skip = || skip_empty_lines(stream.as_fd());
                    stream.async_io(Interest::READABLE, skip).await.is_ok()
                }
                None => false,
            };
        self.kept.iter().for_each(|kept| kept.waits());
        stirs
    }

    /// Waits until there is a whole head.
    pub(super) async fn first(&mut self) -> First {
        if let Some(socket) = self.descriptor()
            && let Ok(Some(first)) = look(socket)
        {
            return first;
        }
        let Some(stream) = self.registered() else { return First::Gone };
        loop {
            let Ok(ready) = stream.ready(Interest::READABLE).await else { return First::Gone };
            // What is not whole is looked at again when more has come: until then the socket is not readable.
            let looked = stream.try_io(Interest::READABLE, || {
                look(stream.as_fd())?.ok_or_else(|| std::io::ErrorKind::WouldBlock.into())
            });
            match looked {
                Ok(first) => return first,
                // What it has sent is all that it will.
                Err(why) if why.kind() == std::io::ErrorKind::WouldBlock && !ready.is_read_closed() => {}
                Err(_) => return First::Gone,
            }
        }
    }

    /// Until the client goes away, which matters to who waits for long.
    pub(super) async fn gone(&mut self) {
        const LONG: Duration = Duration::from_millis(20);
        tokio::time::sleep(LONG).await;
        let Some(stream) = self.registered() else { return };
        loop {
            match stream.ready(Interest::READABLE).await {
                Ok(ready) if !ready.is_read_closed() => {
                    // It has sent something; its end is said anew.
                    let _ = stream
                        .try_io(Interest::READABLE, || Err::<(), _>(std::io::ErrorKind::WouldBlock.into()));
                }
                _ => return,
            }
        }
    }
}

/// Reads empty lines before the next request, if there are any (RFC 9112, 2.2): not all servers know them before what is to them the first. An error where
/// nothing else is there.
fn skip_empty_lines(socket: BorrowedFd<'_>) -> std::io::Result<()> {
    const MOST: usize = 8;
    let mut line = [0; 2];
    for _ in 0..MOST {
        recv(socket, &mut line, RecvFlags::PEEK | RecvFlags::DONTWAIT)?;
        if line != *b"\r\n" {
            break;
        }
        recv(socket, &mut line, RecvFlags::DONTWAIT)?;
        line = [0; 2];
    }
    Ok(())
}

/// Looks at what the client has sent, which stays where it is: the server is to read it. Nothing where more has to come.
fn look(socket: BorrowedFd<'_>) -> std::io::Result<Option<First>> {
    let mut bytes = [0; MAX_HEAD];
    Ok(match recv(socket, &mut bytes[..], RecvFlags::PEEK | RecvFlags::DONTWAIT)? {
        (_, 0) => Some(First::Gone),
        (_, length) => known(&bytes[..length]),
    })
}
