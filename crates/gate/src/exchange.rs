//! The way of one request: session, policy, upstream, response.

use std::convert::Infallible;
use std::rc::Rc;

use http::header::{EXPECT, HOST, SET_COOKIE};
use http::request::Parts;
use http::{HeaderName, Method, Request, Response, StatusCode, Version};
use hyper::body::Incoming;

use crate::client::Client;
use crate::core::Decision;
use crate::gate::Gate;
use crate::reply::{Busy, Reply};
use crate::sessions::Visit;
use crate::ticket::Ticket;
use crate::upstream::{Answer, Body, Failure, Relay, in_service};
use crate::{cookie, forward};

/// By this header of a response the back-end raises the class of the session (Web2K section 2).
const HEADWORKS_CLASS: HeaderName = HeaderName::from_static("headworks-class");

/// Answers one request.
pub(crate) async fn exchange(
    gate: Rc<Gate>,
    client: Rc<Client>,
    request: Request<Incoming>,
) -> Result<Response<Reply>, Infallible> {
    let busy = Busy::begin(&client, &gate.clock);
    let (head, body) = request.into_parts();
    if let Some((status, why)) = unacceptable(&head) {
        return Ok(Reply::error(busy, status, why));
    }
    let mut body = Body::new(body, &client, &gate.clock);
    // A client that asked first is to be told to send its body when it is admitted, and not
    // before; reading the body is what makes hyper tell it.
    if !head.headers.contains_key(EXPECT) && body.fetch_first().await.is_err() {
        return Ok(Reply::error(busy, StatusCode::BAD_REQUEST, "The request broke off.\n"));
    }
    let visit = gate.sessions.find(&head.headers, gate.clock.last());
    let known = visit.map(|visit| visit.session.class);
    let mut ticket = Ticket::arrive(Rc::clone(&gate), head, client.address, known);
    let (mut head, class) = match ticket.decision().await {
        Decision::Refuse => return Ok(gate.refusals.refuse(busy, visit.is_some())),
        Decision::Dispatch(head, class) => (*head, class),
    };
    cookie::remove(&mut head.headers, gate.sessions.name());
    forward::request(&mut head, client.address, &gate.authority);
    let (answer, ticket) = in_service(&gate, head, body, ticket).await;
    Ok(match answer {
        Ok(answer) => {
            let visit = visit.unwrap_or_else(|| gate.sessions.begin(class, gate.clock.last()));
            relayed(&gate, &client, busy, answer, ticket, visit)
        }
        Err(failure) => failed(&gate, busy, &failure),
    })
}

/// Requests that no policy needs to see.
fn unacceptable(head: &Parts) -> Option<(StatusCode, &'static str)> {
    if head.method == Method::CONNECT {
        return Some((StatusCode::NOT_IMPLEMENTED, "This gate is no tunnel.\n"));
    }
    if forward::wants_websocket(&head.headers) {
        return Some((StatusCode::NOT_IMPLEMENTED, "This gate does not relay WebSockets.\n"));
    }
    // RFC 9112 section 3.2: one Host, except from HTTP/1.0.
    let hosts = head.headers.get_all(HOST).iter().count();
    if hosts > 1 || (hosts == 0 && head.version == Version::HTTP_11) {
        return Some((StatusCode::BAD_REQUEST, "A request needs one Host header.\n"));
    }
    None
}

fn relayed(
    gate: &Rc<Gate>,
    client: &Rc<Client>,
    busy: Busy,
    answer: Answer,
    ticket: Ticket,
    mut visit: Visit,
) -> Response<Reply> {
    let (mut head, incoming) = answer.response.into_parts();
    if let Some(name) = head.headers.remove(HEADWORKS_CLASS) {
        match gate.class(name.as_bytes()) {
            Some(class) => visit.write |= visit.session.raise(class),
            None => gate.unknown_class(&name),
        }
    }
    forward::response(&mut head.headers);
    if visit.write
        && let Some(cookie) = gate.sessions.cookie(visit.session, gate.clock.last())
    {
        head.headers.append(SET_COOKIE, cookie);
    }
    // What the client speaks, hyper knows.
    head.version = Version::HTTP_11;
    let relay = Relay::new(gate, client, incoming, answer.lease, ticket);
    Response::from_parts(head, Reply::relayed(busy, relay))
}

fn failed(gate: &Gate, busy: Busy, failure: &Failure) -> Response<Reply> {
    gate.failures.note(failure, &gate.pool.settings().address, gate.clock.last());
    let why = match failure {
        Failure::Connect(_) | Failure::ConnectTimeout => "The server behind this gate cannot be reached.\n",
        Failure::Timeout => "The server behind this gate did not answer in time.\n",
        Failure::Broken(_) | Failure::Upgrade => "The server behind this gate broke off its answer.\n",
    };
    Reply::error(busy, failure.status(), why)
}
