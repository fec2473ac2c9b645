//! Sending a dispatched request to a server and getting the head of its response.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use http::header::{CONNECTION, CONTENT_TYPE, UPGRADE};
use http::{HeaderValue, Method, Request, Response};
use http_body::Body as _;
use tokio::time::timeout;

use crate::clients::client::Client;
use crate::upstream::bound::Bound;
use crate::upstream::connect;
use crate::upstream::failure::Failure;
use crate::upstream::first_answer::FirstAnswer;
use crate::upstream::http1::exclusive::{Exclusive, Unanswered};
use crate::upstream::http1::idle::Idle;
use crate::upstream::http2::Use;
use crate::upstream::lease::{Channel, Lease};
use crate::upstream::outgoing::Outgoing;
use crate::upstream::pool::Pool;
use crate::upstream::server::{Load, Server};
use crate::upstream::{target, upgrade};
use gate_config::settings::upstream::Http;

/// The head of a response, and the connection it came by.
pub(crate) type Begun = (Response<()>, Lease);

/// An attempt that came to nothing.
struct Failed {
    failure: Failure,
    /// How the request may be sent again, which is at hand then.
    again: Option<Again>,
}

/// Who asks, and for what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker<'a> {
    /// The protocol that the client asks for.
    pub(crate) upgrade: Option<&'a HeaderValue>,
    pub(crate) client: &'a Client,
    /// Whether it takes interim responses.
    pub(crate) is_informed: bool,
}

impl<'a> Asker<'a> {
    /// The client, if it takes interim responses.
    fn informed(self) -> Option<&'a Client> {
        self.is_informed.then_some(self.client)
    }
}

/// A request that is sent, or is to be: handed down by reference, because it is large and would be
/// copied from each function to the next. Empty while it is on its way.
pub(crate) type Pending = Option<Outgoing>;

/// How a request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    /// To another server: this one has failed it.
    Elsewhere,
    /// Anywhere: a kept connection was closed at the moment it was used again, which says nothing
    /// about server or request.
    Anywhere,
    /// Anywhere, and it does not even count, because no server has looked at it.
    Freely,
}

/// Sends a request, and sends it again while that does no harm: not after anything of a response
/// has come, not if it may have been carried out and must not be twice, and within the budget. A connection
/// that is `bound` to the client is tried first.
pub(crate) async fn send(
    pool: &Pool,
    request: &mut Pending,
    asker: Asker<'_>,
    bound: Option<Box<Bound>>,
) -> Result<Begun, Failure> {
    /// Besides the first. More would only pass trouble around.
    const ATTEMPTS: usize = 2;
    pool.budget.request(pool.clock().last());
    let safe = request.as_ref().is_some_and(repeatable);
    if let Some(bound) = bound.filter(|_| asker.upgrade.is_none()) {
        asker.client.asked.set(Some(bound.server.address()));
        // Seldom, and it would be part of every request's future.
        match Box::pin(over_bound(pool, bound, request, asker)).await {
            Ok(begun) => return Ok(begun),
            Err(failed) if failed.again.is_none() || request.is_none() => {
                return Err(failed.failure);
            }
            // Without it the server asks who the client is once more.
            Err(_) => {}
        }
    }
    let Some(mut load) = pool.choose(None, safe) else {
        return Err(Failure::NoServer);
    };
    let mut left = ATTEMPTS;
    loop {
        let server = Rc::clone(load.server());
        asker.client.asked.set(Some(server.address()));
        let fresh = left < ATTEMPTS;
        let Failed { failure, again } = match attempt(pool, load, request, asker, fresh).await {
            Ok(begun) => {
                pool.succeeded(&server);
                return Ok(begun);
            }
            Err(failed) => failed,
        };
        let Some(how) = again.filter(|_| left > 0 && request.is_some()) else {
            return Err(failure);
        };
        let except = (how == Again::Elsewhere).then_some(&server);
        let possible = except.is_none() || pool.has_several();
        if !possible || (how != Again::Freely && !pool.budget.retry(pool.clock().last())) {
            return Err(failure);
        }
        let Some(next) = pool.choose(except, safe) else { return Err(failure) };
        load = next;
        left -= 1;
    }
}

async fn attempt(
    pool: &Pool,
    load: Load,
    request: &mut Pending,
    asker: Asker<'_>,
    fresh: bool,
) -> Result<Begun, Failed> {
    match (load.server().endpoint.http, asker.upgrade) {
        // The others would be part of every request's future.
        (Http::Two, _) => Box::pin(over_http2(pool, load, request, asker)).await,
        (Http::One, Some(protocol)) => Box::pin(ask_to_upgrade(pool, load, request, protocol, asker)).await,
        (Http::One, None) => over_http1(pool, load, request, asker, fresh).await,
    }
}

