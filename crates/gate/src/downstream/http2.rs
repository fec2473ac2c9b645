//! One client connection of HTTP/2 until it is closed.
//!
//! Every stream is a [`Client`] of its own to the rest of the gate: it has its request, waits for
//! its place and is given up alone when it stalls. The connection is closed when it is idle, when
//! it takes nothing at all, or when it asks for much and takes it back.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use h2::server::{Handshake, SendResponse};
use h2::{Reason, RecvStream};
use http::header::{CONTENT_LENGTH, DATE, EXPECT};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::Body as _;
use http1::headers::hop_by_hop;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use policy::connections::Order;
use tokio::time::Instant;

use crate::clients::client::Client;
use crate::clients::incoming::Incoming;
use crate::downstream::context::{Conduct, Downstream};
use crate::downstream::date;
use crate::downstream::farewell::farewell;
use crate::downstream::handler::Handler;
use crate::downstream::io::ClientIo;
use crate::downstream::pulse::{Heard, Pulse};
use crate::downstream::streamed::Streamed;
use crate::downstream::tls::Transport;
use crate::downstream::unsent::{Outbox, Piece};
use crate::http2::pour::pour;
use crate::http2::received::Received;

/// Streams that the client reset before they were looked at, and streams that it made an error of;
/// beyond that it is told to calm down (RFC 9113 section 10.5).
const RESET_EARLY: usize = 20;
const RESET_FOR_ERRORS: usize = 100;

/// Of a response, how much is kept for a stream whose window is full.
const UNSENT: usize = 64 * 1024;

/// Serves a connection until either side closes it.
pub(crate) async fn serve<H: Handler>(
    downstream: Rc<Downstream>,
    handler: Rc<H>,
    transport: Transport,
    client: Rc<Client>,
) {
    client.multiplex();
    let Conduct { limits, http2: settings, stall_timeout, .. } = downstream.conduct.get();
    let (clock, strictness) = (Rc::clone(&downstream.clock), Rc::clone(&downstream.strictness));
    let io = ClientIo::new(transport, Rc::clone(&client), clock, strictness, limits);
    let io = Rc::new(RefCell::new(io));
    let window = settings.connection_window.min(downstream.clients.window());
    let mut http = h2::server::Builder::new();
    http.max_concurrent_streams(settings.streams)
        .max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX))
        .initial_window_size(settings.stream_window.min(window))
        .initial_connection_window_size(window)
        .max_pending_accept_reset_streams(RESET_EARLY)
        .max_local_error_reset_streams(Some(RESET_FOR_ERRORS))
        .max_send_buffer_size(UNSENT);
    let heard: Heard = Rc::new(Cell::new(Instant::now()));
    let greeting = http.handshake(TokioIo::new(Lent { io: Rc::clone(&io), heard: Rc::clone(&heard) }));
    let pulse = settings.ping_interval.map(|interval| (heard, interval, stall_timeout));
    let outbox = Outbox::new(&downstream.unsent);
    let shared = Rc::new(Shared { downstream, handler, client, outbox });
    spoken(&shared, greeting, pulse).await;
    // The client is to hear why, which a reset of the connection would overtake.
    if let Ok(io) = Rc::try_unwrap(io) {
        farewell(io.into_inner(), &shared.client, &[]).await;
    }
}

/// Until nothing more is to be said on a connection.
async fn spoken<H: Handler>(
    shared: &Rc<Shared<H>>,
    greeting: Handshake<TokioIo<Lent>, Piece>,
    pulse: Option<(Heard, Duration, Duration)>,
) {
    let client = &shared.client;
    let mut greeting = pin!(greeting);
    let connection = poll_fn(|cx| match client.poll_order(cx) {
        Order::Serve | Order::Finish => greeting.as_mut().poll(cx).map(Result::ok),
        Order::Timeout | Order::Close => Poll::Ready(None),
    });
    let Some(mut connection) = connection.await else { return };
    let mut pulse = pulse.and_then(|(heard, interval, patience)| {
        connection.ping_pong().map(|pings| Pulse::new(pings, heard, interval, patience))
    });
    let mut leaving = false;
    poll_fn(|cx| {
        let order = client.poll_order(cx);
        if order != Order::Serve && !leaving {
            leaving = true;
            connection.graceful_shutdown();
        }
        let lost = pulse.as_mut().is_some_and(|pulse| pulse.poll_lost(cx).is_ready());
        let over = loop {
            match connection.poll_accept(cx) {
                Poll::Ready(Some(Ok((request, respond)))) => shared.begin(request, respond),
                Poll::Ready(Some(Err(_)) | None) => break true,
                Poll::Pending => break false,
            }
        };
        // What can be said at once, has been: a client that is told to go knows what was not done.
        let close = matches!(order, Order::Timeout | Order::Close);
        if over || lost || close { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// The socket, lent to the connection, which gives none back.
struct Lent {
    io: Rc<RefCell<ClientIo>>,
    heard: Heard,
}

impl Read for Lent {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, to: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut *self.io.borrow_mut()).poll_read(cx, to);
        if read.is_ready() {
            self.heard.set(Instant::now());
        }
        read
    }
}

impl Write for Lent {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.io.borrow_mut()).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.io.borrow_mut()).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.borrow().is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.io.borrow_mut()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.io.borrow_mut()).poll_shutdown(cx)
    }
}

