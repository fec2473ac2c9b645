//! [`Endpoint`]: the run's figures for Prometheus, while it lasts.

mod address;
mod metrics;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener as Listener};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::{LocalSet, spawn_local};

pub use self::address::{MetricsAddress, MetricsAddressError};
use self::metrics::Metrics;
use super::glance::{Glance, Setting};
use crate::priority::give_way;

/// Scrapers at once.
const CONNECTIONS: usize = 16;
/// A scraper that comes every minute keeps its connection; a connection that lives longer is none's.
const LONGEST: Duration = Duration::from_secs(300);
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
/// After the kernel had no connection to give.
const PAUSE: Duration = Duration::from_millis(100);

/// Why there is no endpoint.
#[derive(Debug, thiserror::Error)]
#[error("cannot serve metrics on {address}: {why}; choose another address with --prometheus")]
pub struct EndpointError {
    address: SocketAddr,
    why: io::Error,
}

/// Where scrapers find the figures of a run.
#[derive(Debug)]
pub(crate) struct Endpoint {
    address: SocketAddr,
    board: Board,
    work: Option<Work>,
    thread: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

/// The last look, for whoever asks.
type Board = Arc<Mutex<Option<Arc<Glance>>>>;

#[derive(Debug)]
struct Work {
    listener: Listener,
    runtime: Runtime,
}

impl Endpoint {
    /// Takes the address. Before a run begins, so that it does not begin without.
    pub(crate) fn bind(address: MetricsAddress) -> Result<Self, EndpointError> {
        let address = address.get();
        let bind = || {
            let listener = Listener::bind(address)?;
            listener.set_nonblocking(true)?;
            let runtime = Builder::new_current_thread().enable_all().build()?;
            Ok((listener.local_addr()?, Work { listener, runtime }))
        };
        let (address, work) = bind().map_err(|why| EndpointError { address, why })?;
        Ok(Self { address, board: Board::default(), work: Some(work), thread: None })
    }

    /// Where it is; the port that was taken, where 0 was asked for.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers from now on, from a thread of its own, until it is dropped.
    pub(super) fn serve(mut self, setting: Setting) -> Self {
        if let Some(Work { listener, runtime }) = self.work.take() {
            let metrics = Metrics::new(setting, Arc::clone(&self.board));
            let (end, ended) = oneshot::channel();
            let thread = std::thread::Builder::new().name("prometheus".to_owned()).spawn(move || {
                give_way();
                let accepting = async {
                    // Only fails without a reactor, which the runtime has.
                    if let Ok(listener) = TcpListener::from_std(listener) {
                        accept(listener, Rc::new(metrics)).await;
                    }
                };
                runtime.block_on(LocalSet::new().run_until(async {
                    tokio::select! {
                        () = accepting => {}
                        // Told to end, or left behind: both are the end.
                        _ = ended => {}
                    }
                }));
            });
            self.thread = thread.ok().map(|thread| (end, thread));
        }
        self
    }

    pub(super) fn see(&self, glance: Arc<Glance>) {
        *self.board.lock().unwrap_or_else(PoisonError::into_inner) = Some(glance);
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.thread.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, metrics: Rc<Metrics>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Beyond that the connection is closed: a scraper comes again, and nothing piles up.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let metrics = Rc::clone(&metrics);
        spawn_local(async move {
            serve_connection(socket, metrics).await;
            drop(place);
        });
    }
}

async fn serve_connection(socket: TcpStream, metrics: Rc<Metrics>) {
    let service = service_fn(move |request| {
        let metrics = Rc::clone(&metrics);
        async move { Ok::<_, Infallible>(answer(&metrics, &request)) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(socket), service);
    // Errors are the scraper's doing.
    let _ = tokio::time::timeout(LONGEST, connection).await;
}

type Answer = Response<Full<Bytes>>;

fn answer(metrics: &Metrics, request: &Request<Incoming>) -> Answer {
    let get = matches!(*request.method(), Method::GET | Method::HEAD);
    match (request.uri().path(), get) {
        ("/metrics", true) => match metrics.text() {
            Ok(text) => page(StatusCode::OK, metrics::CONTENT_TYPE, text),
            Err(why) => page(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", format!("{why}\n")),
        },
        ("/metrics", false) => {
            let mut refusal =
                page(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "use GET or HEAD\n".to_owned());
            refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            refusal
        }
        _ => page(StatusCode::NOT_FOUND, "text/plain", "there is /metrics\n".to_owned()),
    }
}

fn page(status: StatusCode, content_type: &'static str, text: String) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
