//! [`Lookup`]: the host's name looked up anew for each connection.
//!
//! The system's resolver (getaddrinfo(3)) waits, so it is asked on threads of its own. Each
//! question has a pair of sockets, whose near end the reactor watches like any other.

use std::future::poll_fn;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::client::address::{self, Address};
use crate::engine::reactor::Reactor;
use crate::engine::slot::Responses;
use crate::engine::socket::Socket;
use crate::settings::target::Target;

/// Questions that are asked at once; the others wait, and the wait counts as look-up.
const THREADS: usize = 16;

pub(crate) struct Lookup {
    /// The thread that takes one of these answers on it.
    questions: Sender<UnixStream>,
}

impl Lookup {
    /// Threads that look up the host of `target`, until this is dropped.
    pub(crate) fn new(target: &Target) -> Self {
        let (questions, asked) = channel();
        let asked = Arc::new(Mutex::new(asked));
        for _ in 0..THREADS {
            let (asked, target) = (Arc::clone(&asked), target.clone());
            // Without a thread questions stay unanswered, and requests meet their timeout.
            let _ = std::thread::Builder::new().name("lookup".to_owned()).spawn(move || {
                while let Some(stream) = next(&asked) {
                    answer(stream, &target);
                }
            });
        }
        Self { questions }
    }

    /// The addresses that the name stands for now, at least one.
    ///
    /// # Errors
    /// When it stands for none.
    pub(crate) async fn addresses(&self, reactor: &Rc<Reactor>) -> io::Result<Vec<Address>> {
        let (near, far) = UnixStream::pair()?;
        near.set_nonblocking(true)?;
        // Asked for anew after each piece: Linux 6.18 does not always tell a receive that goes on
        // by itself of the end of a Unix socket.
        let socket = Socket::new(Rc::clone(reactor), OwnedFd::from(near), Responses::One)?;
        socket.expect_response();
        self.questions.send(far).map_err(|_| io::Error::other("no thread looks names up"))?;
        let mut text = Vec::new();
        while poll_fn(|context| socket.poll_receive(context, 256, |_, bytes| text.extend_from_slice(bytes)))
            .await?
            .is_some()
        {}
        let text = String::from_utf8_lossy(&text);
        let addresses = text.lines().map(str::parse::<SocketAddr>);
        let addresses: Result<Vec<_>, _> = addresses.map(|address| address.map(Address::Inet)).collect();
        addresses.ok().filter(|all| !all.is_empty()).ok_or_else(|| io::Error::other(text.into_owned()))
    }
}

fn next(asked: &Mutex<Receiver<UnixStream>>) -> Option<UnixStream> {
    asked.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// Writes the addresses, one on a line, or why the name has none, and closes.
fn answer(mut stream: UnixStream, target: &Target) {
    let text = match address::all_of(target) {
        Ok(all) => all.iter().map(|address| format!("{address}\n")).collect(),
        Err(error) => error.to_string(),
    };
    // The task that asked may have given up.
    let _ = stream.write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::backend::Backend;
    use crate::engine::clock::Clock;
    use crate::engine::runtime::Runtime;

    #[test]
    fn names_become_addresses_and_errors_reasons() {
        for backend in [Backend::Auto, Backend::Epoll] {
            let reactor = Rc::new(Reactor::new(Clock::start(), backend).unwrap());
            let runtime = Runtime::new(Rc::clone(&reactor));
            let look = async move {
                let known = Lookup::new(&"http://localhost:81/".parse().unwrap());
                let all = known.addresses(&reactor).await.unwrap();
                let is_right = |address: &Address| matches!(address, Address::Inet(a) if a.ip().is_loopback() && a.port() == 81);
                assert!(all.iter().all(is_right), "{all:?}");
                let unknown = Lookup::new(&"http://no-such-host.invalid/".parse().unwrap());
                let error = unknown.addresses(&reactor).await.unwrap_err().to_string();
                assert!(error.contains("no-such-host.invalid"), "{error}");
            };
            runtime.run(look, || false).unwrap();
        }
    }
}
