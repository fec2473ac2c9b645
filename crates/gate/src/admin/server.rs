//! The admin interface: metrics for Prometheus, the state and the queue as JSON, the operator's
//! knobs, the class of a session, and what happens as it happens.
//!
//! It has a listener of its own, so it answers when clients' connections are used up. `access`
//! decides who is answered, `operations` lists and describes what can be asked.

use std::cell::RefCell;
use std::convert::Infallible;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioTimer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use telemetry::Format;

use crate::admin::access::{Peer, Who};
use crate::admin::answer::{Answer, error, json, not_allowed, page};
use crate::admin::knobs::NotMoved;
use crate::admin::{
    access, answer, changes, console, foresight, history, knobs, metrics, mode, operate, operations, queue,
    sessions, state, stream,
};
use crate::observe::events::Listener;
use crate::process::gate::Gate;
use crate::runtime::net::ACCEPT_PAUSE;
use crate::strict::checked::Checked;

/// Operators and scrapers at once, on each listener.
const CONNECTIONS: usize = 32;
/// A connection that lives longer has no honest use, unless it listens to events.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(300);
/// How often it is looked whether one that listens still keeps up.
const LOOK: Duration = Duration::from_secs(2);
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Bodies say what is to change, in a few words.
const MAX_BODY_BYTES: usize = 4096;

