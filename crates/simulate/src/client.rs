//! Clients of several manners, each a task that lives for one visit.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gate::simulate::{Network, SimulatedStream};
use http::header::{COOKIE, HOST, SET_COOKIE};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{sleep, timeout};

use crate::answer::Answer;
use crate::draw::Draw;
use crate::executor::Local;
use crate::ledger::{Ended, Ledger, Repeats};
use crate::page::{Manner, Page};
use crate::scenario::{Manners, Scenario};

/// Where the gate listens.
pub const GATE: ([u8; 4], u16) = ([10, 0, 0, 1], 80);

/// All stages, the server's timeout and the slowest transfer together take less than this. A client that has waited for so
/// long has been forgotten.
const MAX_WAIT: Duration = Duration::from_secs(45 * 60);
/// Pages of a visit.
const MAX_PAGES: u64 = 8;
/// Streams at once on a connection.
const MAX_STREAMS: u64 = 7;
/// Bytes of a body that is sent, and of one that is asked for.
const MAX_SENT: u64 = 100_000;
const MAX_SIZE: f64 = 300_000.0;

type Body = BoxBody<Bytes, std::convert::Infallible>;

/// One visit.
#[derive(Debug)]
pub struct Client {
    scenario: Rc<Scenario>,
    network: Arc<Network>,
    ledger: Ledger,
    draw: Draw,
    from: SocketAddr,
    premium: bool,
    session: Option<String>,
}

/// A page that has been asked for.
#[derive(Debug, Clone, Copy)]
struct Asked {
    page: Page,
    /// The connection had carried a request before.
    reused: bool,
}

impl Client {
    /// Client number `number` of a world.
    pub fn new(number: u64, scenario: &Rc<Scenario>, network: &Arc<Network>, ledger: &Ledger) -> Self {
        let mut draw = Draw::new(scenario.seed, number + 1000);
        let from = SocketAddr::from(([10, 1, (number >> 8) as u8, number as u8], 0));
        let premium = draw.happens(0.2);
        Self {
            scenario: Rc::clone(scenario),
            network: Arc::clone(network),
            ledger: ledger.clone(),
            draw,
            from,
            premium,
            session: None,
        }
    }

    /// Does what it came for.
    pub async fn visit(mut self) {
        let manners = self.draw.choose(&self.scenario.manners_of_clients);
        self.ledger.trace().line(format_args!("{} comes: {manners:?}", self.from.ip()));
        match manners {
            Manners::Visitor | Manners::Uploader | Manners::SlowReader => self.one_by_one(manners).await,
            Manners::Multiplexing => self.multiplexing().await,
            Manners::Pipelining => self.pipelining().await,
            Manners::Impatient => self.impatient().await,
            Manners::SlowHead => self.slow_head().await,
            Manners::Garbage => self.garbage().await,
        }
    }

    async fn connect(&self) -> Option<SimulatedStream> {
        self.network.connect(self.from, GATE.into()).await.ok()
    }

    fn page(&mut self, repeats: Repeats) -> Page {
        let page = Page {
            id: 0,
            work: self.draw.span(self.scenario.work).min(self.scenario.max_work()),
            size: self.draw.spread(1.0, MAX_SIZE) as usize,
            manner: self.draw.choose(&self.scenario.manners_of_servers),
        };
        let page = self.ledger.begin(page, repeats);
        self.ledger.trace().line(format_args!("{} asks {}", self.from.ip(), page.path()));
        page
    }

    fn request(&self, method: &str, page: Page, body: Body) -> Option<Request<Body>> {
        let mut cookies = self.session.clone().unwrap_or_default();
        if self.premium {
            cookies = if cookies.is_empty() {
                "tier=premium".to_owned()
            } else {
                format!("{cookies}; tier=premium")
            };
        }
        let mut request = Request::builder().method(method).uri(page.path()).header(HOST, "shop.example");
        if !cookies.is_empty() {
            request = request.header(COOKIE, cookies);
        }
        request.body(body).ok()
    }

    fn keep_session(&mut self, headers: &HeaderMap) {
        for cookie in headers.get_all(SET_COOKIE) {
            let Ok(cookie) = cookie.to_str() else { continue };
            if cookie.starts_with("headworks=") {
                self.session = cookie.split(';').next().map(str::to_owned);
            }
        }
    }

