//! [`Socket`]: a client's connection, while the gate has it.

use std::net::TcpStream as Plain;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::net::{RecvFlags, recv};
use tokio::io::Interest;
use tokio::net::TcpStream;

use super::peek::{First, MAX_HEAD, known};

/// A client's connection, while the gate has it. Most are handed over at once, so that the reactor is only told of one that
/// has to be waited for.
#[derive(Debug)]
pub(super) enum Socket {
    Plain(Plain),
    Registered(TcpStream),
    /// It could not be registered: there is no more to be had of it.
    Lost,
}

impl Socket {
    /// One that does not block.
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self::Plain(socket.into())
    }

    /// Tells the reactor of it.
    pub(super) fn registered(&mut self) -> Option<&TcpStream> {
        if let Self::Plain(_) = self
            && let Self::Plain(plain) = std::mem::replace(self, Self::Lost)
            && let Ok(stream) = TcpStream::from_std(plain)
        {
            *self = Self::Registered(stream);
        }
        match self {
            Self::Registered(stream) => Some(stream),
            Self::Plain(_) | Self::Lost => None,
        }
    }

    /// As a stream of the reactor's.
    pub(super) fn into_stream(mut self) -> Option<TcpStream> {
        self.registered()?;
        match self {
            Self::Registered(stream) => Some(stream),
            Self::Plain(_) | Self::Lost => None,
        }
    }

    /// The descriptor.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Plain(socket) => Some(socket.as_fd()),
            Self::Registered(stream) => Some(stream.as_fd()),
            Self::Lost => None,
        }
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

/// Looks at what the client has sent, which stays where it is: the server is to read it. Nothing where more has to come.
fn look(socket: BorrowedFd<'_>) -> std::io::Result<Option<First>> {
    let mut bytes = [0; MAX_HEAD];
    Ok(match recv(socket, &mut bytes[..], RecvFlags::PEEK | RecvFlags::DONTWAIT)? {
        (_, 0) => Some(First::Gone),
        (_, length) => known(&bytes[..length]),
    })
}
