//! HTTP/2 (RFC 9113): requests as streams of a connection that several share.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::lock::Mutex;
use h2::client::SendRequest;
use h2::{Reason, RecvStream};
use http::{HeaderMap, Request, header};
use record::RequestError;

use crate::client::context::Engine;
use crate::client::fetch::Attempt;
use crate::client::response::Response;
use crate::engine::stream::Stream;
use crate::measure::stopwatch::{Phase, Stopwatch};

/// What a server may send without being asked for more, per stream and per connection: enough
/// not to be what limits a transfer.
const WINDOW: u32 = 4 * 1024 * 1024;

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
    fn choose(&self, engine: &Engine) -> Rc<Shared> {
        let mut connections = self.0.borrow_mut();
        connections.retain(|one| !one.ended.get() && !engine.is_last(one.carried.get()));
        let most = engine.plan.streams;
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

/// Tells who waits for a connection that it did not come about, unless it has.
struct Opening<'a>(Option<&'a Shared>);

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if let Some(shared) = self.0 {
            shared.ended.set(true);
        }
    }
}

/// Sends the attempt's request as a stream, and follows its response to the end.
pub(crate) async fn exchange(attempt: &mut Attempt<'_>, pool: &Pool) -> Result<(), RequestError> {
    let engine = attempt.engine;
    loop {
        let shared = pool.choose(engine);
        let _active = Active::on(&shared);
        let sender = open(attempt, &shared).await?;
        attempt.connection = shared.number.get();
        match stream(attempt, sender).await {
            Ok(()) => return Ok(()),
            Err(Failure::Stream(error)) => return Err(error),
            Err(Failure::Connection(error)) => {
                shared.ended.set(true);
                return Err(error);
            }
            Err(Failure::TurnedAway) => {
                shared.ended.set(true);
                // A connection that never carried anything is not worth another.
                if !attempt.reused {
                    return Err(RequestError::Reset);
                }
                attempt.reused = false;
                attempt.phases = Stopwatch::connecting(engine.now());
            }
        }
    }
}

/// The connection's sender; opens it if nobody has.
async fn open(attempt: &mut Attempt<'_>, shared: &Rc<Shared>) -> Result<SendRequest<Bytes>, RequestError> {
    let engine = attempt.engine;
    let mut place = shared.sender.lock().await;
    if let Some(sender) = &*place {
        attempt.reused = true;
        attempt.phases = Stopwatch::on_open_connection(engine.now());
        return Ok(sender.clone());
    }
    if shared.ended.get() {
        // The one who was opening it failed; so does who waited for it.
        return Err(RequestError::Connect);
    }
    let mut opening = Opening(Some(shared));
    let stream = attempt.connect_stream().await?;
    shared.number.set(attempt.connection);
    let (sender, connection) = match stream {
        Connected::Plain(stream) => {
            let (sender, connection) = handshake(stream).await?;
            (sender, Driver::Plain(connection))
        }
        Connected::Tls(stream) => {
            let (sender, connection) = handshake(stream).await?;
            (sender, Driver::Tls(connection))
        }
    };
    attempt.phases.enter(Phase::Processing, engine.now());
    opening.0 = None;
    let ended = Rc::clone(shared);
    engine.spawner.spawn(async move {
        // Whoever has a stream on it is told as well.
        match connection {
            Driver::Plain(connection) => drop(connection.await),
            Driver::Tls(connection) => drop(connection.await),
        }
        ended.ended.set(true);
    });
    *place = Some(sender.clone());
    Ok(sender)
}

/// An open connection, on which nothing was said yet.
pub(crate) enum Connected {
    Plain(Stream),
    Tls(Box<tokio_rustls::client::TlsStream<Stream>>),
}

enum Driver {
    Plain(h2::client::Connection<Stream, Bytes>),
    Tls(h2::client::Connection<Box<tokio_rustls::client::TlsStream<Stream>>, Bytes>),
}

async fn handshake<T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin>(
    stream: T,
) -> Result<(SendRequest<Bytes>, h2::client::Connection<T, Bytes>), RequestError> {
    h2::client::Builder::new()
        .initial_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .enable_push(false)
        .handshake(stream)
        .await
        .map_err(|error| of(&error))
}

/// How far a failure reaches.
enum Failure {
    Stream(RequestError),
    Connection(RequestError),
    /// The server ends the connection in good order, and has not begun with the request, so that
    /// it can be asked again (RFC 9113, section 6.8).
    TurnedAway,
}

impl From<h2::Error> for Failure {
    fn from(error: h2::Error) -> Self {
        if error.is_reset() {
            Self::Stream(of(&error))
        } else if error.is_go_away() && error.is_remote() && error.reason() == Some(Reason::NO_ERROR) {
            Self::TurnedAway
        } else {
            Self::Connection(of(&error))
        }
    }
}

async fn stream(attempt: &mut Attempt<'_>, sender: SendRequest<Bytes>) -> Result<(), Failure> {
    let engine = attempt.engine;
    let mut sender = sender.ready().await?;
    let body = engine.plan.body.clone().filter(|body| !body.is_empty());
    let request = request(attempt).ok_or(Failure::Stream(RequestError::Protocol))?;
    let (answer, mut upload) = sender.send_request(request, body.is_none())?;
    if let Some(body) = body {
        upload.send_data(body, true)?;
    }
    let (head, mut body) = answer.await?.into_parts();
    attempt.phases.first_byte(engine.now());
    attempt.response.take_head(head.status.as_u16(), &head.headers);
    receive(&mut attempt.response, &mut body).await?;
    attempt.phases.last_byte(engine.now());
    attempt.response.finish().map_err(Failure::Stream)
}

async fn receive(response: &mut Response<'_>, body: &mut RecvStream) -> Result<(), Failure> {
    while let Some(piece) = poll_fn(|context| body.poll_data(context)).await {
        let piece = piece?;
        response.take_body(&piece);
        body.flow_control().release_capacity(piece.len())?;
    }
    poll_fn(|context| body.poll_trailers(context)).await?;
    Ok(())
}

fn request(attempt: &Attempt<'_>) -> Option<Request<()>> {
    let plan = &attempt.engine.plan;
    let mut request = Request::new(());
    *request.version_mut() = http::Version::HTTP_2;
    *request.method_mut() = attempt.wanted.method.clone();
    *request.uri_mut() = attempt.wanted.uri.clone()?;
    let headers: &mut HeaderMap = request.headers_mut();
    headers.clone_from(&plan.headers);
    if let Some(class) = plan.classes.get(attempt.client.class) {
        headers.extend(class.header_map.clone());
    }
    let cookies = attempt.client.jar.borrow().value();
    if !cookies.is_empty() {
        headers.insert(header::COOKIE, cookies.try_into().ok()?);
    }
    Some(request)
}

/// Where an HTTP/2 error is counted.
fn of(error: &h2::Error) -> RequestError {
    match error.reason() {
        // The server gave up on the connection or the stream, without finding fault.
        Some(Reason::NO_ERROR | Reason::REFUSED_STREAM | Reason::CANCEL | Reason::INTERNAL_ERROR) => {
            RequestError::Reset
        }
        Some(_) => RequestError::Protocol,
        None => RequestError::Reset,
    }
}
