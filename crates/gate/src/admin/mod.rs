//! The admin interface: metrics for Prometheus, the state as JSON, and the operator's two knobs.
//!
//! It has a listener of its own, so it answers when clients' connections are used up.

mod knobs;
mod metrics;
mod state;
mod text;

use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::acceptor::PAUSE;
use crate::gate::Gate;

/// Operators and scrapers at once.
const CONNECTIONS: usize = 32;
/// A connection that lives longer has no honest use.
const LONGEST: Duration = Duration::from_secs(300);
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves the admin interface for as long as it is polled.
pub(crate) async fn serve(gate: Rc<Gate>, listener: TcpListener) {
    let places = Rc::new(Semaphore::new(CONNECTIONS));
    loop {
        let accepted = listener.accept().await;
        let Ok((socket, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Beyond that the connection is closed: an operator tries again, and nothing piles up.
        if places.available_permits() == 0 {
            continue;
        }
        let (gate, places) = (Rc::clone(&gate), Rc::clone(&places));
        tokio::task::spawn_local(async move {
            let Ok(_place) = places.try_acquire() else { return };
            let service = service_fn(move |request| answer(Rc::clone(&gate), request));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_TIMEOUT)
                .serve_connection(TokioIo::new(socket), service);
            // Errors are the client's doing.
            let _ = tokio::time::timeout(LONGEST, connection).await;
        });
    }
}

type Answer = Response<Full<Bytes>>;

async fn answer(gate: Rc<Gate>, request: Request<Incoming>) -> Result<Answer, Infallible> {
    let (head, body) = request.into_parts();
    let get = matches!(head.method, Method::GET | Method::HEAD);
    Ok(match head.uri.path() {
        "/metrics" if get => page("text/plain; version=0.0.4; charset=utf-8", metrics::metrics(&gate)),
        "/api/v1/state" if get => json(&state::State::of(&gate)),
        "/api/v1/knobs" if get => json(&knobs::current(&gate)),
        "/api/v1/knobs" if head.method == Method::PATCH => patch_knobs(&gate, body).await,
        "/api/v1/knobs" => not_allowed("GET, HEAD, PATCH"),
        "/metrics" | "/api/v1/state" => not_allowed("GET, HEAD"),
        _ => error(StatusCode::NOT_FOUND, "there are /metrics, /api/v1/state and /api/v1/knobs"),
    })
}

async fn patch_knobs(gate: &Gate, body: Incoming) -> Answer {
    const LARGEST: usize = 4096;
    let Ok(Ok(body)) = tokio::time::timeout(HEADER_TIMEOUT, Limited::new(body, LARGEST).collect()).await
    else {
        return error(StatusCode::BAD_REQUEST, "the body did not arrive or is too large");
    };
    match knobs::patch(gate, &body.to_bytes()) {
        Ok(knobs) => json(&knobs),
        Err(why) => error(StatusCode::BAD_REQUEST, &why),
    }
}

fn page(content_type: &'static str, body: String) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn json(value: &impl serde::Serialize) -> Answer {
    match serde_json::to_string(value) {
        Ok(text) => page("application/json", text + "\n"),
        Err(why) => error(StatusCode::INTERNAL_SERVER_ERROR, &why.to_string()),
    }
}

fn not_allowed(methods: &'static str) -> Answer {
    let mut response = error(StatusCode::METHOD_NOT_ALLOWED, &format!("use {methods}"));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}

fn error(status: StatusCode, why: &str) -> Answer {
    let mut response = page("application/json", serde_json::json!({ "error": why }).to_string() + "\n");
    *response.status_mut() = status;
    response
}
