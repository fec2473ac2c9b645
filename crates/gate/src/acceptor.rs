//! Accepting connections: the kernel's listen queue is kept near empty.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use crate::client::serve;
use crate::error::Error;
use crate::gate::Gate;

/// Opens a listening socket. A connection beyond `backlog` that waits to be accepted would be
/// dropped by the kernel and cost its client seconds.
pub(crate) fn listen(address: SocketAddr, backlog: u32) -> Result<std::net::TcpListener, Error> {
    let open = || {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        // A gate started again must not wait for the connections of the one before.
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        Ok(socket.into())
    };
    open().map_err(|why| Error::Listen { address, why })
}

/// Accepts connections for as long as it is polled.
pub(crate) async fn accept(gate: Rc<Gate>, listener: TcpListener) {
    let burst = gate.core.borrow().policy().burst();
    let mut accepted = 0;
    loop {
        gate.guard.room(&gate).await;
        match listener.accept().await {
            Ok((socket, peer)) => welcome(&gate, socket, peer),
            Err(why) => gate.guard.accept_failed(&gate, &why).await,
        }
        accepted += 1;
        if accepted == burst {
            // The paper's n: after so many, the policy has its cycle.
            accepted = 0;
            gate.turn.ring();
            tokio::task::yield_now().await;
        }
    }
}

fn welcome(gate: &Rc<Gate>, socket: TcpStream, peer: SocketAddr) {
    let (key, client) = gate.clients.add(peer.ip(), gate.clock.read());
    let place = Place { gate: Rc::clone(gate), key };
    let gate = Rc::clone(gate);
    tokio::task::spawn_local(async move {
        serve(gate, socket, client).await;
        drop(place);
    });
}

/// A connection's place in the registry.
struct Place {
    gate: Rc<Gate>,
    key: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.gate.clients.remove(self.key);
        self.gate.guard.left();
    }
}

/// How long to leave a listener alone whose accept failed for lack of something.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);
