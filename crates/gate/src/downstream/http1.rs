//! One client connection of HTTP/1 until it is closed.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use ::http1::request::Breach;
use bytes::Bytes;
use http::{Request, StatusCode};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use policy::connections::{Order, Phase};

use crate::clients::client::Client;
use crate::clients::incoming::Incoming;
use crate::clients::task::Calm;
use crate::downstream::context::{Conduct, Downstream};
use crate::downstream::farewell;
use crate::downstream::farewell::farewell;
use crate::downstream::handler::Handler;
use crate::downstream::io::ClientIo;
use crate::downstream::tls::Transport;
use gate_config::settings::field_names::FieldNames;

/// Why requests are no longer read.
enum End {
    /// There is nothing more to say.
    Over,
    /// The head of a request did not come in time.
    Timeout,
    /// The rest of a request did not.
    Stalled,
    Refused(Breach),
    /// Another protocol is spoken from now on.
    Tunnel,
    /// None has come for a while.
    Rest,
}

/// Serves a connection until either side closes it.
pub(crate) async fn serve<H: Handler>(
    downstream: Rc<Downstream>,
    handler: Rc<H>,
    transport: Transport,
    client: Rc<Client>,
) {
    let conduct = downstream.conduct.get();
    let (clock, strictness) = (Rc::clone(&downstream.clock), Rc::clone(&downstream.strictness));
    let mut io = ClientIo::new(transport, Rc::clone(&client), clock, strictness, conduct.limits);
    let (end, io, read) = loop {
        // What a request needs is of no use to a connection that has none, and most of what it
        // takes: two buffers, and the way of a request.
        match Box::pin(requests(&handler, &client, conduct, io)).await {
            (End::Rest, given_back, read) => {
                debug_assert!(read.is_empty(), "of what has come, all was understood");
                io = given_back;
            }
            ended => break ended,
        }
        if !rest(&client, &io).await {
            return;
        }
    };
    // In boxes: what seldom happens would be part of every connection's future.
    match end {
        End::Over | End::Rest => {}
        End::Tunnel => {
            let (transport, held) = io.into_parts();
            if let Some(tunnel) = client.tunnel.take() {
                let close =
                    |cx: &mut Context<'_>| matches!(client.poll_order(cx), Order::Timeout | Order::Close);
                Box::pin(tunnel.run(close, transport, [read.as_ref(), &held].concat())).await;
            }
        }
        End::Timeout => {
            downstream.access_log.unread(
                client.peer().address,
                (StatusCode::REQUEST_TIMEOUT, 0),
                "header-timeout",
            );
            Box::pin(farewell(io, &client, farewell::TIMEOUT)).await;
        }
        End::Stalled => Box::pin(farewell(io, &client, farewell::TIMEOUT)).await,
        End::Refused(breach) => {
            let said = (breach.status(), breach.why().len() as u64);
            downstream.access_log.unread(client.peer().address, said, breach.name());
            Box::pin(farewell(io, &client, &farewell::refusal(breach))).await;
        }
    }
}

/// Answers requests; gives the socket back, and what was read from it and not understood.
async fn requests<H: Handler>(
    handler: &Rc<H>,
    client: &Rc<Client>,
    Conduct { limits, field_names, .. }: Conduct,
    io: ClientIo,
) -> (End, ClientIo, Bytes) {
    let service = service_fn({
        let (handler, client) = (Rc::clone(handler), Rc::clone(client));
        move |request: Request<_>| {
            let request = request.map(Incoming::Http1);
            let (handler, client) = (Rc::clone(&handler), Rc::clone(&client));
            // What answers is made where it stays: it is large, and would be moved there.
            async move {
                client.set_has_response(false);
                let response = handler.answer(Rc::clone(&client), request).await;
                client.set_has_response(true);
                Ok::<_, Infallible>(response)
            }
        }
    });
    // hyper reads heads that have passed already; its own limits are only not to be in the way.
    let mut http = http1::Builder::new();
    http.header_read_timeout(None).max_header_size(limits.head);
    if limits.fields > DEFAULT_FIELDS {
        http.max_headers(limits.fields);
    }
    if field_names == FieldNames::TitleCase {
        http.title_case_headers(true);
    }
    let mut connection = http.serve_connection(io, service);
    let mut finishing = false;
    let end = poll_fn(|cx| {
        match client.poll_order(cx) {
            Order::Serve if client.task.calm.get() == Calm::Rest => return Poll::Ready(End::Rest),
            Order::Serve => {}
            Order::Finish if client.phase().is_idle() && !client.task.blocked.get() => {
                return Poll::Ready(End::Over);
            }
            Order::Finish => {}
            Order::Timeout if client.phase() != Phase::Busy => return Poll::Ready(End::Timeout),
            Order::Timeout if client.hears_of_its_stall() => return Poll::Ready(End::Stalled),
            Order::Timeout => return Poll::Ready(End::Over),
            Order::Close => return Poll::Ready(End::Over),
        }
        loop {
            // Errors are the client's doing (garbage, a reset) and were answered where possible.
            if let Poll::Ready(ended) = Pin::new(&mut connection).poll(cx) {
                let tunnel = ended.is_ok() && client.phase() == Phase::Tunnel;
                return Poll::Ready(if tunnel { End::Tunnel } else { End::Over });
            }
            if let Some(breach) = client.head_breach() {
                return Poll::Ready(End::Refused(breach));
            }
            // hyper does not see a head before it is whole, and would close a connection in the
            // middle of one.
            if finishing || client.phase() != Phase::Busy || client.poll_order(cx) != Order::Finish {
                return Poll::Pending;
            }
            finishing = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
    })
    .await;
    let parts = connection.into_parts();
    (end, parts.io, parts.read_buf)
}

/// Waits for the next request with nothing but the socket; false when the connection is to be
/// closed instead.
async fn rest(client: &Client, io: &ClientIo) -> bool {
    client.task.calm.set(Calm::No);
    poll_fn(|cx| match client.poll_order(cx) {
        Order::Serve => io.poll_readable(cx).map(|()| true),
        Order::Finish | Order::Timeout | Order::Close => Poll::Ready(false),
    })
    .await
}

/// What hyper has room for without being asked.
const DEFAULT_FIELDS: usize = 100;
