//! [`Bound`]: a gate that has its ports and waits to be run.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::rc::Rc;
use std::time::Duration;

use tokio::runtime::{Builder, LocalOptions};

use crate::error::Error;
use crate::gate::Gate;
use crate::settings::Settings;
use crate::{acceptor, admin, guard, turn};

/// A gate that listens, so clients can connect, and serves them when it is run.
#[derive(Debug)]
pub struct Bound {
    settings: Settings,
    upstream: Vec<SocketAddr>,
    listener: TcpListener,
    admin: TcpListener,
    address: SocketAddr,
    admin_address: SocketAddr,
}

/// Connections that wait for the admin interface.
const ADMIN_BACKLOG: u32 = 64;

impl Bound {
    /// Finds the upstream and takes the ports.
    ///
    /// # Errors
    /// When the upstream's name leads nowhere or a port cannot be had.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let upstream = find(&settings.upstream.address)?;
        let listener = acceptor::listen(settings.listen, settings.backlog)?;
        let admin = acceptor::listen(settings.admin, ADMIN_BACKLOG)?;
        let address = |listener: &TcpListener, asked| {
            listener.local_addr().map_err(|why| Error::Listen { address: asked, why })
        };
        let addresses = (address(&listener, settings.listen)?, address(&admin, settings.admin)?);
        Ok(Self { upstream, listener, admin, address: addresses.0, admin_address: addresses.1, settings })
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where operators and Prometheus connect.
    pub fn admin_address(&self) -> SocketAddr {
        self.admin_address
    }

    /// Serves clients until `stop` is over; then those in hand may finish, for as long as the
    /// drain timeout allows.
    ///
    /// # Errors
    /// When the event loop cannot be set up.
    pub fn run(self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build_local(LocalOptions::default())
            .map_err(Error::System)?;
        if self.settings.session.forgetful {
            eprintln!("gate: no session secret is set, so sessions end when the gate does");
        }
        let gate = Rc::new(Gate::new(self.settings, self.upstream)?);
        runtime.block_on(serve(gate, self.listener, self.admin, stop))
    }
}

async fn serve(
    gate: Rc<Gate>,
    listener: TcpListener,
    admin: TcpListener,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let listener = tokio::net::TcpListener::from_std(listener).map_err(Error::System)?;
    let admin = tokio::net::TcpListener::from_std(admin).map_err(Error::System)?;
    tokio::task::spawn_local(turn::turns(Rc::clone(&gate)));
    tokio::task::spawn_local(guard::keep_house(Rc::clone(&gate)));
    tokio::task::spawn_local(admin::serve(Rc::clone(&gate), admin));
    let orphans = tokio::task::spawn_local({
        let gate = Rc::clone(&gate);
        async move { gate.orphans.look_after().await }
    });
    let acceptor = tokio::task::spawn_local(acceptor::accept(Rc::clone(&gate), listener));
    stop.await;
    acceptor.abort();
    // The listener is closed with the task, so new clients are refused by the kernel at once.
    let _ = acceptor.await;
    drain(&gate).await;
    orphans.abort();
    Ok(())
}

async fn drain(gate: &Gate) {
    const INTERVAL: Duration = Duration::from_millis(20);
    let empty = async {
        while gate.clients.open() > 0 {
            gate.clients.finish(gate.clock.read());
            tokio::time::sleep(INTERVAL).await;
        }
    };
    // Those that take longer lose their connections with the event loop.
    let _ = tokio::time::timeout(gate.client_settings.drain_timeout, empty).await;
}

fn find(address: &str) -> Result<Vec<SocketAddr>, Error> {
    let nowhere = |why| Error::Upstream { address: address.to_owned(), why };
    let found: Vec<SocketAddr> = address.to_socket_addrs().map_err(nowhere)?.collect();
    if found.is_empty() {
        return Err(nowhere(std::io::ErrorKind::NotFound.into()));
    }
    Ok(found)
}