/// Serves the admin interface for as long as it is polled.
pub(crate) async fn serve(gate: Rc<Gate>, listener: TcpListener) {
    let places = Rc::new(Semaphore::new(CONNECTIONS));
    loop {
        match listener.accept().await {
            Ok((socket, peer)) => welcome(&gate, &places, socket, Peer::Tcp(peer)),
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// The same on a Unix socket.
pub(crate) async fn serve_locally(gate: Rc<Gate>, listener: UnixListener) {
    let places = Rc::new(Semaphore::new(CONNECTIONS));
    loop {
        match listener.accept().await {
            Ok((socket, _)) => {
                let user = socket.peer_cred().ok().map(|credentials| credentials.uid());
                welcome(&gate, &places, socket, Peer::Unix(user));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Serves a connection, if there is a place for it. Beyond that it is closed: an operator tries
/// again, and nothing piles up.
fn welcome(
    gate: &Rc<Gate>,
    places: &Rc<Semaphore>,
    socket: impl AsyncRead + AsyncWrite + Unpin + 'static,
    peer: Peer,
) {
    if places.available_permits() == 0 {
        return;
    }
    let (gate, places) = (Rc::clone(gate), Rc::clone(places));
    tokio::task::spawn_local(async move {
        let Ok(_place) = places.try_acquire() else { return };
        connection(gate, socket, peer).await;
    });
}

/// Who listens to events over a connection.
type Listening = Rc<RefCell<Option<Rc<Listener>>>>;

async fn connection(gate: Rc<Gate>, socket: impl AsyncRead + AsyncWrite + Unpin + 'static, peer: Peer) {
    let listening = Listening::default();
    let strictness = Rc::clone(&gate.strictness);
    let service = service_fn({
        let listening = Rc::clone(&listening);
        move |request| respond(Rc::clone(&gate), peer, Rc::clone(&listening), request)
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .serve_connection(Checked::new(socket, &strictness), service)
    );
    let longest = Instant::now() + CONNECTION_TIMEOUT;
    // Errors are the client's doing.
    while timeout(LOOK, &mut connection).await.is_err() {
        let keeps_up = match &*listening.borrow() {
            Some(listener) => !listener.is_lost(),
            None => Instant::now() < longest,
        };
        if !keeps_up {
            return;
        }
    }
}

async fn respond(
    gate: Rc<Gate>,
    peer: Peer,
    listening: Listening,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    let (head, body) = request.into_parts();
    if matches!(head.method, Method::GET | Method::HEAD) && head.uri.path() == "/readyz" {
        return Ok(operate::ready(&gate));
    }
    Ok(match access::admit(&gate.config().settings.admission, peer, &head) {
        Ok(who) => obey(&gate, &who, &listening, &head, body).await,
        Err(refused) => *refused,
    })
}

async fn obey(gate: &Rc<Gate>, who: &Who, listening: &Listening, head: &Parts, body: Incoming) -> Answer {
    let method = match head.method {
        Method::HEAD => "GET",
        ref method => method.as_str(),
    };
    let (path, query) = (head.uri.path(), head.uri.query().unwrap_or_default());
    let session = path.strip_prefix("/api/v1/sessions/").and_then(|rest| rest.strip_suffix("/class"));
    let known = match session {
        Some(_) => "/api/v1/sessions/{id}/class",
        None => path,
    };
    match (method, known) {
        ("GET", "/metrics") => {
            page(Format::Prometheus.content_type(), metrics::gather(gate).text(Format::Prometheus))
        }
        ("GET", "/api/v1/openapi.json") => json(&operations::description()),
        ("GET", "/") => console::way(),
        ("GET", "/console") => console::console(gate, head),
        ("GET", "/console/waiting-room") => console::waiting_room(gate),
        ("GET", "/console/refusal") => console::refusal(gate),
        ("GET", "/api/v1/state") => json(&state::State::of(gate, who)),
        ("GET", "/api/v1/history") => match history::history(gate, query) {
            // An hour is some megabytes, for which clients would wait.
            Ok(history) => {
                let text = tokio::task::spawn_blocking(move || serde_json::to_string(&history)).await;
                page("application/json", text.ok().and_then(Result::ok).unwrap_or_default())
            }
            Err(why) => error(StatusCode::BAD_REQUEST, &why),
        },
        ("GET", "/api/v1/changes") => json(&changes::changes(gate)),
        ("PATCH", "/api/v1/mode") => told(body, |body| mode::patch(gate, who, body)).await,
        ("POST", "/api/v1/foresight") => match read(body).await {
            Some(body) => foreseen(foresight::predict(gate, &body).await),
            None => not_read(),
        },
        ("GET", "/api/v1/outcome") => foreseen(foresight::outcome(gate, query).await),
        ("GET", "/api/v1/knobs") => json(&knobs::current(gate)),
        ("PATCH", "/api/v1/knobs") => match read(body).await.map(|body| knobs::patch(gate, who, &body)) {
            Some(Ok(knobs)) => json(&knobs),
            Some(Err(NotMoved::Otherwise(why))) => error(StatusCode::CONFLICT, &why),
            Some(Err(NotMoved::Wrong(why))) => error(StatusCode::BAD_REQUEST, &why),
            None => not_read(),
        },
        ("GET", "/api/v1/queue") => given(queue::queue(gate, query)),
        ("GET", "/api/v1/sessions") => json(&sessions::all(gate)),
        ("POST" | "DELETE", "/api/v1/sessions/{id}/class") => {
            let Some(id) = session.and_then(sessions::id) else {
                return error(StatusCode::BAD_REQUEST, "a session's id is up to 16 hexadecimal digits");
            };
            match method {
                "POST" => told(body, |body| sessions::set(gate, who, id, body)).await,
                _ => json(&sessions::unset(gate, who, id)),
            }
        }
        ("POST" | "DELETE", "/api/v1/drain") => json(&operate::drain(gate, who, method == "POST")),
        ("GET", "/api/v1/reload") => json(&operate::difference(gate).await),
        ("POST", "/api/v1/reload") => given(operate::reload(gate, who).await),
        ("GET", "/api/v1/events") if head.method == Method::GET => listen(gate, listening, query),
        _ => match operations::methods(known) {
            none if none.is_empty() => {
                error(StatusCode::NOT_FOUND, "there are /metrics and what /api/v1/openapi.json lists")
            }
            methods => not_allowed(&methods),
        },
    }
}

fn listen(gate: &Rc<Gate>, listening: &Listening, query: &str) -> Answer {
    let samples = match query {
        "" | "samples=false" => false,
        "samples=true" => true,
        _ => return error(StatusCode::BAD_REQUEST, "only ?samples=true is known"),
    };
    let Some(listener) = gate.events.listen(samples) else {
        return error(StatusCode::SERVICE_UNAVAILABLE, "too many listen already; close one of them");
    };
    listening.replace(Some(Rc::clone(&listener)));
    answer::events(stream::Stream::new(gate, listener))
}

/// Reads what is to be done, and does it.
async fn told<T: serde::Serialize>(body: Incoming, act: impl FnOnce(&Bytes) -> Result<T, String>) -> Answer {
    match read(body).await {
        Some(body) => given(act(&body)),
        None => not_read(),
    }
}

async fn read(body: Incoming) -> Option<Bytes> {
    let read = timeout(HEADER_TIMEOUT, Limited::new(body, MAX_BODY_BYTES).collect());
    read.await.ok()?.ok().map(|body| body.to_bytes())
}

fn not_read() -> Answer {
    error(StatusCode::BAD_REQUEST, "the body did not arrive or is too large")
}

/// Of what may be asked for in a wrong way, and may not be known.
fn foreseen(result: Result<Result<impl serde::Serialize, String>, String>) -> Answer {
    match result {
        Ok(Err(why)) => error(StatusCode::SERVICE_UNAVAILABLE, &why),
        Ok(Ok(value)) => json(&value),
        Err(why) => error(StatusCode::BAD_REQUEST, &why),
    }
}

fn given(result: Result<impl serde::Serialize, String>) -> Answer {
    match result {
        Ok(value) => json(&value),
        Err(why) => error(StatusCode::BAD_REQUEST, &why),
    }
}
