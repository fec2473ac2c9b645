//! One client connection of HTTP/1 until it is closed.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use http::StatusCode;
use hyper::server::conn::http1;
use hyper::service::service_fn;

use super::farewell::{self, farewell};
use super::io::ClientIo;
use super::{Breach, Client, Order, Phase};
use crate::exchange::exchange;
use crate::front::Transport;
use crate::gate::Gate;

/// How a connection ends.
enum End {
    /// There is nothing more to say.
    Over,
    /// The request did not come in time.
    Timeout,
    Refused(Breach),
    /// Another protocol is spoken from now on.
    Tunnel,
}

/// Serves a connection until either side closes it.
pub(super) async fn serve(gate: Rc<Gate>, transport: Transport, client: Rc<Client>) {
    let limits = gate.live().settings.strictness;
    let (clock, strictness) = (Rc::clone(&gate.clock), Rc::clone(&gate.strictness));
    let io = ClientIo::new(transport, Rc::clone(&client), clock, strictness, limits);
    let journal = Rc::clone(&gate.journal);
    let service = service_fn({
        let client = Rc::clone(&client);
        move |request| exchange(Rc::clone(&gate), Rc::clone(&client), request)
    });
    // hyper reads heads that have passed already; its own limits are only not to be in the way.
    let mut http = http1::Builder::new();
    http.header_read_timeout(None).max_header_size(limits.head);
    if limits.fields > DEFAULT_FIELDS {
        http.max_headers(limits.fields);
    }
    let mut connection = http.serve_connection(io, service);
    let mut finishing = false;
    let end = poll_fn(|cx| {
        match client.poll_order(cx) {
            Order::Serve => {}
            Order::Finish if client.phase().is_idle() => return Poll::Ready(End::Over),
            Order::Finish => {}
            Order::Timeout => return Poll::Ready(End::Timeout),
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
    match end {
        End::Over => {}
        End::Tunnel => {
            let parts = connection.into_parts();
            let (transport, held) = parts.io.into_parts();
            if let Some(tunnel) = client.tunnel.take() {
                tunnel.run(&client, transport, [parts.read_buf.as_ref(), &held].concat()).await;
            }
        }
        End::Timeout => {
            journal.unread(client.peer().address, StatusCode::REQUEST_TIMEOUT, "header-timeout");
            farewell(connection.into_parts().io, &client, farewell::TIMEOUT).await;
        }
        End::Refused(breach) => {
            journal.unread(client.peer().address, breach.status(), breach.name());
            farewell(connection.into_parts().io, &client, &farewell::refusal(breach)).await;
        }
    }
}

/// What hyper has room for without being asked.
const DEFAULT_FIELDS: usize = 100;
