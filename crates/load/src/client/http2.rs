//! HTTP/2 (RFC 9113): requests as streams of a connection that several share.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::io::ErrorKind;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::lock::Mutex;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, RecvStream, SendStream};

use crate::client::attempt::{Attempt, Opened};
use crate::client::context::ThreadContext;
use crate::client::exchange::Exchange;
use crate::client::facts::Facts;
use crate::client::fault::{self, Fault};
use crate::client::http1::response::MAX_HEAD;
use crate::engine::stream::Stream;

/// What a server may send without being asked for more, per stream and per connection: enough
/// not to be what limits a transfer.
const WINDOW_BYTES: u32 = 4 * 1024 * 1024;

/// The connections of a client.
#[derive(Debug, Default)]
pub(crate) struct Pool(RefCell<Vec<Rc<Shared>>>);

/// A connection that several requests share.
#[derive(Debug)]
struct Shared {
    number: Cell<u64>,
    /// Requests that have it now, and that have had it.
    active: Cell<u32>,
    carried: Cell<u32>,
    ended: Cell<bool>,
    /// Streams that the server allows at once, as far as is known.
    most: Cell<u32>,
    /// Locked while it is being opened.
    sender: Mutex<Option<SendRequest<Bytes>>>,
}

impl Pool {
    /// A connection with room for another stream.
    fn choose(&self, thread: &ThreadContext) -> Rc<Shared> {
        let mut connections = self.0.borrow_mut();
        connections.retain(|one| !one.ended.get() && !thread.is_last(one.carried.get()));
        let plan = &thread.plan;
        // A client of a closed loop has one connection, on which its requests wait.
        let most = |one: &Shared| if plan.is_open { plan.streams.min(one.most.get()) } else { plan.streams };
        let chosen = match connections.iter().find(|one| one.active.get() < most(one)) {
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

impl Default for Shared {
    fn default() -> Self {
        Self {
            number: Cell::default(),
            active: Cell::default(),
            carried: Cell::default(),
            ended: Cell::default(),
            most: Cell::new(u32::MAX),
            sender: Mutex::default(),
        }
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
    stream(attempt, &shared, sender).await.map_err(|failure| {
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
        return Err(Fault::NoConnection("the connection that it was to share did not come about".into()));
    }
    let mut opening = Opening(Some(shared));
    let opened = attempt.connect().await?;
    shared.number.set(attempt.connection);
    let (sender, driver) = match opened {
        Opened::Plain(socket) => {
            let mut stream = Stream::new(socket);
            stream.take_turns();
            let (sender, connection) = handshake(stream).await?;
            (sender, Driver::Plain(connection))
        }
        Opened::Tls(mut stream) => {
            stream.get_mut().0.take_turns();
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
        .max_header_list_size(MAX_HEAD as u32)
        .enable_push(false)
        .handshake(stream)
        .await
        .map_err(|error| Failure::from(error).fault)
}

/// Why a stream failed, and what else is at its end.
#[derive(Debug, Clone)]
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
        let of = if error.is_reset() { Scope::Stream } else { Scope::Connection };
        let is_theirs = error.is_remote();
        let Some(reason) = error.reason() else {
            let closed = "connection closed before the response was complete";
            let fault = match error.get_io() {
                // What h2 calls the end of a connection with streams under way.
                Some(io) if matches!(io.kind(), ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof) => {
                    Fault::Closed(closed.into())
                }
                Some(io) => Fault::Broken(fault::of_io(io)),
                None => Fault::Broken(error.to_string().into()),
            };
            return Self { fault, of };
        };
        let frame = if error.is_go_away() { "GOAWAY" } else { "RST_STREAM" };
        let why = format!("{frame} {} ({reason})", name(reason)).into();
        let fault = match reason {
            // A stream is told of the connection's end in this way only if it was above the last that the server has
            // taken (RFC 9113, section 6.8). Where the server finds fault, that is not tried again.
            Reason::NO_ERROR if is_theirs && error.is_go_away() => Fault::TurnedAway(why),
            Reason::REFUSED_STREAM if is_theirs => Fault::TurnedAway(why),
            // The server gave up on the stream, without finding fault.
            Reason::NO_ERROR
            | Reason::REFUSED_STREAM
            | Reason::CANCEL
            | Reason::INTERNAL_ERROR
            | Reason::ENHANCE_YOUR_CALM => Fault::Broken(why),
            _ if is_theirs => Fault::Malformed(format!("the server sent {why}").into()),
            _ => Fault::Malformed(format!("{} ({reason})", name(reason)).into()),
        };
        Self { fault, of }
    }
}

/// What RFC 9113, section 7, calls it.
fn name(reason: Reason) -> String {
    let name = format!("{reason:?}");
    if name.starts_with("Reason(") { format!("{:#x}", u32::from(reason)) } else { name }
}

async fn stream(
    attempt: &mut Attempt<'_>,
    shared: &Shared,
    sender: SendRequest<Bytes>,
) -> Result<(), Failure> {
    let thread = attempt.thread;
    let mut sender = sender.ready().await?;
    let body = attempt.body().cloned();
    let request = attempt
        .http2_head()
        .ok_or_else(|| Fault::malformed("the request cannot be said in HTTP/2: its Host is not a host"))?;
    let (answer, sending) = sender.send_request(request, body.is_none())?;
    let exchange = &mut attempt.exchange;
    opened(&mut sender, thread, exchange).await;
    shared.most.set(u32::try_from(sender.current_max_send_streams()).unwrap_or(u32::MAX));
    let mut upload = body.map(|body| Upload { stream: sending, body });
    let (head, mut body) = final_response(answer, &mut upload, thread, exchange).await?.into_parts();
    let mut facts = Facts { status: head.status.as_u16(), ..Facts::default() };
    for (name, value) in &head.headers {
        facts.take(name.as_str(), value.as_bytes(), &thread.heads.taken);
    }
    exchange.head(facts, thread.now())?;
    receive(exchange, &mut body, &mut upload, thread).await?;
    Ok(exchange.end(thread.now())?)
}

/// Waits until the stream is one of those that the server allows at once: the request is written only then.
async fn opened(sender: &mut SendRequest<Bytes>, thread: &ThreadContext, exchange: &mut Exchange<'_>) {
    let mut waited = false;
    // Why the connection is at its end, the stream is told as well, and whether that concerns it.
    let _ = poll_fn(|context| {
        let polled = sender.poll_ready(context);
        waited |= polled.is_pending();
        polled
    })
    .await;
    if waited && exchange.is_reused() {
        exchange.on_open_connection(thread.now());
    }
}

/// A body on its way, as far as the server takes it (RFC 9113, section 5.2).
struct Upload {
    stream: SendStream<Bytes>,
    body: Bytes,
}

impl Upload {
    /// Goes on with it, until h2 has the last piece.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), h2::Error>> {
        while !self.body.is_empty() {
            self.stream.reserve_capacity(self.body.len());
            match ready!(self.stream.poll_capacity(context)) {
                Some(capacity) => {
                    let piece = self.body.split_to(capacity?.min(self.body.len()));
                    self.stream.send_data(piece, self.body.is_empty())?;
                }
                // The stream is at its end; what its response is, says the response.
                None => return Poll::Ready(Ok(())),
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Goes on with an upload, if there is one, and tells `exchange` when it is done.
fn go_on(
    upload: &mut Option<Upload>,
    context: &mut Context<'_>,
    thread: &ThreadContext,
    exchange: &mut Exchange<'_>,
) {
    // Why it cannot go on, the response tells as well.
    if upload.as_mut().is_some_and(|upload| upload.poll(context).is_ready()) {
        *upload = None;
        exchange.sent(thread.now());
    }
}

/// Waits for the final response, and tells `exchange` of interim ones before it.
async fn final_response(
    mut answer: ResponseFuture,
    upload: &mut Option<Upload>,
    thread: &ThreadContext,
    exchange: &mut Exchange<'_>,
) -> Result<http::Response<RecvStream>, Failure> {
    poll_fn(|context| {
        go_on(upload, context, thread, exchange);
        while let Poll::Ready(Some(Ok(interim))) = answer.poll_informational(context) {
            exchange.interim(interim.status().as_u16(), thread.now())?;
        }
        Pin::new(&mut answer).poll(context).map_err(Failure::from)
    })
    .await
}

async fn receive(
    exchange: &mut Exchange<'_>,
    body: &mut RecvStream,
    upload: &mut Option<Upload>,
    thread: &ThreadContext,
) -> Result<(), Failure> {
    loop {
        let piece = poll_fn(|context| {
            go_on(upload, context, thread, exchange);
            body.poll_data(context)
        });
        let Some(piece) = piece.await else { break };
        let piece = piece?;
        exchange.body(&piece);
        body.flow_control().release_capacity(piece.len())?;
    }
    poll_fn(|context| body.poll_trailers(context)).await?;
    Ok(())
}
