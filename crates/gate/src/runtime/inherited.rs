//! [`Sockets`]: listening sockets that somebody else has opened and passed on.
//!
//! Two do that: systemd, which starts the gate with them (sd_listen_fds(3)), and the gate before
//! this one (`handover`). Taking them over instead of opening others is what keeps connections
//! that wait in their listen queues.

use std::io;
use std::os::fd::OwnedFd;

use listenfd::ListenFd;
use rustix::net::SocketType;
use rustix::net::sockopt::{socket_acceptconn, socket_type};
use socket2::{SockAddr, Socket};

/// What systemd or the gate before passed on cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("socket \"{name}\" was passed on to the gate, but cannot be used: {why}")]
pub struct InheritedError {
    /// What it is called.
    pub name: String,
    /// What is wrong with it.
    pub why: io::Error,
}

/// Listening sockets passed on, until those who listen take them.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    given: Vec<Given>,
    /// Whether a name is enough: systemd's units say where its sockets listen, and a name tells
    /// what for.
    by_name: bool,
}

/// One socket.
#[derive(Debug)]
pub(crate) struct Given {
    /// What it is for: `listen`, `admin` and so on. systemd calls it by the name of its unit unless
    /// told otherwise.
    name: String,
    socket: OwnedFd,
}

impl Sockets {
    /// What another gate passed on.
    pub(crate) fn passed_on(given: impl Iterator<Item = (String, OwnedFd)>) -> Self {
        Self { given: given.map(|(name, socket)| Given { name, socket }).collect(), by_name: false }
    }

    /// What systemd passed, if it did.
    ///
    /// # Errors
    /// When something was passed that is not a socket of TCP or Unix.
    pub(crate) fn inherited() -> Result<Self, InheritedError> {
        let names = std::env::var("LISTEN_FDNAMES").unwrap_or_default();
        let names: Vec<&str> = names.split(':').collect();
        let mut passed = ListenFd::from_env();
        let mut given = Vec::new();
        for index in 0..passed.len() {
            let name = names.get(index).copied().unwrap_or_default().to_owned();
            let tcp = passed.take_tcp_listener(index).map(|listener| listener.map(OwnedFd::from));
            let passed =
                tcp.or_else(|_| passed.take_unix_listener(index).map(|listener| listener.map(OwnedFd::from)));
            match passed {
                Ok(Some(socket)) => given.push(Given { name, socket }),
                Ok(None) => {}
                Err(why) => return Err(InheritedError { name, why }),
            }
        }
        Ok(Self { given, by_name: true })
    }

    /// Takes out the socket that listens at `place`, or for systemd's is called `name`; if
    /// there is one.
    ///
    /// # Errors
    /// When it does not listen at all.
    pub(crate) fn take(&mut self, name: &str, place: &SockAddr) -> Result<Option<OwnedFd>, InheritedError> {
        let free_port = place.as_socket().filter(|address| address.port() == 0);
        let at_address = |given: &Given| match (local(&given.socket), free_port) {
            // A free port was asked for: it is the one that was found then.
            (Some(local), Some(address)) => {
                given.name == name && local.as_socket().is_some_and(|local| local.ip() == address.ip())
            }
            (local, _) => local.as_ref() == Some(place),
        };
        let by_name = || self.given.iter().position(|given| self.by_name && given.name == name);
        let Some(found) = self.given.iter().position(at_address).or_else(by_name) else { return Ok(None) };
        let Given { name, socket } = self.given.swap_remove(found);
        let listens = socket_acceptconn(&socket).unwrap_or(false)
            && socket_type(&socket).is_ok_and(|kind| kind == SocketType::STREAM);
        let unusable = |why| InheritedError { name, why };
        if !listens {
            return Err(unusable(io::Error::other("it does not listen")));
        }
        let socket = Socket::from(socket);
        socket.set_nonblocking(true).map_err(unusable)?;
        Ok(Some(socket.into()))
    }

    /// Names of those that no listener has taken.
    pub(crate) fn left(&self) -> impl Iterator<Item = &str> {
        self.given.iter().map(|given| given.name.as_str())
    }

    /// Takes one out by its name alone.
    pub(crate) fn take_named(&mut self, name: &str) -> Option<OwnedFd> {
        let found = self.given.iter().position(|given| given.name == name)?;
        Some(self.given.swap_remove(found).socket)
    }
}

fn local(socket: &OwnedFd) -> Option<SockAddr> {
    Socket::from(socket.try_clone().ok()?).local_addr().ok()
}
