//! [`Network`]: listeners and connections.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::time::sleep;

use super::chance::Chance;
use super::fault::{Faults, Made};
use super::pipe::{Fault, Pipe, wake};
use super::slot::Slot;
use super::stream::SimulatedStream;

/// A SYN that found no room is sent again after this time, and after twice as long each time (RFC 6298).
const SYN_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_SYNS: u32 = 7;

/// Listeners and connections, with the numbers that are drawn for them.
#[derive(Debug)]
pub struct Network {
    chance: Arc<Chance>,
    listeners: Slot<BTreeMap<SocketAddr, Arc<Backlog>>>,
    next_port: Slot<u16>,
}

/// Connections that wait to be accepted.
#[derive(Debug)]
struct Backlog {
    waiting: Slot<VecDeque<(SimulatedStream, SocketAddr)>>,
    room: usize,
    acceptor: Slot<Option<Waker>>,
}

/// Accepts connections to an address; closed when it is dropped.
#[derive(Debug)]
pub struct SimulatedListener {
    address: SocketAddr,
    network: Arc<Network>,
    backlog: Arc<Backlog>,
}

impl Network {
    /// Where the gate's connections to servers come from.
    pub(crate) const GATE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 0);

    /// A network that draws from `seed`.
    pub fn new(seed: u64, faults: Faults) -> Arc<Self> {
        Arc::new(Self {
            chance: Arc::new(Chance::new(seed, faults)),
            listeners: Slot::default(),
            next_port: Slot::new(32_768),
        })
    }

    /// What has been made to happen so far.
    pub fn made(&self) -> Made {
        self.chance.made()
    }

    /// Listens at `address`, which is free, with room for `backlog` connections.
    pub fn listen(self: &Arc<Self>, address: SocketAddr, backlog: usize) -> SimulatedListener {
        let backlog =
            Arc::new(Backlog { waiting: Slot::default(), room: backlog.max(1), acceptor: Slot::default() });
        self.listeners.lock().insert(address, Arc::clone(&backlog));
        SimulatedListener { address, network: Arc::clone(self), backlog }
    }

    /// Opens a connection from `from`, whose port is chosen, to `to`.
    ///
    /// # Errors
    /// `ConnectionRefused` where no one listens; `TimedOut` after the kernel's number of SYNs.
    pub async fn connect(
        self: &Arc<Self>,
        mut from: SocketAddr,
        to: SocketAddr,
    ) -> io::Result<SimulatedStream> {
        from.set_port(self.next_port.replace(self.next_port.get().checked_add(1).unwrap_or(32_768)));
        let mut pause = SYN_TIMEOUT;
        for _ in 0..MAX_SYNS {
            let delay = self.chance.draw_delay();
            sleep(delay).await;
            let backlog = self.listeners.lock().get(&to).cloned();
            let Some(backlog) = backlog else {
                sleep(delay).await;
                return Err(io::ErrorKind::ConnectionRefused.into());
            };
            let full = backlog.waiting.lock().len() >= backlog.room;
            if !full && !self.chance.happens(self.chance.faults.lost) {
                let (client, server) = self.pair();
                backlog.waiting.lock().push_back((server, from));
                wake(&backlog.acceptor);
                sleep(delay).await;
                return Ok(client);
            }
            self.chance.count(|made| made.lost += 1);
            sleep(pause).await;
            pause *= 2;
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    fn pair(self: &Arc<Self>) -> (SimulatedStream, SimulatedStream) {
        let small = self.chance.happens(self.chance.faults.pieces);
        let (there, back) = (Arc::new(Pipe::new(small)), Arc::new(Pipe::new(small)));
        self.chance.count(|made| {
            made.connections += 1;
            made.pieces += u64::from(small);
        });
        let fault = match () {
            () if self.chance.happens(self.chance.faults.resets) => Some(Fault::Reset),
            () if self.chance.happens(self.chance.faults.silences) => Some(Fault::Silence),
            () => None,
        };
        if let Some(fault) = fault {
            let pipe = if self.chance.happens(0.5) { &there } else { &back };
            pipe.fault.set(Some((self.chance.below(20_000), fault)));
        }
        let end = |reads: &Arc<Pipe>, writes: &Arc<Pipe>| SimulatedStream {
            reads: Arc::clone(reads),
            writes: Arc::clone(writes),
            alarm: Slot::new(None),
            chance: Arc::clone(&self.chance),
        };
        (end(&back, &there), end(&there, &back))
    }
}

impl SimulatedListener {
    /// The next connection, and where it comes from.
    ///
    /// # Errors
    /// None: what accept(2) says of a process without descriptors has no like here.
    pub async fn accept(&self) -> io::Result<(SimulatedStream, SocketAddr)> {
        std::future::poll_fn(|cx| match self.backlog.waiting.lock().pop_front() {
            Some(accepted) => Poll::Ready(Ok(accepted)),
            None => {
                self.backlog.acceptor.replace(Some(cx.waker().clone()));
                Poll::Pending
            }
        })
        .await
    }
}

impl Drop for SimulatedListener {
    fn drop(&mut self) {
        self.network.listeners.lock().remove(&self.address);
        self.backlog.waiting.lock().clear();
    }
}
