//! HTTP/2 (RFC 9113): requests as streams of a connection that several share.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use futures_util::lock::Mutex;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};

use crate::client::attempt::{Attempt, Opened};
use crate::client::context::ThreadContext;
use crate::client::exchange::{Exchange, Fault};
use crate::client::facts::Facts;
use crate::engine::stream::Stream;

/// What a server may send without being asked for more, per stream and per connection: enough
/// not to be what limits a transfer.
const WINDOW_BYTES: u32 = 4 * 1024 * 1024;

/// The connections of a client.
#[derive(Debug, Default)]
pub(crate) struct Pool(RefCell<Vec<Rc<Shared>>>);

/// A connection that several requests share.
#[derive(Debug, Default)]
struct Shared {
    number: Cell<u64>,
    /// Requests that have it now, and that have had it.
    active: Cell<u32>,
    carried: Cell<u32>,
    ended: Cell<bool>,
    /// Locked while it is being opened.
    sender: Mutex<Option<SendRequest<Bytes>>>,
}

impl Pool {
    /// A connection with room for another stream.
    fn choose(&self, thread: &ThreadContext) -> Rc<Shared> {
        let mut connections = self.0.borrow_mut();
        connections.retain(|one| !one.ended.get() && !thread.is_last(one.carried.get()));
        let most = thread.plan.streams;
        let chosen = match connections.iter().find(|one| one.active.get() < most) {
            Some(one) => Rc::clone(one),
            None => {
                connections.push(Rc::default());
                connections.last().map(Rc::clone).unwrap_or_default()
            }
        };
        chosen.carried.set(chosen.carried.get() + 1);
        chosen
    }
}

/// Counts a request on its connection, as long as it lives.
struct Active(Rc<Shared>);

impl Active {
    fn on(shared: &Rc<Shared>) -> Self {
        shared.active.set(shared.active.get() + 1);
        Self(Rc::clone(shared))
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.set(self.0.active.get() - 1);
    }
}

/// Tells tasks that wait for a connection that it did not come about, unless it has.
struct Opening<'a>(Option<&'a Shared>);

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if let Some(shared) = self.0 {
            shared.ended.set(true);
        }
    }
}

/// Sends the request of `attempt` as a stream of one of the connections in `pool`, and follows its
/// response to the end.
pub(crate) async fn carry(attempt: &mut Attempt<'_>, pool: &Pool) -> Result<(), Fault> {
    let shared = pool.choose(attempt.thread);
    let _active = Active::on(&shared);
    let sender = open(attempt, &shared).await?;
    attempt.connection = shared.number.get();
    stream(attempt, sender).await.map_err(|failure| {
        if failure.of == Scope::Connection {
            shared.ended.set(true);
        }
        failure.fault
    })
}

/// The connection's sender; opens the connection if no other request has.
async fn open(attempt: &mut Attempt<'_>, shared: &Rc<Shared>) -> Result<SendRequest<Bytes>, Fault> {
    let thread = attempt.thread;
    let mut place = shared.sender.lock().await;
    if let Some(sender) = &*place {
        attempt.exchange.on_open_connection(thread.now());
        return Ok(sender.clone());
    }
    if shared.ended.get() {
        // The request that was opening it failed; so do those that waited for it.
        return Err(Fault::NoConnection);
    }
    let mut opening = Opening(Some(shared));
    let opened = attempt.connect().await?;
    shared.number.set(attempt.connection);
    let (sender, driver) = match opened {
        Opened::Plain(socket) => {
            let (sender, connection) = handshake(Stream::new(socket)).await?;
            (sender, Driver::Plain(connection))
        }
        Opened::Tls(stream) => {
            let (sender, connection) = handshake(stream).await?;
            (sender, Driver::Tls(connection))
        }
    };
    attempt.exchange.connected(thread.now());
    opening.0 = None;
    let ended = Rc::clone(shared);
    thread.spawner.spawn(async move {
        // Requests with a stream on it are told of an error as well.
        match driver {
            Driver::Plain(connection) => drop(connection.await),
            Driver::Tls(connection) => drop(connection.await),
        }
        ended.ended.set(true);
    });
    *place = Some(sender.clone());
    Ok(sender)
}

