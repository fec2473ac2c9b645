//! Accepting connections: the kernel's listen queue is kept near empty.

use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

use crate::downstream::connection::serve;
use crate::downstream::door::Door;
use crate::downstream::listener::{Accepting, Listening};
use crate::downstream::socket;
use crate::error::Error;
use crate::process::gate::Gate;
use crate::runtime::inherited::Sockets;
use crate::settings::front::Listener;

/// Opens a listening socket. A connection beyond `backlog` that waits to be accepted would be
/// dropped by the kernel and cost its client seconds.
///
/// Takes the socket for `name` from those that were passed on, if there is one. `[::]` stands for
/// all addresses of IPv4 as well, unless `only_v6`.
pub(crate) fn listen(
    sockets: &mut Sockets,
    name: &str,
    address: SocketAddr,
    backlog: u32,
    only_v6: bool,
) -> Result<std::net::TcpListener, Error> {
    if let Some(passed) = sockets.take(name, &address.into())? {
        return Ok(passed.into());
    }
    let open = || {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        // A gate started again must not wait for the connections of the one before.
        socket.set_reuse_address(true)?;
        if address.is_ipv6() {
            socket.set_only_v6(only_v6)?;
        }
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        Ok(socket.into())
    };
    open().map_err(|why| Error::Listen { place: address.to_string(), why })
}

/// How connections of each listener are taken in.
pub(crate) fn doors(gate: &Rc<Gate>, listeners: Vec<Listening>) -> Result<Vec<(Rc<Door>, Accepting)>, Error> {
    let live = gate.live();
    let door = |(listener, listening): (&Listener, Listening)| {
        let door = Door::new(listener, &gate.handshakes)?;
        Ok((Rc::new(door), listening.accepting().map_err(Error::System)?))
    };
    live.settings.listeners.iter().zip(listeners).map(door).collect()
}

/// Accepts connections for as long as it is polled.
pub(crate) async fn accept(gate: Rc<Gate>, door: Rc<Door>, listener: Accepting) {
    let mut accepted = 0;
    loop {
        gate.guard.room(&gate).await;
        match listener.accept().await {
            Ok((socket, address)) => welcome(&gate, &door, socket, address),
            Err(why) => gate.guard.accept_failed(&gate, &why).await,
        }
        accepted += 1;
        if accepted >= gate.core.borrow().policy().burst() {
            // The paper's n: after so many, the policy has its cycle.
            accepted = 0;
            gate.turn.ring();
            tokio::task::yield_now().await;
        }
    }
}

fn welcome(gate: &Rc<Gate>, door: &Rc<Door>, socket: socket::Socket, address: IpAddr) {
    let (key, client) = gate.clients.add(address, gate.clock.read());
    let place = Place { gate: Rc::clone(gate), key };
    let (gate, door) = (Rc::clone(gate), Rc::clone(door));
    tokio::task::spawn_local(async move {
        serve(gate, door, socket, client).await;
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