    /// Pages one after the other, on a connection that is kept.
    async fn one_by_one(&mut self, manners: Manners) {
        let mut connection: Option<http1::SendRequest<Body>> = None;
        for _ in 0..self.draw.number(1..MAX_PAGES) {
            sleep(self.draw.span(self.scenario.pause)).await;
            let reused = connection.as_ref().is_some_and(http1::SendRequest::is_ready);
            if !reused {
                let Some(stream) = self.connect().await else { return };
                let Ok((sender, driver)) = http1::handshake(TokioIo::new(stream)).await else { return };
                tokio::task::spawn_local(driver);
                connection = Some(sender);
            }
            let Some(sender) = &mut connection else { return };
            let upload = manners == Manners::Uploader;
            let page = self.page(if upload { Repeats::Forbidden } else { Repeats::Allowed });
            let (method, body) = if upload { ("POST", self.body()) } else { ("GET", nothing()) };
            let Some(request) = self.request(method, page, body) else { return };
            let asked = Asked { page, reused };
            let answered = timeout(MAX_WAIT, sender.send_request(request)).await;
            if !self.settle(asked, answered.map_err(drop), manners).await {
                return;
            }
        }
    }

    /// What became of a request that was sent; whether the visit goes on.
    async fn settle(
        &mut self,
        asked: Asked,
        answered: Result<hyper::Result<Response<Incoming>>, ()>,
        manners: Manners,
    ) -> bool {
        let id = asked.page.id;
        let response = match answered {
            Err(()) => {
                self.forgotten(id);
                return false;
            }
            Ok(Err(_)) => {
                self.ledger.end(id, Ended::Unanswered { reused: asked.reused });
                return false;
            }
            Ok(Ok(response)) => response,
        };
        self.keep_session(response.headers());
        let (status, named) = (response.status(), response.headers().get("page").cloned());
        let body = read(response.into_body(), manners == Manners::SlowReader);
        let Ok(body) = timeout(MAX_WAIT, body).await else {
            self.forgotten(id);
            return false;
        };
        let Some(body) = body else {
            // A client that reads slowly makes room when connections run short.
            let ended = if manners == Manners::SlowReader { Ended::Left } else { Ended::Broken };
            self.ledger.end(id, ended);
            return false;
        };
        self.compare(asked.page, status, named.as_ref().map(http::HeaderValue::as_bytes), &body);
        self.ledger.end(id, Ended::Answered { status: status.as_u16() });
        status == StatusCode::OK
    }

    /// A response of a server has to be that of this request, to the last byte.
    fn compare(&self, page: Page, status: StatusCode, named: Option<&[u8]>, body: &[u8]) {
        if !matches!(status.as_u16(), 200 | 500) {
            return;
        }
        if named != Some(page.id.to_string().as_bytes()) {
            self.ledger.find(format!("request {} got the answer to {named:?}", page.id));
        } else if body.len() != page.size {
            self.ledger.find(format!(
                "request {} got {} of {} bytes as a whole",
                page.id,
                body.len(),
                page.size
            ));
        } else if !page.is_body(body) {
            self.ledger.find(format!("request {} got other bytes than its server sent", page.id));
        }
    }

    fn forgotten(&self, id: u64) {
        self.ledger.end(id, Ended::Left);
        if self.scenario.faults.silences == 0.0 {
            self.ledger
                .find(format!("request {id} has had no answer for {} minutes", MAX_WAIT.as_secs() / 60));
        }
    }

    fn body(&mut self) -> Body {
        let size = self.draw.number(1..MAX_SENT) as usize;
        Full::new(vec![b'b'; size].into()).boxed()
    }

    /// Pages over HTTP/2, several at once.
    async fn multiplexing(&mut self) {
        let Some(stream) = self.connect().await else { return };
        let Ok((sender, driver)) = http2::handshake(Local, TokioIo::new(stream)).await else { return };
        tokio::task::spawn_local(driver);
        for round in 0..self.draw.number(1..4) {
            sleep(self.draw.span(self.scenario.pause)).await;
            let mut asked = Vec::new();
            for _ in 0..self.draw.number(1..MAX_STREAMS) {
                let page = self.page(Repeats::Allowed);
                let Some(request) = self.request("GET", page, nothing()) else { return };
                let (parts, body) = request.into_parts();
                let mut request = Request::from_parts(parts, body);
                let Ok(uri) = format!("http://shop.example{}", page.path()).parse() else { return };
                *request.uri_mut() = uri;
                request.headers_mut().remove(HOST);
                let mut sender = sender.clone();
                let answer = tokio::task::spawn_local(async move { sender.send_request(request).await });
                asked.push((page, answer));
            }
            for (page, answer) in asked {
                let answered = timeout(MAX_WAIT, answer).await.map_err(drop);
                let Ok(answered) = answered.map(Result::ok).transpose().unwrap_or(Err(())) else {
                    self.forgotten(page.id);
                    continue;
                };
                self.settle(Asked { page, reused: round > 0 }, Ok(answered), Manners::Multiplexing).await;
            }
        }
    }

