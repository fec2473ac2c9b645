//! [`Lease`]: a connection to a server for one request, kept from before or opened for it.

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::http2::{Shared, Stream};
use super::server::{Load, Server};
use super::tls::Line;
use super::{Body, Failure, Pool, Progress};

/// A connection in use by one request, or the request's part of it.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) channel: Channel,
    pub(crate) load: Load,
}

#[derive(Debug)]
pub(crate) enum Channel {
    /// HTTP/1.1: the whole connection, and how the request's body gets on. A server may answer before
    /// the body has come, and then the connection is taken until it has.
    Whole(http1::SendRequest<Body>, Progress),
    /// HTTP/2.
    Part(Stream),
}

impl Lease {
    /// The server that has the request.
    pub(crate) fn server(&self) -> &Rc<Server> {
        self.load.server()
    }
}

/// A new HTTP/1.1 connection. With `upgrades` it may become a tunnel.
pub(crate) async fn open(
    pool: &Pool,
    server: &Server,
    upgrades: bool,
) -> Result<http1::SendRequest<Body>, Failure> {
    let line = timeout(pool.times().connect, connect(pool, server)).await;
    let line = line.map_err(|_| Failure::ConnectTimeout)??;
    let (sender, connection) =
        http1::Builder::new().handshake(TokioIo::new(line)).await.map_err(Failure::Broken)?;
    let open = pool.opened();
    tokio::task::spawn_local(async move {
        // What is wrong with it, the request that uses it is told.
        let _ = if upgrades { connection.with_upgrades().await } else { connection.await };
        drop(open);
    });
    Ok(sender)
}

/// A place on a connection that several requests share; a new one if those there are full.
pub(crate) async fn join(pool: &Pool, server: &Server) -> Result<Stream, Failure> {
    if let Some(stream) = best(server) {
        pool.count_reuse();
        return Ok(stream);
    }
    let joining = async {
        // One opens a connection and the others wait for it: most find a place on it.
        let _opening = server.opening.lock().await;
        if let Some(stream) = best(server) {
            pool.count_reuse();
            return Ok(stream);
        }
        let line = connect(pool, server).await?;
        let now = pool.clock().last();
        let shared = Shared::open(line, now, pool.opened()).await?;
        let stream = Stream::on(&shared);
        server.shared.borrow_mut().push(shared);
        Ok(stream)
    };
    timeout(pool.times().connect, joining).await.map_err(|_| Failure::ConnectTimeout)?
}

fn best(server: &Server) -> Option<Stream> {
    Shared::best(&server.shared.borrow())
}

/// Connects to a server, in the manner that it wants.
pub(crate) async fn connect(pool: &Pool, server: &Server) -> Result<Line, Failure> {
    let socket = reach(&server.place.addresses).await.map_err(Failure::Connect)?;
    let authorities = pool.settings().authorities.clone();
    match (&server.place.tls, authorities) {
        (Some(name), Some(authorities)) => {
            authorities.greet(name.clone(), server.place.http, socket).await.map_err(Failure::Connect)
        }
        (Some(_), None) => {
            Err(Failure::Connect(io::Error::other("there is nobody whose certificates to believe")))
        }
        (None, _) => Ok(Line::Plain(socket)),
    }
}

/// Connects to the first address that answers.
async fn reach(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut last = None;
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
            Err(why) => last = Some(why),
        }
    }
    Err(last.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into()))
}

/// Counts a connection for as long as its task runs.
#[derive(Debug)]
pub(crate) struct Open(Rc<Cell<usize>>);

impl Open {
    pub(crate) fn new(count: &Rc<Cell<usize>>) -> Self {
        count.set(count.get() + 1);
        Self(Rc::clone(count))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
