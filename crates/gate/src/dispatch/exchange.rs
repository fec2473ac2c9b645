//! The way of one request: session, policy, upstream, response.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, SET_COOKIE, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version};
use http_body::Body as _;
use http1::headers::forwarded::Scheme;
use http1::headers::hop_by_hop::Forwarded;
use http1::headers::{caching, hop_by_hop};
use policy::Stream;
use policy::connections::Awaited;
use tokio::time::timeout;

use crate::admission::decision::{Basis, DecisionDetails};
use crate::admission::driver::Decision;
use crate::admission::permit::Permit;
use crate::clients::client::Client;
use crate::clients::incoming::{BrokenOff, Incoming};
use crate::dispatch::active_config::ActiveConfig;
use crate::dispatch::debug_headers::mark;
use crate::dispatch::explanation::explain;
use crate::dispatch::in_service::{Answer, Sent, in_service};
use crate::dispatch::proxy::Proxy;
use crate::dispatch::relay::Relay;
use crate::dispatch::response_body::{Busy, Reply};
use crate::dispatch::session::{Cookie, HEADWORKS_CLASS, caller, current_session};
use crate::dispatch::upgrade;
use crate::downstream::handler::Handler;
use crate::observe::access_log::account::Account;
use crate::session::cookies::PLACE;
use crate::session::current::CurrentSession;
use crate::tunnel::tunnels::{Asked, Tunnel};
use crate::upstream::body::Body;
use crate::upstream::bound::{Owner, authenticates_connection};
use crate::upstream::failure::Failure;

impl Handler for Proxy {
    type Body = Reply;

    fn answer(
        self: Rc<Self>,
        client: Rc<Client>,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response<Reply>> + 'static {
        exchange(self, client, request)
    }
}

