//! Accepting connections: the kernel's listen queue is kept near empty.

use std::net::IpAddr;
use std::rc::Rc;

use crate::clients::client::Client;
use crate::downstream::connection::serve;
use crate::downstream::context::Downstream;
use crate::downstream::door::Door;
use crate::downstream::handler::Handler;
use crate::downstream::listener::Accepting;
use crate::downstream::socket::Socket;

/// Accepts connections for as long as it is polled.
pub(crate) async fn accept<H: Handler>(
    downstream: Rc<Downstream>,
    handler: Rc<H>,
    door: Rc<Door>,
    listener: Accepting,
) {
    let mut accepted = 0;
    loop {
        downstream.admission.guard.room().await;
        match listener.accept().await {
            Ok((socket, address)) => welcome(&downstream, &handler, &door, socket, address),
            Err(why) => downstream.admission.guard.accept_failed(&why).await,
        }
        accepted += 1;
        if accepted >= downstream.admission.driver.borrow().policy().burst() {
            // The paper's n: after so many, the policy has its cycle.
            accepted = 0;
            downstream.admission.turn.notify();
            tokio::task::yield_now().await;
        }
    }
}

fn welcome<H: Handler>(
    downstream: &Rc<Downstream>,
    handler: &Rc<H>,
    door: &Rc<Door>,
    socket: Socket,
    address: IpAddr,
) {
    let registration = Registration::new(downstream, address);
    let client = Rc::clone(&registration.client);
    let (downstream, handler, door) = (Rc::clone(downstream), Rc::clone(handler), Rc::clone(door));
    tokio::task::spawn_local(async move {
        serve(downstream, handler, door, socket, client).await;
        drop(registration);
    });
}

/// A connection's entry in the registry, removed when this is dropped.
pub(crate) struct Registration {
    downstream: Rc<Downstream>,
    pub(crate) client: Rc<Client>,
}

impl Registration {
    /// Enters a connection from this address.
    pub(crate) fn new(downstream: &Rc<Downstream>, address: IpAddr) -> Self {
        let client = downstream.clients.add(address, downstream.clock.read());
        Self { downstream: Rc::clone(downstream), client }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.downstream.clients.remove(&self.client);
        self.downstream.admission.guard.left();
    }
}
