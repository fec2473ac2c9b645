//! The way of one request: session, policy, upstream, response.

use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, EXPECT, HOST, SET_COOKIE, UPGRADE};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, Version};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::time::timeout;

use crate::admission::decision::Basis;
use crate::admission::driver::Decision;
use crate::admission::permit::Ticket;
use crate::clients::client::Client;
use crate::dispatch::response_body::{Busy, Reply};
use crate::dispatch::snapshot::Live;
use crate::process::gate::Gate;
use crate::session::visit::{Visit, visit};
use crate::tunnel::tunnels;
use crate::upstream::body::Body;
use crate::upstream::failure::Failure;
use crate::upstream::relay::Relay;
use crate::upstream::send::{Answer, in_service};
use crate::{cookie, forward};

/// By this header of a response the back-end raises the class of the session (Web2K section 2).
const HEADWORKS_CLASS: HeaderName = HeaderName::from_static("headworks-class");

/// Answers one request.
pub(crate) async fn exchange(
    gate: Rc<Gate>,
    client: Rc<Client>,
    mut request: Request<Incoming>,
) -> Result<Response<Reply>, Infallible> {
    if let Some(name) = &client.peer().server_name {
        request.extensions_mut().insert(name.clone());
    }
    let (version, draining) = (request.version(), Rc::clone(&gate));
    let bodiless = request.method() == Method::HEAD;
    let mut response = answer(gate, client, request).await?;
    // A client that is told so does not send its next request into a connection that is being
    // closed. HTTP/2 has its own way to say it.
    if draining.is_draining()
        && version < Version::HTTP_2
        && response.status() != StatusCode::SWITCHING_PROTOCOLS
    {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    let status = response.status();
    let reply = response.body_mut();
    reply.account().status(status);
    // Nobody asks for a body that is not there.
    if bodiless || reply.is_end_stream() {
        reply.account().complete();
    }
    Ok(response)
}

async fn answer(
    gate: Rc<Gate>,
    client: Rc<Client>,
    request: Request<Incoming>,
) -> Result<Response<Reply>, Infallible> {
    let mut busy = Busy::begin(&client, &gate.clock);
    let (head, body) = request.into_parts();
    let live = gate.live();
    let from = live.settings.forwarding.client(&head.headers, client.peer());
    let secure = live.settings.forwarding.is_secure(&head.headers, client.peer());
    busy.account = gate.journal.account(&head, from, &live.settings.telemetry);
    if let Some(breach) = gate.strictness.breach(&head, &live.settings.strictness) {
        busy.account.malformed(breach.name());
        return Ok(Reply::error(busy, breach.status(), breach.why()));
    }
    if let Some((status, why)) = unacceptable(&head) {
        return Ok(Reply::error(busy, status, why));
    }
    let mut body = Body::new(body, &client, &gate);
    if let Err(missing) = fetch_first(&head, &mut body).await {
        return Ok(match missing {
            Missing::Rest => broken_off(busy, &client),
            Missing::Continue => Reply::error(busy, StatusCode::EXPECTATION_FAILED, NO_CONTINUE),
        });
    }
    let visit = visit(&gate, &live, &head, from);
    let known = visit.as_ref().map(Visit::known);
    busy.account.arrived(body.progress(), visit.as_ref().map(|visit| visit.session.id));
    let mut ticket = Ticket::arrive(Rc::clone(&gate), Box::new(head), from, known);
    let (mut head, verdict) = match ticket.decision().await {
        Decision::Refuse(head, verdict) => {
            busy.account.decided(verdict);
            let waiting = gate.core.borrow().waiting();
            let mut response = live.refusals.refuse(busy, head.as_deref(), visit.is_some(), waiting);
            let session = visit.map(|visit| visit.session.id);
            live.settings.explain.mark(&mut response, &gate, from, &verdict, session);
            return Ok(response);
        }
        Decision::Dispatch(head, verdict) => (head, verdict),
    };
    client.dispatched(verdict.class);
    busy.account.decided(verdict);
    let Ok(upgrade) = tunnels::asked(&gate, &live, from, &head, &body) else {
        return Ok(Reply::error(busy, StatusCode::SERVICE_UNAVAILABLE, "There are too many tunnels.\n"));
    };
    cookie::remove(&mut head.headers, live.sessions.name());
    forward::request(&mut head, &live.authority);
    live.settings.forwarding.write(&mut head.headers, client.peer());
    busy.account.pass_on(&mut head.headers);
    let (answer, ticket) = in_service(&gate, head, body, upgrade, ticket).await;
    busy.account.answered(&answer);
    let mut session = visit.map(|visit| visit.session.id);
    let mut response = match answer {
        Ok(answer) => {
            let visit = visit.unwrap_or_else(|| gate.begin_session(verdict.class));
            session = Some(visit.session.id);
            if known.is_none() {
                busy.account.begins(visit.session.id);
            }
            relayed(&gate, &live, &client, busy, answer, ticket, (visit, secure))
        }
        // The client broke off, and the server is told so; that is no failure of the server's.
        Err(_) if client.body_breach().is_some() => broken_off(busy, &client),
        Err(failure) => failed(&gate, busy, &failure),
    };
    live.settings.explain.mark(&mut response, &gate, from, &verdict, session);
    Ok(response)
}

/// Why the first of a request's body did not come.
enum Missing {
    /// The client broke off.
    Rest,
    /// The client waits for a `100` that it cannot be sent.
    Continue,
}

/// For whoever waits for more than a moment; it is to ask again without (RFC 9110 section 10.1.1).
const NO_CONTINUE: &str = "There is no 100 (Continue) over HTTP/2 here. Send the request without Expect.\n";

/// Reads the first of a request's body, unless the client asked whether to send it.
async fn fetch_first(head: &Parts, body: &mut Body) -> Result<(), Missing> {
    /// Clients that ask wait for about a second before they send the body unasked.
    const LONGEST: Duration = Duration::from_secs(3);
    let asks = head.headers.contains_key(EXPECT);
    if asks && head.version < Version::HTTP_2 {
        // It is to be told to send its body when it is admitted, and not before; reading the body
        // is what makes hyper tell it.
        return Ok(());
    }
    if asks {
        // hyper sends no interim responses on streams. A place in the server would be held for
        // nothing while the client waits for one.
        // In a box: it would be part of every request's future.
        match Box::pin(timeout(LONGEST, body.fetch_first())).await {
            Ok(fetched) => return fetched.map_err(|_| Missing::Rest),
            Err(_) if body.progress().bytes() == 0 => return Err(Missing::Continue),
            Err(_) => {}
        }
    }
    body.fetch_first().await.map_err(|_| Missing::Rest)
}

/// What a client is told whose request's body has no end.
fn broken_off(mut busy: Busy, client: &Client) -> Response<Reply> {
    let Some(breach) = client.body_breach() else {
        return Reply::error(busy, StatusCode::BAD_REQUEST, "The request broke off.\n");
    };
    busy.account.malformed(breach.name());
    Reply::error(busy, breach.status(), breach.why())
}

/// Requests that no policy needs to see.
fn unacceptable(head: &Parts) -> Option<(StatusCode, &'static str)> {
    if head.method == Method::CONNECT {
        return Some((StatusCode::NOT_IMPLEMENTED, "This gate is no tunnel.\n"));
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
    live: &Live,
    client: &Rc<Client>,
    busy: Busy,
    answer: Answer,
    ticket: Ticket,
    (mut visit, secure): (Visit, bool),
) -> Response<Reply> {
    let Answer { response, lease, tunnel } = answer;
    let (mut head, ()) = response.into_parts();
    if let Some(name) = head.headers.remove(HEADWORKS_CLASS) {
        match gate.class(name.as_bytes()) {
            // What an operator has set, the back-end does not change.
            Some(_) if visit.basis == Basis::Operator => {}
            Some(class) if visit.session.raise(class) => {
                visit.write = true;
                gate.raises.count(true);
            }
            Some(_) => {}
            None => gate.unknown_class(&name),
        }
    }
    if matches!(visit.basis, Basis::Raise(_)) {
        gate.raises.count(false);
    }
    forward::response(&mut head.headers);
    if visit.write
        && let Some(cookie) = live.sessions.cookie(visit.session, secure, gate.clock.last())
    {
        head.headers.append(SET_COOKIE, cookie);
        forward::keep_from_shared_caches(&mut head.headers);
    }
    // What the client speaks, hyper knows.
    head.version = Version::HTTP_11;
    let Some(tunnel) = tunnel else {
        let relay = Relay::new(gate, client, lease, ticket);
        return Response::from_parts(head, Reply::relayed(busy, relay));
    };
    head.headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    head.headers.insert(UPGRADE, tunnel.protocol().clone());
    client.become_tunnel(tunnel, gate.clock.last());
    Response::from_parts(head, Reply::whole(busy, Bytes::new()))
}

fn failed(gate: &Gate, busy: Busy, failure: &Failure) -> Response<Reply> {
    gate.failures.count(failure);
    Reply::error(busy, failure.status(), failure.why())
}
