//! One client connection of HTTP/2 until it is closed.
//!
//! Every stream is a [`Client`] of its own to the rest of the gate: it has its request, waits for
//! its place and is given up alone when it stalls. The connection is closed when it is idle, when
//! it takes nothing at all, or when it asks for much and takes it back.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use h2::Reason;
use http::header::CONNECTION;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::rt::{Executor, Read, ReadBufCursor, Write};
use hyper::server::conn::http2;
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::TokioTimer;
use policy::connections::Order;

use crate::clients::client::Client;
use crate::downstream::context::{Conduct, Downstream};
use crate::downstream::farewell::farewell;
use crate::downstream::handler::Handler;
use crate::downstream::io::ClientIo;
use crate::downstream::streamed::Streamed;
use crate::downstream::tls::Transport;
use crate::downstream::unsent::Outbox;

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
    // A simulation has no date, and the date of the run would change how long a head is.
    let dated = !downstream.admission.guard.is_simulated();
    let (clock, strictness) = (Rc::clone(&downstream.clock), Rc::clone(&downstream.strictness));
    let io = ClientIo::new(transport, Rc::clone(&client), clock, strictness, limits);
    let io = Rc::new(RefCell::new(io));
    let window = settings.connection_window.min(downstream.clients.window());
    let outbox = Outbox::new(&downstream.unsent);
    let streams = Streams(Rc::new(Shared { downstream, handler, client, outbox, next: RefCell::new(None) }));
    let service = service_fn({
        let shared = Rc::clone(&streams.0);
        move |request| shared.answer(request)
    });
    let mut http = http2::Builder::new(streams.clone());
    http.timer(TokioTimer::new())
        .max_concurrent_streams(settings.streams)
        .max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX))
        .initial_stream_window_size(settings.stream_window.min(window))
        .initial_connection_window_size(window)
        .max_pending_accept_reset_streams(RESET_EARLY)
        .max_local_error_reset_streams(RESET_FOR_ERRORS)
        .max_send_buf_size(UNSENT)
        .auto_date_header(dated)
        .keep_alive_interval(settings.ping_interval)
        .keep_alive_timeout(stall_timeout);
    let client = &streams.0.client;
    spoken(client, http.serve_connection(Lent(Rc::clone(&io)), service)).await;
    // The client is to hear why, which a reset of the connection would overtake.
    if let Ok(io) = Rc::try_unwrap(io) {
        farewell(io.into_inner(), client, &[]).await;
    }
}

/// Until nothing more is to be said on a connection.
async fn spoken<H, S>(client: &Client, connection: http2::Connection<Lent, S, Streams<H>>)
where
    H: Handler,
    S: HttpService<Incoming, ResBody = Streamed<H::Body>, Error = h2::Error>,
    S::Future: 'static,
{
    let mut connection = pin!(connection);
    let mut leaving = false;
    poll_fn(|cx| {
        let order = client.poll_order(cx);
        if order != Order::Serve && !leaving {
            leaving = true;
            connection.as_mut().graceful_shutdown();
        }
        let over = connection.as_mut().poll(cx).is_ready();
        // What can be said at once, has been: a client that is told to go knows what was not done.
        let close = matches!(order, Order::Timeout | Order::Close);
        if over || close { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// The socket, lent to hyper, which gives none back.
struct Lent(Rc<RefCell<ClientIo>>);

impl Read for Lent {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, to: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_read(cx, to)
    }
}

impl Write for Lent {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.borrow().is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_shutdown(cx)
    }
}

/// Starts the tasks of a connection's streams.
struct Streams<H: Handler>(Rc<Shared<H>>);

impl<H: Handler> Clone for Streams<H> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

struct Shared<H: Handler> {
    downstream: Rc<Downstream>,
    handler: Rc<H>,
    client: Rc<Client>,
    outbox: Rc<Outbox>,
    /// The stream whose task is started next: hyper makes the answer and then its task.
    next: RefCell<Option<Stream<H>>>,
}

impl<H: Handler> Shared<H> {
    /// Takes in a stream, whose task is started next, if there is room for another.
    fn add(self: &Rc<Self>) -> Option<Rc<Client>> {
        let client = self.downstream.clients.add_stream(&self.client, self.downstream.clock.last())?;
        *self.next.borrow_mut() = Some(Stream { shared: Rc::clone(self), client: Rc::clone(&client) });
        Some(client)
    }

    fn answer(
        self: &Rc<Self>,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<Streamed<H::Body>>, h2::Error>> + use<H> {
        let client = self.add();
        let (handler, clock) = (Rc::clone(&self.handler), Rc::clone(&self.downstream.clock));
        let outbox = Rc::clone(&self.outbox);
        async move {
            // Nothing was done, so the client may ask again (RFC 9113 section 8.7).
            let Some(client) = client else { return Err(Reason::REFUSED_STREAM.into()) };
            let mut response = handler.answer(Rc::clone(&client), request).await;
            client.respond(true);
            // RFC 9113 section 8.2.2: there is no such thing.
            response.headers_mut().remove(CONNECTION);
            Ok(response.map(|body| Streamed::new(body, client, clock, outbox)))
        }
    }
}

impl<H: Handler, F: Future<Output = ()> + 'static> Executor<F> for Streams<H> {
    fn execute(&self, exchange: F) {
        let Some(stream) = self.0.next.take() else {
            // Not a stream's task, but one that hyper wants for itself.
            tokio::task::spawn_local(exchange);
            return;
        };
        tokio::task::spawn_local(async move {
            let mut exchange = pin!(exchange);
            // When the future goes before its end, h2 resets the stream.
            poll_fn(|cx| match stream.client.poll_order(cx) {
                Order::Serve => exchange.as_mut().poll(cx),
                Order::Finish | Order::Timeout | Order::Close => Poll::Ready(()),
            })
            .await;
        });
    }
}

/// A stream's place among the clients.
struct Stream<H: Handler> {
    shared: Rc<Shared<H>>,
    client: Rc<Client>,
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
        !self.responded.get() && self.task.order() == Order::Serve
    }
}