    /// Several requests before the first answer, whose answers have to come in order.
    async fn pipelining(&mut self) {
        let Some(mut stream) = self.connect().await else { return };
        let pages: Vec<_> = (0..self.draw.number(2..6))
            .map(|_| Page { manner: Manner::Whole, ..self.page(Repeats::Allowed) })
            .collect();
        let last = pages.len() - 1;
        let mut text = String::new();
        for (index, page) in pages.iter().enumerate() {
            let close = if index == last { "Connection: close\r\n" } else { "" };
            text += &format!("GET {} HTTP/1.1\r\nHost: shop.example\r\n{close}\r\n", page.path());
        }
        let sent = stream.write_all(text.as_bytes()).await.is_ok();
        let mut bytes = Vec::new();
        let whole = timeout(MAX_WAIT, stream.read_to_end(&mut bytes)).await;
        if whole.is_err() {
            pages.iter().for_each(|page| self.forgotten(page.id));
            return;
        }
        let mut rest = bytes.as_slice();
        for page in pages {
            match Answer::take(&mut rest) {
                Some(answer) if sent => {
                    self.compare(page, answer.status, answer.page.as_deref(), &answer.body);
                    self.ledger.end(page.id, Ended::Answered { status: answer.status.as_u16() });
                }
                _ => self.ledger.end(page.id, Ended::Unanswered { reused: true }),
            }
        }
    }

    /// Leaves before its answer has come, or in the middle of it.
    async fn impatient(&mut self) {
        let Some(mut stream) = self.connect().await else { return };
        let page = self.page(Repeats::Allowed);
        let text = format!("GET {} HTTP/1.1\r\nHost: shop.example\r\n\r\n", page.path());
        let _ = stream.write_all(text.as_bytes()).await;
        if self.draw.happens(0.5) {
            let _ = stream.shutdown().await;
        }
        let wait = self.draw.span(self.scenario.work);
        let mut some = [0; 1024];
        let _ = timeout(wait, stream.read(&mut some)).await;
        self.ledger.end(page.id, Ended::Left);
    }

    /// Sends its head a few bytes at a time, and perhaps not all of it.
    async fn slow_head(&mut self) {
        let Some(mut stream) = self.connect().await else { return };
        let head =
            "GET /slow HTTP/1.1\r\nHost: shop.example\r\nX-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n";
        let stop = self.draw.number(1..head.len() as u64 + 1) as usize;
        let pause = Duration::from_millis(self.draw.spread(10.0, 20_000.0) as u64);
        for byte in head.as_bytes().iter().take(stop) {
            if stream.write_all(&[*byte]).await.is_err() {
                return;
            }
            sleep(pause).await;
        }
        self.until_closed(stream, "a head that never ends").await;
    }

    /// Sends bytes that are not HTTP.
    async fn garbage(&mut self) {
        let Some(mut stream) = self.connect().await else { return };
        let length = self.draw.number(1..5000) as usize;
        let bytes: Vec<u8> = (0..length).map(|_| self.draw.number(0..256) as u8).collect();
        if stream.write_all(&bytes).await.is_ok() {
            self.until_closed(stream, "garbage").await;
        }
    }

    /// The gate has to close a connection on which nothing comes that it could answer.
    async fn until_closed(&self, mut stream: SimulatedStream, why: &str) {
        let mut bytes = Vec::new();
        let closed = timeout(MAX_WAIT, stream.read_to_end(&mut bytes)).await.is_ok();
        if !closed && self.scenario.faults.silences == 0.0 {
            self.ledger
                .find(format!("a connection with {why} is open after {} minutes", MAX_WAIT.as_secs() / 60));
        }
    }
}

fn nothing() -> Body {
    Empty::new().boxed()
}

/// The body as a whole, unless it breaks off.
async fn read(mut body: Incoming, slowly: bool) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Some(data) = frame.ok()?.data_ref() {
            bytes.extend_from_slice(data);
        }
        if slowly {
            sleep(Duration::from_millis(500)).await;
        }
    }
    Some(bytes)
}