async fn over_http1(
    pool: &Pool,
    load: Load,
    request: &mut Pending,
    asker: Asker<'_>,
    fresh: bool,
) -> Result<Begun, Failed> {
    request.iter_mut().for_each(target::for_http1);
    let server = Rc::clone(load.server());
    while !fresh && let Some(connection) = server.take_free() {
        let Some(connection) = connection.still_quiet().await else { continue };
        pool.count_reuse();
        match exclusively(pool, request, connection, asker).await {
            Ok((response, connection)) => {
                return accept(pool, response, Lease::new(Channel::Whole(connection), load));
            }
            Err(Refused { unsent: true, .. }) => {}
            Err(Refused { failure, .. }) if failure.is_broken_off() => {
                pool.tell(&server, &failure);
                return Err(Failed { failure, again: Some(Again::Anywhere) });
            }
            Err(Refused { failure, .. }) => return Err(given_up(pool, &server, failure)),
        }
    }
    // Seldom, and it would be part of every request's future.
    let connection = match Box::pin(connect::open(pool, &server)).await {
        Ok(connection) => connection,
        Err(failure) => return Err(out_of_reach(pool, &server, failure)),
    };
    let _first = FirstAnswer::of(&server);
    match exclusively(pool, request, connection, asker).await {
        Ok((response, connection)) => accept(pool, response, Lease::new(Channel::Whole(connection), load)),
        Err(Refused { failure, unsent }) => {
            pool.failed(&server, &failure);
            let again = (unsent || failure.is_broken_off()).then_some(Again::Elsewhere);
            Err(Failed { failure, again })
        }
    }
}

/// Sends a request over the connection that belongs to its client.
async fn over_bound(
    pool: &Pool,
    bound: Box<Bound>,
    request: &mut Pending,
    asker: Asker<'_>,
) -> Result<Begun, Failed> {
    let Bound { server, connection, .. } = *bound;
    let unsent = || Failure::Lost(std::io::ErrorKind::ConnectionReset.into());
    request.iter_mut().for_each(target::for_http1);
    let Some(connection) = connection.still_quiet().await else {
        return Err(Failed { failure: unsent(), again: Some(Again::Freely) });
    };
    pool.count_reuse();
    let load = Load::new(Rc::clone(&server), false);
    match exclusively(pool, request, connection, asker).await {
        Ok((response, connection)) => {
            pool.succeeded(&server);
            accept(pool, response, Lease::new(Channel::Whole(connection), load))
        }
        Err(Refused { failure, unsent }) if unsent || failure.is_broken_off() => {
            Err(Failed { failure, again: Some(Again::Anywhere) })
        }
        Err(Refused { failure, .. }) => Err(given_up(pool, &server, failure)),
    }
}

/// What came of a request that had a connection to itself.
struct Refused {
    failure: Failure,
    /// Whether the server has got nothing of it.
    unsent: bool,
}

/// Sends a request over a connection that it has to itself. It stays at hand if it may be sent
/// again.
async fn exclusively(
    pool: &Pool,
    request: &mut Pending,
    connection: Idle,
    asker: Asker<'_>,
) -> Result<(Response<()>, Box<Exclusive>), Refused> {
    if request.as_ref().is_some_and(|request| !request.body().is_end_stream()) {
        // It would be part of every request's future.
        let asked = Box::pin(response(pool, request, |request| {
            Exclusive::send(connection, request, pool.limits(), asker.informed())
        }));
        return asked.await.map_err(|failure| Refused { failure, unsent: request.is_some() });
    }
    let Some(bare) = request else { return Err(Refused { failure: Failure::NoServer, unsent: false }) };
    let unanswered = match Exclusive::ask(
        connection,
        bare,
        pool.times().response,
        pool.limits(),
        asker.informed(),
    )
    .await
    {
        Ok(begun) => return Ok(begun),
        Err(unanswered) => unanswered,
    };
    let unsent = matches!(unanswered, Unanswered::Unsent(_));
    if !unsent && !repeatable(bare) {
        *request = None;
    }
    Err(Refused { failure: unanswered.into(), unsent })
}

async fn over_http2(
    pool: &Pool,
    load: Load,
    request: &mut Pending,
    asker: Asker<'_>,
) -> Result<Begun, Failed> {
    let secure = load.server().endpoint.tls.is_some();
    for request in request.iter_mut() {
        if let Err(host) = target::for_http2(request, secure) {
            return Err(Failed { failure: Failure::Host(host), again: None });
        }
    }
    let server = Rc::clone(load.server());
    let how = request.as_ref().map_or(Use::Shared, sharing);
    let progress = request.as_ref().map(|request| request.body().progress()).unwrap_or_default();
    let stream = match connect::join(pool, &server, how).await {
        Ok(stream) => stream,
        Err(failure) => return Err(out_of_reach(pool, &server, failure)),
    };
    let spare = request.as_ref().and_then(copy);
    let asked = response(pool, request, |request| stream.ask(request, asker.informed())).await;
    match asked {
        Ok((response, answering)) => {
            // Otherwise the server may never read the rest, nor anything behind it.
            if how == Use::Alone && progress.is_over() {
                stream.taken();
            }
            let lease = Lease::new(Channel::Part(stream, Box::new(answering)), load);
            accept(pool, response, lease)
        }
        Err(failure) => {
            if request.is_some() || failure.is_unprocessed() {
                *request = request.take().or(spare);
                return Err(Failed { failure, again: Some(Again::Freely) });
            }
            if matches!(failure, Failure::Timeout) || failure.is_enough_of_this_connection() {
                // Perhaps it is the connection that is dead, or has enough to do, and not the server.
                stream.distrust();
            }
            pool.failed(&server, &failure);
            *request = spare.filter(|spare| failure.is_broken_off() && repeatable(spare));
            let of_connection = failure.is_of_the_connection() || failure.is_enough_of_this_connection();
            let how = if of_connection { Again::Anywhere } else { Again::Elsewhere };
            Err(Failed { failure, again: Some(how) })
        }
    }
}

