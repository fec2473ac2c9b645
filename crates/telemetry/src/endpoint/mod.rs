//! [`Endpoint`]: a run's figures for Prometheus, while it lasts.

mod address;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener as Listener};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, io};

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

/// Where scrapers find the figures of a run, from when it [serves](Self::serve) until it is dropped.
#[derive(Debug)]
pub struct Endpoint {
    address: SocketAddr,
    work: Option<Work>,
    thread: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

/// What a scraper gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// For the header of that name.
    pub content_type: &'static str,
    /// The metrics.
    pub text: String,
}

type Scrape = dyn Fn() -> Result<Page, fmt::Error>;

#[derive(Debug)]
struct Work {
    listener: Listener,
    runtime: Runtime,
}

impl Endpoint {
    /// Takes the address. Before a run begins, so that it does not begin without.
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

    /// Where it is; the port that was taken, where 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers from now on with what `scrape` gives, from a thread of its own that does `prepare` first.
    pub fn serve(
        mut self,
        prepare: fn(),
        scrape: impl Fn() -> Result<Page, fmt::Error> + Send + 'static,
    ) -> Self {
        if let Some(Work { listener, runtime }) = self.work.take() {
            let (end, ended) = oneshot::channel();
            let thread = std::thread::Builder::new().name("prometheus".to_owned()).spawn(move || {
                prepare();
                let accepting = async {
                    // Only fails without a reactor, which the runtime has.
                    if let Ok(listener) = TcpListener::from_std(listener) {
                        accept(listener, Rc::new(scrape)).await;
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

async fn accept(listener: TcpListener, scrape: Rc<Scrape>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Beyond that the connection is closed: a scraper comes again, and nothing piles up.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let scrape = Rc::clone(&scrape);
        spawn_local(async move {
            serve_connection(socket, scrape).await;
            drop(place);
        });
    }
}

async fn serve_connection(socket: TcpStream, scrape: Rc<Scrape>) {
    let service = service_fn(move |request| {
        let scrape = Rc::clone(&scrape);
        async move { Ok::<_, Infallible>(answer(&*scrape, &request)) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(socket), service);
    // Errors are the scraper's doing.
    let _ = tokio::time::timeout(LONGEST, connection).await;
}

type Answer = Response<Full<Bytes>>;

fn answer(scrape: &Scrape, request: &Request<Incoming>) -> Answer {
    let get = matches!(*request.method(), Method::GET | Method::HEAD);
    match (request.uri().path(), get) {
        ("/metrics", true) => match scrape() {
            Ok(Page { content_type, text }) => page(StatusCode::OK, content_type, text),
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