/// Answers one request.
fn exchange(
    proxy: Rc<Proxy>,
    client: Rc<Client>,
    mut request: Request<Incoming>,
) -> impl Future<Output = Response<Reply>> {
    if let Some(name) = &client.peer().server_name {
        request.extensions_mut().insert(name.clone());
    }
    let version = request.version();
    let bodiless = request.method() == Method::HEAD;
    async move {
        let mut response = answer(&proxy, client, request).await;
        // A client that is told so does not send its next request into a connection that is being
        // closed. HTTP/2 has its own way to say it.
        if proxy.is_draining()
            && version < Version::HTTP_2
            && response.status() != StatusCode::SWITCHING_PROTOCOLS
        {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let status = response.status();
        let reply = response.body_mut();
        reply.account().status(status);
        // hyper does not ask for a body that is not there.
        if bodiless || reply.is_end_stream() {
            reply.account().complete();
        }
        if bodiless && version >= Version::HTTP_2 {
            reply.leave_out();
        }
        if status == StatusCode::NOT_MODIFIED && version < Version::HTTP_2 {
            let length = response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
            if let Some(length) = length.and_then(|length| length.parse().ok()) {
                response.body_mut().speak_of(length);
            }
        }
        response
    }
}

async fn answer(proxy: &Rc<Proxy>, client: Rc<Client>, request: Request<Incoming>) -> Response<Reply> {
    let mut busy = Busy::begin(&client, &proxy.clock);
    let (head, body) = request.into_parts();
    client.said_last.set(hop_by_hop::is_last(&head));
    let config = proxy.config();
    let from = config.settings.forwarding.client(&head.headers, client.peer().hop());
    let secure = config.settings.forwarding.scheme(&head.headers, client.peer().hop()) == Scheme::Https;
    busy.account = Account::begin(&proxy.access_log, &proxy.clock, &head, from, &config.settings.telemetry);
    // What a client reads, should something go wrong after its request has gone.
    let accept = head.headers.get(ACCEPT).cloned();
    if let Some(breach) = proxy.strictness.breach(&head, &config.settings.strictness) {
        busy.account.malformed(breach.name());
        return explain(&config, busy, accept.as_ref(), breach.status(), breach.why());
    }
    if let Some((status, why)) = unacceptable(&head) {
        return explain(&config, busy, accept.as_ref(), status, why);
    }
    let mut body = Body::new(body, &client, &proxy.clock, &proxy.memory);
    if fetch_first(&head, &mut body).await.is_err() {
        return broken_off(&config, busy, &client, accept.as_ref());
    }
    let current = current_session(proxy, &config, &head, from);
    let cookie = Cookie::of(&config, &head, current.as_ref());
    let caller = caller(proxy, &config, &head, current.as_ref());
    busy.account.arrived(body.progress(), current.as_ref().map(|current| current.session.id));
    let mut permit = Permit::arrive(proxy.admission(), Box::new(head), (client.id(), from), caller);
    let (mut head, details) = match permit.decision().await {
        Decision::Refuse(head, details) => {
            busy.account.decided(details);
            let known = current.is_some();
            let mut response = refused(proxy, &config, busy, head.as_deref(), &details, (known, secure));
            let session = current.map(|current| current.session.id);
            mark(&config.settings.explain, &mut response, &proxy.classes, from, &details, session);
            return response;
        }
        Decision::Dispatch(head, details) => (head, details),
    };
    client.dispatched(details.class);
    busy.account.decided(details);
    let Ok(upgrade) = upgrade::asked(proxy, &config, from, &head, &body) else {
        return too_many(&config, busy, accept.as_ref(), "too-many-tunnels", "There are too many tunnels.\n");
    };
    follow_upload(&permit, &mut body);
    let how = how_to_send(proxy, &config, &client, &head, upgrade);
    config.sessions.remove(&mut head.headers);
    if head.version == Version::HTTP_2 && body.is_end_stream() {
        // There is nothing to go on with.
        head.headers.remove(EXPECT);
    }
    hop_by_hop::request(&mut head, &config.authority);
    config.settings.forwarding.write(&mut head.headers, client.peer().hop());
    busy.account.pass_on(&mut head.headers);
    let (answer, permit) = in_service(&proxy.dispatcher, head, body, how, permit).await;
    client.informed().await;
    busy.account.answered(answer.as_ref().err());
    let mut session = current.as_ref().map(|current| current.session.id);
    let mut response = match answer {
        Ok(answer) => {
            let current = cookie.with(proxy, current, &answer.response, (details.class, caller.visit()));
            session = current.as_ref().map(|current| current.session.id);
            if let (None, Some(current)) = (caller.known(), &current) {
                busy.account.begins(current.session.id);
                permit.begins(current.session.id);
            }
            let had_place = caller.visit().is_some_and(|visit| visit.told.is_some());
            relayed(proxy, &config, &client, busy, answer, permit, (current, secure, had_place))
        }
        Err(failure) => failed(proxy, &config, busy, &client, accept.as_ref(), &failure),
    };
    mark(&config.settings.explain, &mut response, &proxy.classes, from, &details, session);
    response
}

/// Refuses a request; a visitor is told its place.
pub(crate) fn refused(
    proxy: &Proxy,
    config: &ActiveConfig,
    busy: Busy,
    head: Option<&Parts>,
    details: &DecisionDetails,
    (known, secure): (bool, bool),
) -> Response<Reply> {
    let room = config.settings.waiting_room.as_ref();
    let token = details.ticket.as_ref().and_then(|ticket| config.sessions.place_token(&ticket.visit));
    let (Some(room), Some(ticket), Some(token)) = (room, &details.ticket, token) else {
        let waiting = proxy.admission().driver.borrow().waiting();
        return config.refusals.refuse(busy, head, known, waiting);
    };
    let mut response = config.refusals.wait(busy, head, &room.page, (ticket, &token));
    if let Some(cookie) = config.sessions.place_cookie(&token, secure) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    if let Ok(token) = HeaderValue::try_from(token) {
        response.headers_mut().insert(PLACE, token);
    }
    response
}

/// Has the policy told when the rest of a request's body has come.
fn follow_upload(permit: &Permit, body: &mut Body) {
    if !body.progress().is_over() {
        let uploads = permit.uploads();
        body.when_over(Box::new(move || uploads.over()));
    }
}

fn how_to_send(
    proxy: &Proxy,
    config: &ActiveConfig,
    client: &Rc<Client>,
    head: &Parts,
    upgrade: Option<Box<Asked>>,
) -> Sent {
    let bound = proxy.dispatcher.pool.bound.take(client).map(Box::new);
    let is_bound = bound.is_some() || authenticates_connection(&head.headers);
    Sent {
        upgrade,
        tunnel_idle_timeout: config.settings.tunnels.idle_timeout,
        // HTTP/1.0 knows no interim responses.
        is_informed: head.version > Version::HTTP_10,
        client: Rc::clone(client),
        bound,
        owner: if is_bound { Owner::of(client) } else { Owner::All },
    }
}

/// Reads the first of a request's body, unless the client asked whether to send it. What does not come in a moment is
/// not waited for: the server may want to answer what has come, or the head alone.
async fn fetch_first(head: &Parts, body: &mut Body) -> Result<(), BrokenOff> {
    /// A body that comes at once and whole is sent at once, and can be sent again. What comes slowly costs the server
    /// little: a request whose body takes longer gives its place back.
    const GATHER_TIMEOUT: Duration = Duration::from_millis(100);
    // Who asks is to be told to send its body when it is admitted, and not before; reading the body is what has it told.
    if body.progress().is_over() || head.headers.contains_key(EXPECT) || is_conversation(&head.headers) {
        return Ok(());
    }
    // In a box: it would be part of every request's future.
    Box::pin(timeout(GATHER_TIMEOUT, body.fetch_first())).await.unwrap_or(Ok(()))
}

/// Whether client and server may speak in turns: the first message is all there is until the server answers.
fn is_conversation(headers: &HeaderMap) -> bool {
    const GRPC: &[u8] = b"application/grpc";
    headers.get(CONTENT_TYPE).is_some_and(|media_type| media_type.as_bytes().starts_with(GRPC))
}

/// What a client is told whose request's body has no end.
fn broken_off(
    config: &ActiveConfig,
    mut busy: Busy,
    client: &Client,
    accept: Option<&HeaderValue>,
) -> Response<Reply> {
    let Some(breach) = client.body_breach() else {
        return explain(config, busy, accept, StatusCode::BAD_REQUEST, "The request broke off.\n");
    };
    busy.account.malformed(breach.name());
    explain(config, busy, accept, breach.status(), breach.why())
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
    match hop_by_hop::may_forward(head) {
        Forwarded::On => None,
        Forwarded::Round => Some((StatusCode::LOOP_DETECTED, "The request goes round in a circle.\n")),
        // Nothing is sent back of what may be secrets.
        Forwarded::FarEnough if head.method == Method::TRACE => {
            Some((StatusCode::NOT_IMPLEMENTED, "This gate traces nothing.\n"))
        }
        Forwarded::FarEnough => Some((StatusCode::OK, "The request has come to a gate.\n")),
    }
}

fn relayed(
    proxy: &Rc<Proxy>,
    config: &ActiveConfig,
    client: &Rc<Client>,
    busy: Busy,
    answer: Answer,
    permit: Permit,
    (current, secure, had_place): (Option<CurrentSession>, bool, bool),
) -> Response<Reply> {
    let Answer { response, lease, tunnel } = answer;
    client.over(Awaited::Upload);
    let (mut head, ()) = response.into_parts();
    let named = head.headers.remove(HEADWORKS_CLASS);
    let current = current.map(|mut current| {
        let rules = &config.settings.rules;
        if let Some((_, class)) = rules.raised_by(&current.raises, head.status, current.session.class)
            && current.session.raise(class)
        {
            current.write = true;
            proxy.raises.count(false);
        }
        if let Some(name) = named {
            match proxy.class(name.as_bytes()) {
                // What an operator has set, the back-end does not change.
                Some(_) if current.basis == Basis::Operator => {}
                Some(class) if current.session.raise(class) => {
                    current.write = true;
                    proxy.raises.count(true);
                }
                Some(_) => {}
                None => proxy.unknown_class(&name),
            }
        }
        if matches!(current.basis, Basis::Raise(_)) {
            proxy.raises.count(false);
        }
        current
    });
    hop_by_hop::response(&mut head.headers);
    write_session(proxy, config, &mut head.headers, current, (secure, had_place));
    // What the client speaks, its connection knows.
    head.version = Version::HTTP_11;
    let Some((asked, idle_timeout)) = tunnel else {
        let stream = stream(&head.headers);
        if !lease.is_at_hand() && permit.turns_away(stream) {
            proxy.turned_away.set(proxy.turned_away.get() + 1);
            return too_many(config, busy, None, "too-many-streams", "There are too many streams.\n");
        }
        let relay = Relay::new(&proxy.dispatcher, client, lease, permit, stream);
        return Response::from_parts(head, Reply::relayed(busy, relay));
    };
    let Some((server, said)) = lease.into_transport() else {
        return failed(proxy, config, busy, client, None, &Failure::Upgrade);
    };
    let open = proxy.dispatcher.pool.hold();
    let tunnel = Box::new(Tunnel::new(Box::new(server), said, *asked, open, idle_timeout));
    head.headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    head.headers.insert(UPGRADE, tunnel.protocol().clone());
    client.become_tunnel(tunnel, proxy.clock.last());
    Response::from_parts(head, Reply::whole(busy, Bytes::new()))
}

/// Tells a client its session, if that is to be told, and ends its place in the waiting room with it.
fn write_session(
    proxy: &Proxy,
    config: &ActiveConfig,
    headers: &mut HeaderMap,
    current: Option<CurrentSession>,
    (secure, had_place): (bool, bool),
) {
    let Some(current) = current.filter(|current| current.write) else { return };
    let Some(cookie) = config.sessions.cookie(current.session, secure, proxy.clock.last()) else { return };
    headers.append(SET_COOKIE, cookie);
    if let Some(cookie) = config.sessions.no_place_cookie(secure).filter(|_| had_place) {
        headers.append(SET_COOKIE, cookie);
    }
    caching::keep_from_shared_caches(headers);
}

/// There is no room for what a request becomes.
fn too_many(
    config: &ActiveConfig,
    mut busy: Busy,
    accept: Option<&HeaderValue>,
    name: &'static str,
    why: &'static str,
) -> Response<Reply> {
    busy.account.cut(name);
    explain(config, busy, accept, StatusCode::SERVICE_UNAVAILABLE, why)
}

/// What the head of a response says about how its pieces come.
fn stream(headers: &HeaderMap) -> Stream {
    const EVENTS: &[u8] = b"text/event-stream";
    let media_type = headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    match media_type.get(..EVENTS.len()) {
        Some(named) if named.eq_ignore_ascii_case(EVENTS) => Stream::Events,
        _ => Stream::Unknown,
    }
}

fn failed(
    proxy: &Proxy,
    config: &ActiveConfig,
    busy: Busy,
    client: &Client,
    accept: Option<&HeaderValue>,
    failure: &Failure,
) -> Response<Reply> {
    if client.body_breach().is_some() || matches!(failure, Failure::Client(_)) {
        // The client broke off, and the server is told so; the server has not failed.
        return broken_off(config, busy, client, accept);
    }
    proxy.failures.count(failure);
    explain(config, busy, accept, failure.status(), failure.why())
}