async fn ask_to_upgrade(
    pool: &Pool,
    load: Load,
    request: &mut Pending,
    protocol: &HeaderValue,
    asker: Asker<'_>,
) -> Result<Begun, Failed> {
    for request in request.iter_mut() {
        target::for_http1(request);
        request.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
        request.headers_mut().insert(UPGRADE, protocol.clone());
    }
    let server = Rc::clone(load.server());
    let connection = match connect::open(pool, &server).await {
        Ok(connection) => connection,
        Err(failure) => return Err(out_of_reach(pool, &server, failure)),
    };
    let _first = FirstAnswer::of(&server);
    match exclusively(pool, request, connection, asker).await {
        Ok((response, connection)) => {
            let begins = upgrade::begins(&response, protocol);
            let lease = Lease::new(Channel::Whole(connection), load);
            if begins { Ok((response, lease)) } else { accept(pool, response, lease) }
        }
        Err(Refused { failure, .. }) => Err(given_up(pool, &server, failure)),
    }
}

/// A response that is not the beginning of something else.
fn accept(pool: &Pool, response: Response<()>, lease: Lease) -> Result<Begun, Failed> {
    // RFC 9110 section 15.2.2: 101 answers only a request that asked for that protocol.
    if response.status().is_informational() {
        return Err(given_up(pool, lease.server(), Failure::Upgrade));
    }
    Ok((response, lease))
}

/// The server has failed the request, and no other is asked.
fn given_up(pool: &Pool, server: &Server, failure: Failure) -> Failed {
    pool.failed(server, &failure);
    Failed { failure, again: None }
}

/// Nothing was sent, so whatever the request is, another server may have it.
fn out_of_reach(pool: &Pool, server: &Server, failure: Failure) -> Failed {
    pool.failed(server, &failure);
    Failed { failure, again: Some(Again::Elsewhere) }
}

/// Sends a request and waits for the head of a response; the time for it begins when the last
/// piece of the request has gone. If none of it was sent, it is at hand again.
async fn response<T, F, E>(
    pool: &Pool,
    request: &mut Pending,
    send: impl FnOnce(Outgoing) -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, (E, Pending)>>,
    E: Into<Failure>,
{
    let Some(outgoing) = request.take() else { return Err(Failure::NoServer) };
    let progress = outgoing.body().progress();
    let mut sending = pin!(send(outgoing));
    let longest = pool.times().response;
    let mut wait = longest;
    loop {
        match timeout(wait, &mut sending).await {
            Ok(Ok(response)) => return Ok(response),
            Ok(Err((why, unsent))) => {
                *request = unsent;
                return Err(why.into());
            }
            Err(_) => {}
        }
        let quiet = Duration::from(pool.clock().read().since(progress.last()));
        match longest.checked_sub(quiet) {
            Some(rest) if !rest.is_zero() => wait = rest,
            _ if progress.is_over() => return Err(Failure::Timeout),
            // How long a client may send nothing is another matter (`stall-timeout`).
            _ if progress.is_wanting() => wait = longest,
            _ => return Err(Failure::Unfinished),
        }
    }
}

/// Whether a request may be sent twice: asking again does no harm, and there is no body that
/// would be gone (RFC 9110 section 9.2.2, RFC 9112 section 9.3.1).
fn repeatable(request: &Outgoing) -> bool {
    let idempotent = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS | Method::PUT | Method::DELETE
    );
    idempotent && request.body().is_end_stream()
}

/// Whether a request shares an HTTP/2 connection: not if its body is on its way, except for gRPC, whose
/// servers are made for many streams at once.
fn sharing(request: &Outgoing) -> Use {
    let of_grpc = |value: &HeaderValue| value.as_bytes().starts_with(b"application/grpc");
    let grpc = request.headers().get(CONTENT_TYPE).is_some_and(of_grpc);
    if grpc || request.body().is_at_hand() { Use::Shared } else { Use::Alone }
}

/// The same request once more, if all of its body is at hand.
fn copy(request: &Outgoing) -> Option<Outgoing> {
    let mut copy = Request::new(request.body().copy()?);
    request.method().clone_into(copy.method_mut());
    request.uri().clone_into(copy.uri_mut());
    request.headers().clone_into(copy.headers_mut());
    Some(copy)
}