/// What the streams of a connection have in common.
struct Shared<H: Handler> {
    downstream: Rc<Downstream>,
    handler: Rc<H>,
    client: Rc<Client>,
    outbox: Rc<Outbox>,
}

impl<H: Handler> Shared<H> {
    /// Takes a request in, if there is room for another stream.
    fn begin(self: &Rc<Self>, request: Request<RecvStream>, mut respond: SendResponse<Piece>) {
        let now = self.downstream.clock.last();
        let Some(client) = self.downstream.clients.add_stream(&self.client, now) else {
            // Nothing was done, so the client may ask again (RFC 9113 section 8.7).
            respond.send_reset(Reason::REFUSED_STREAM);
            return;
        };
        let stream = Stream { shared: Rc::clone(self), client };
        tokio::task::spawn_local(async move { stream.exchange(request, respond).await });
    }
}

/// A stream's place among the clients.
struct Stream<H: Handler> {
    shared: Rc<Shared<H>>,
    client: Rc<Client>,
}

impl<H: Handler> Stream<H> {
    /// The one request of a stream, and its response.
    async fn exchange(&self, request: Request<RecvStream>, mut respond: SendResponse<Piece>) {
        let Self { shared, client } = self;
        let asks = request.headers().contains_key(EXPECT).then(|| Rc::clone(client));
        let (head, body) = request.into_parts();
        let body = Incoming::Http2 { body: Received::new(body, &head.headers), asks };
        let request = Request::from_parts(head, body);
        let answer = Rc::clone(&shared.handler).answer(Rc::clone(client), request);
        let response = match self.unless_ended(self.answered(answer, &mut respond)).await {
            Some(Some(response)) => response,
            Some(None) => return,
            None => return respond.send_reset(Reason::CANCEL),
        };
        client.set_has_response(true);
        let (head, body) = response.into_parts();
        let mut response = Response::from_parts(head, ());
        let body = Streamed::new(
            body,
            Rc::clone(client),
            Rc::clone(&shared.downstream.clock),
            Rc::clone(&shared.outbox),
        );
        self.complete(response.headers_mut(), &body);
        let is_over = body.is_end_stream();
        // When it fails the client has taken its request back.
        if let Ok(mut sending) = respond.send_response(response, is_over)
            && !is_over
        {
            let end = || shared.outbox.keep(Bytes::new());
            match self.unless_ended(pour(body, &mut sending, end)).await {
                Some(Ok(())) => {}
                Some(Err(why)) => sending.send_reset(reason(&why)),
                None => sending.send_reset(Reason::CANCEL),
            }
        }
    }

    /// Goes on until the stream is to be ended.
    async fn unless_ended<T>(&self, going: impl Future<Output = T>) -> Option<T> {
        let mut going = pin!(going);
        poll_fn(|cx| match self.client.poll_order(cx) {
            Order::Serve => going.as_mut().poll(cx).map(Some),
            Order::Finish | Order::Timeout | Order::Close => Poll::Ready(None),
        })
        .await
    }

    /// Waits for the response, and tells the client what comes before it; nothing when the client has taken its request
    /// back.
    async fn answered(
        &self,
        answer: impl Future<Output = Response<H::Body>>,
        respond: &mut SendResponse<Piece>,
    ) -> Option<Response<H::Body>> {
        let mut answer = pin!(answer);
        poll_fn(|cx| {
            loop {
                if let Poll::Ready(response) = answer.as_mut().poll(cx) {
                    return Poll::Ready(Some(response));
                }
                if respond.poll_reset(cx).is_ready() {
                    return Poll::Ready(None);
                }
                let interim = self.client.interim.take();
                if interim.is_empty() {
                    return Poll::Pending;
                }
                for interim in interim {
                    // When it fails, so does the next, and the response after it.
                    let _ = respond.send_informational(interim);
                }
            }
        })
        .await
    }

    /// Makes the head of a response one of HTTP/2.
    fn complete(&self, headers: &mut HeaderMap, body: &Streamed<H::Body>) {
        // RFC 9113 section 8.2.2: there are no such fields.
        hop_by_hop::response(headers);
        if let Some(length) = body.size_hint().exact().filter(|_| !body.is_end_stream()) {
            headers.entry(CONTENT_LENGTH).or_insert_with(|| HeaderValue::from(length));
        }
        // A simulation has no date, and the date of the run would change how long a head is.
        if !self.shared.downstream.admission.guard.is_simulated() {
            headers.entry(DATE).or_insert_with(date::now);
        }
    }
}

/// Why a response broke off, as far as its server has said so of this request. That nothing were wrong, and it were whole,
/// is not passed on.
fn reason(why: &io::Error) -> Reason {
    let of_server = why.get_ref().and_then(|inner| inner.downcast_ref::<h2::Error>());
    let of_request = of_server.filter(|why| why.is_reset() && why.is_remote()).and_then(h2::Error::reason);
    of_request.filter(|reason| *reason != Reason::NO_ERROR).unwrap_or(Reason::INTERNAL_ERROR)
}

impl<H: Handler> Drop for Stream<H> {
    fn drop(&mut self) {
        let Downstream { clients, clock, .. } = &*self.shared.downstream;
        clients.remove_stream(&self.client, clock.last(), self.client.was_taken_back());
    }
}

impl Client {
    /// Whether the client has reset the stream without waiting for the response.
    fn was_taken_back(&self) -> bool {
        !self.has_response() && self.task.order() == Order::Serve
    }
}