/// What moves the frames of a connection.
enum Driver {
    Plain(h2::client::Connection<Stream, Bytes>),
    Tls(h2::client::Connection<Box<tokio_rustls::client::TlsStream<Stream>>, Bytes>),
}

async fn handshake<T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin>(
    stream: T,
) -> Result<(SendRequest<Bytes>, h2::client::Connection<T, Bytes>), Fault> {
    h2::client::Builder::new()
        .initial_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .enable_push(false)
        .handshake(stream)
        .await
        .map_err(|error| Failure::from(error).fault)
}

/// Why a stream failed, and what else is at its end.
#[derive(Debug, Clone, Copy)]
struct Failure {
    fault: Fault,
    of: Scope,
}

/// What a failure ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Stream,
    Connection,
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self { fault, of: Scope::Stream }
    }
}

impl From<h2::Error> for Failure {
    fn from(error: h2::Error) -> Self {
        let fault = match error.reason() {
            Some(Reason::NO_ERROR) if error.is_go_away() && error.is_remote() => Fault::TurnedAway,
            // The server gave up on the connection or the stream, without finding fault.
            Some(Reason::NO_ERROR | Reason::REFUSED_STREAM | Reason::CANCEL | Reason::INTERNAL_ERROR) => {
                Fault::Broken
            }
            Some(_) => Fault::Malformed,
            None => match error.get_io().map(io::Error::kind) {
                // What h2 calls the end of a connection with streams under way.
                Some(ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof) => Fault::Closed,
                _ => Fault::Broken,
            },
        };
        Self { fault, of: if error.is_reset() { Scope::Stream } else { Scope::Connection } }
    }
}

async fn stream(attempt: &mut Attempt<'_>, sender: SendRequest<Bytes>) -> Result<(), Failure> {
    let thread = attempt.thread;
    let mut sender = sender.ready().await?;
    let body = thread.plan.body.clone().filter(|body| !body.is_empty());
    let request = attempt.http2_head().ok_or(Fault::Malformed)?;
    let (answer, mut upload) = sender.send_request(request, body.is_none())?;
    if let Some(body) = body {
        upload.send_data(body, true)?;
    }
    let exchange = &mut attempt.exchange;
    let (head, mut body) = final_response(answer, thread, exchange).await?.into_parts();
    let mut facts = Facts { status: head.status.as_u16(), ..Facts::default() };
    for (name, value) in &head.headers {
        facts.take(name.as_str(), value.as_bytes());
    }
    exchange.head(facts, thread.now())?;
    receive(exchange, &mut body).await?;
    Ok(exchange.end(thread.now())?)
}

/// Waits for the final response, and tells `exchange` of interim ones before it.
async fn final_response(
    mut answer: ResponseFuture,
    thread: &ThreadContext,
    exchange: &mut Exchange<'_>,
) -> Result<http::Response<RecvStream>, Failure> {
    poll_fn(|task| {
        while let Poll::Ready(Some(Ok(interim))) = answer.poll_informational(task) {
            exchange.interim(interim.status().as_u16(), thread.now())?;
        }
        Pin::new(&mut answer).poll(task).map_err(Failure::from)
    })
    .await
}

async fn receive(exchange: &mut Exchange<'_>, body: &mut RecvStream) -> Result<(), Failure> {
    while let Some(piece) = poll_fn(|task| body.poll_data(task)).await {
        let piece = piece?;
        exchange.body(&piece);
        body.flow_control().release_capacity(piece.len())?;
    }
    poll_fn(|task| body.poll_trailers(task)).await?;
    Ok(())
}
