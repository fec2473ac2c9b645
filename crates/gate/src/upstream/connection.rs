//! [`Lease`]: a connection to a server for one request, kept from before or opened for it.

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::upstream::failure::Failure;
use crate::upstream::http1::connection::{Exclusive, Idle};
use crate::upstream::http2::{Shared, Stream};
use crate::upstream::pool::Pool;
use crate::upstream::server::{Load, Server};
use crate::upstream::tls::Line;

/// A connection in use by one request, or the request's part of it.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) channel: Channel,
    pub(crate) load: Load,
}

#[derive(Debug)]
pub(crate) enum Channel {
    /// HTTP/1.1: the whole connection.
    Whole(Exclusive),
    /// HTTP/2.
    Part(Stream, Incoming),
}

impl Lease {
    /// The server that has the request.
    pub(crate) fn server(&self) -> &Rc<Server> {
        self.load.server()
    }

    /// The next piece of the response's body.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match &mut self.channel {
            Channel::Whole(connection) => connection.poll_frame(cx),
            Channel::Part(_, incoming) => {
                let frame = Pin::new(incoming).poll_frame(cx);
                frame.map(|frame| frame.map(|frame| frame.map_err(io::Error::other)))
            }
        }
    }

    /// Whether the response's body is over, as far as that is known without reading on.
    pub(crate) fn is_end_stream(&self) -> bool {
        match &self.channel {
            Channel::Whole(connection) => connection.is_end_stream(),
            Channel::Part(_, incoming) => incoming.is_end_stream(),
        }
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        match &self.channel {
            Channel::Whole(connection) => connection.size_hint(),
            Channel::Part(_, incoming) => incoming.size_hint(),
        }
    }
}

/// A new HTTP/1.1 connection.
pub(crate) async fn open(pool: &Pool, server: &Server) -> Result<Idle, Failure> {
    let line = timeout(pool.times().connect, connect(pool, server)).await;
    Ok(Idle::new(line.map_err(|_| Failure::ConnectTimeout)??, pool.opened()))
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
