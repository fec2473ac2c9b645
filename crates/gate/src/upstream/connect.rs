//! Connections to a server: opened, or shared with other requests.

use std::io;
use std::net::SocketAddr;

use tokio::time::timeout;

use crate::runtime::stream::Stream;
use crate::upstream::failure::Failure;
use crate::upstream::http1::idle::Idle;
use crate::upstream::http2::{self, Shared, Use};
use crate::upstream::pool::Pool;
use crate::upstream::server::Server;
use crate::upstream::tls::Transport;

/// A new HTTP/1.1 connection.
pub(crate) async fn open(pool: &Pool, server: &Server) -> Result<Idle, Failure> {
    let transport = timeout(pool.times().connect, connect(pool, server)).await;
    Ok(Idle::new(transport.map_err(|_| Failure::ConnectTimeout)??, pool.opened()))
}

/// A place on a connection that several requests share, or one that a request has to itself; a new one if
/// none of those there takes it.
pub(crate) async fn join(pool: &Pool, server: &Server, how: Use) -> Result<http2::Stream, Failure> {
    if let Some(stream) = best(pool, server, how) {
        return Ok(stream);
    }
    let joining = async {
        if how == Use::Alone {
            return open_http2(pool, server, how).await;
        }
        // One opens a connection and the others wait for it: most find a place on it.
        let _opening = server.opening.lock().await;
        match best(pool, server, how) {
            Some(stream) => Ok(stream),
            None => open_http2(pool, server, how).await,
        }
    };
    timeout(pool.times().connect, joining).await.map_err(|_| Failure::ConnectTimeout)?
}

fn best(pool: &Pool, server: &Server, how: Use) -> Option<http2::Stream> {
    let best = Shared::best(&server.shared.borrow(), how, pool.clock().last())?;
    pool.count_reuse();
    Some(best)
}

async fn open_http2(pool: &Pool, server: &Server, how: Use) -> Result<http2::Stream, Failure> {
    let transport = connect(pool, server).await?;
    let now = pool.clock().last();
    let shared = Shared::open(transport, pool.limits().head, now, pool.opened()).await?;
    let stream = http2::Stream::on(&shared, how, now);
    server.shared.borrow_mut().push(shared);
    Ok(stream)
}

/// Connects to a server, in the manner that it wants.
pub(crate) async fn connect(pool: &Pool, server: &Server) -> Result<Transport, Failure> {
    let socket = reach(pool, &server.endpoint.addresses).await.map_err(Failure::Connect)?;
    let authorities = pool.authorities();
    match (&server.endpoint.tls, authorities) {
        (Some(name), Some(authorities)) => {
            authorities.greet(name.clone(), server.endpoint.http, socket).await.map_err(Failure::Connect)
        }
        (Some(_), None) => {
            Err(Failure::Connect(io::Error::other("there is nobody whose certificates to believe")))
        }
        (None, _) => Ok(Transport::Plain(socket)),
    }
}

/// Connects to the first address that answers.
async fn reach(pool: &Pool, addresses: &[SocketAddr]) -> io::Result<Stream> {
    let mut last = None;
    for address in addresses {
        match pool.connector.connect(*address).await {
            Ok(stream) => return Ok(stream),
            Err(why) => last = Some(why),
        }
    }
    Err(last.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into()))
}
