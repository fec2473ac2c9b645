//! [`Endpoint`]: an HTTP server that gives scrapers the metrics of a run while it lasts.

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener as Listener};
use std::rc::Rc;
use std::sync::Arc;
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

use crate::{Format, Metrics, MetricsAddress};

/// Scrapers at once.
const MAX_CONNECTIONS: usize = 16;
/// Life of a connection: longer than the pauses of a scraper that comes every minute and keeps its connection.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(300);
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
/// Before another connection is accepted, when the kernel had none to give.
const PAUSE: Duration = Duration::from_millis(100);

/// Why there is no endpoint.
#[derive(Debug, thiserror::Error)]
#[error("cannot serve metrics on {address}: {why}; choose another address with --prometheus")]
pub struct EndpointError {
    address: SocketAddr,
    why: io::Error,
}

/// The HTTP server of a run's metrics, from when it [serves](Self::serve) until it is dropped.
#[derive(Debug)]
pub struct Endpoint {
    address: SocketAddr,
    work: Option<Work>,
    thread: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

/// What is done for a scrape.
type Gather = dyn Fn() -> Metrics;

#[derive(Debug)]
struct Work {
    listener: Listener,
    runtime: Runtime,
}

impl Endpoint {
    /// Takes the address: before a run begins, so that a run whose metrics cannot be served does not begin.
    ///
    /// # Errors
    /// When it cannot be had.
    pub fn bind(address: MetricsAddress) -> Result<Self, EndpointError> {
        let address = address.get();
        let bind = || {
            let listener = Listener::bind(address)?;
            listener.set_nonblocking(true)?;
            let runtime = Builder::new_current_thread().enable_all().build()?;
            Ok((listener.local_addr()?, Work { listener, runtime }))
        };
        let (address, work) = bind().map_err(|why| EndpointError { address, why })?;
        Ok(Self { address, work: Some(work), thread: None })
    }

    /// The address it listens on, with the port that was taken where 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers scrapers from now on, in `format`, with what `gather` gives at each scrape, from a thread of its own
    /// that does `prepare` first.
    pub fn serve(
        mut self,
        format: Format,
        prepare: fn(),
        gather: impl Fn() -> Metrics + Send + 'static,
    ) -> Self {
        if let Some(Work { listener, runtime }) = self.work.take() {
            let (end, ended) = oneshot::channel();
            let thread = std::thread::Builder::new().name("prometheus".to_owned()).spawn(move || {
                prepare();
                let accepting = async {
                    // Only fails without a reactor, which the runtime has.
                    if let Ok(listener) = TcpListener::from_std(listener) {
                        accept(listener, format, Rc::new(gather)).await;
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
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.thread.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, format: Format, gather: Rc<Gather>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Beyond that the connection is closed: a scraper comes again, and nothing piles up.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let gather = Rc::clone(&gather);
        spawn_local(async move {
            serve_connection(socket, format, gather).await;
            drop(place);
        });
    }
}

async fn serve_connection(socket: TcpStream, format: Format, gather: Rc<Gather>) {
    let service = service_fn(move |request| {
        let gather = Rc::clone(&gather);
        async move { Ok::<_, Infallible>(answer(format, &*gather, &request)) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(socket), service);
    // Errors are caused by the scraper.
    let _ = tokio::time::timeout(CONNECTION_TIMEOUT, connection).await;
}

type Answer = Response<Full<Bytes>>;

fn answer(format: Format, gather: &Gather, request: &Request<Incoming>) -> Answer {
    let get = matches!(*request.method(), Method::GET | Method::HEAD);
    match (request.uri().path(), get) {
        ("/metrics", true) => page(StatusCode::OK, format.content_type(), gather().text(format)),
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
