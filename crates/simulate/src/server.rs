//! Servers behind the gate: a number of workers, and answers as the path asks for them.

use std::cell::Cell;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use gate::simulate::{Network, SimulatedStream};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::Semaphore;
use tokio::time::{Sleep, sleep};

use crate::executor::Local;
use crate::ledger::Ledger;
use crate::page::{Manner, Page};
use crate::scenario::Scenario;

/// Bytes of a chunk.
const CHUNK: usize = 1500;
/// Between two chunks.
const CHUNK_PAUSE: Duration = Duration::from_millis(20);
/// Connections that wait to be accepted.
const BACKLOG: usize = 128;
/// A worker that never answers is not held for longer than this, in the mean over any time that the gate waits.
const NEVER: Duration = Duration::from_secs(3600);

/// What all servers together have in hand.
#[derive(Debug, Default)]
pub struct Inside {
    now: Cell<u32>,
}

impl Inside {
    /// Requests inside the servers.
    pub fn now(&self) -> u32 {
        self.now.get()
    }
}

/// A request's presence in a server.
#[derive(Debug)]
struct Present(Rc<Inside>);

impl Present {
    fn new(inside: &Rc<Inside>) -> Self {
        inside.now.set(inside.now.get() + 1);
        Self(Rc::clone(inside))
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        self.0.now.set(self.0.now.get() - 1);
    }
}

/// Starts server number `index` on its address, for as long as the world lasts.
pub fn start(
    scenario: &Scenario,
    index: usize,
    network: &Arc<Network>,
    ledger: &Ledger,
    inside: &Rc<Inside>,
) {
    let address = SocketAddr::from(([10, 0, 1, index as u8 + 1], 80));
    let listener = network.listen(address, BACKLOG);
    let workers = Rc::new(Semaphore::new(scenario.workers));
    let (http2, ledger, inside) = (scenario.http2_upstream, ledger.clone(), Rc::clone(inside));
    tokio::task::spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (ledger, inside, workers) = (ledger.clone(), Rc::clone(&inside), Rc::clone(&workers));
            tokio::task::spawn_local(connection(stream, http2, move |request| {
                answer(index, request, ledger.clone(), Rc::clone(&inside), Rc::clone(&workers))
            }));
        }
    });
}

async fn connection<F>(stream: SimulatedStream, http2: bool, answer: impl Fn(Request<Incoming>) -> F)
where
    F: Future<Output = Result<Response<Answer>, Dropped>> + 'static,
{
    let service = service_fn(answer);
    // The day of the run is not the world's, and would change how long a head is.
    // An error ends this connection, and the other side has seen why.
    let _ = if http2 {
        let mut http = hyper::server::conn::http2::Builder::new(Local);
        http.auto_date_header(false).serve_connection(TokioIo::new(stream), service).await
    } else {
        let mut http = hyper::server::conn::http1::Builder::new();
        http.auto_date_header(false).serve_connection(TokioIo::new(stream), service).await
    };
}

/// The server closes the connection instead of answering.
#[derive(Debug)]
struct Dropped;

impl std::fmt::Display for Dropped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the server drops the connection")
    }
}

impl std::error::Error for Dropped {}

async fn answer(
    server: usize,
    request: Request<Incoming>,
    ledger: Ledger,
    inside: Rc<Inside>,
    workers: Rc<Semaphore>,
) -> Result<Response<Answer>, Dropped> {
    let Some(page) = Page::parse(request.uri().path()) else {
        // A health check, or a path that no client of the world asks for.
        let body = Answer::new(Page { id: 0, work: Duration::ZERO, size: 0, manner: Manner::Whole }, None);
        return Ok(Response::new(body));
    };
    let present = Present::new(&inside);
    ledger.serve(server, page);
    let body = request.into_body();
    if page.manner != Manner::Early && body.collect().await.is_err() {
        return Err(Dropped);
    }
    let _worker = workers.acquire().await;
    match page.manner {
        Manner::Never => sleep(NEVER).await,
        Manner::Nothing => return Err(Dropped),
        _ => sleep(page.work).await,
    }
    let mut response = Response::new(Answer::new(page, Some(present)));
    let id = HeaderValue::from(page.id);
    response.headers_mut().insert("page", id);
    if page.manner == Manner::Error {
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    }
    if page.manner != Manner::Chunks {
        response.headers_mut().insert(http::header::CONTENT_LENGTH, HeaderValue::from(page.size));
    }
    Ok(response)
}

/// The body of a page, in pieces.
#[derive(Debug)]
struct Answer {
    page: Page,
    body: Bytes,
    pause: Option<Pin<Box<Sleep>>>,
    present: Option<Present>,
}

impl Answer {
    fn new(page: Page, present: Option<Present>) -> Self {
        Self { body: page.body(), page, pause: None, present }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Dropped;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Dropped>>> {
        if let Some(pause) = &mut self.pause {
            let Poll::Ready(()) = pause.as_mut().poll(cx) else { return Poll::Pending };
            self.pause = None;
        }
        if self.body.is_empty() {
            self.present = None;
            return Poll::Ready(None);
        }
        let whole = self.page.manner != Manner::Chunks && self.page.manner != Manner::Cut;
        let length = if whole { self.body.len() } else { self.body.len().min(CHUNK) };
        if self.page.manner == Manner::Cut && self.body.len() <= self.page.size / 2 {
            return Poll::Ready(Some(Err(Dropped)));
        }
        let piece = self.body.split_to(length);
        if !whole {
            self.pause = Some(Box::pin(sleep(CHUNK_PAUSE)));
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_empty()
    }
}
