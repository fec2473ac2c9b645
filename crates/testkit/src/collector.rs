//! [`Collector`]: an OpenTelemetry collector.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use http1::fields::room;
use http1::request::{Framing, Head};
use serde_json::Value;

use crate::{Hostile, PATIENCE, poll_until};

/// Header lines of a request.
const MAX_LINES: usize = 50;

/// A collector that keeps what it gets, and answers with a status.
#[derive(Debug)]
pub struct Collector {
    server: Hostile,
    got: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Collector {
    /// Starts it; `status` is such as `200 OK`.
    pub fn start(status: &'static str) -> Self {
        let got = Arc::<Mutex<Vec<(String, Value)>>>::default();
        let server = Hostile::start({
            let got = Arc::clone(&got);
            move |stream, _| {
                let Some((path, body)) = request(stream) else { return };
                got.lock().unwrap_or_else(PoisonError::into_inner).push((path, body));
                let mut stream: &TcpStream = stream;
                let _ = write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\n{{}}");
            }
        });
        Self { server, got }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// What it got at a path so far, in order.
    pub fn got(&self, path: &str) -> Vec<Value> {
        let got = self.got.lock().unwrap_or_else(PoisonError::into_inner);
        got.iter().filter(|(at, _)| at == path).map(|(_, body)| body.clone()).collect()
    }

    /// All spans so far.
    pub fn spans(&self) -> Vec<Value> {
        let spans = |body: &Value| body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().cloned();
        self.got("/v1/traces").iter().flat_map(|body| spans(body).unwrap_or_default()).collect()
    }

    /// A metric of that name in what it got at `/v1/metrics`, latest first, that `is` what is looked for.
    #[track_caller]
    pub fn wait_for_metric(&self, name: &str, is: impl Fn(&Value) -> bool) -> (Value, Value) {
        let find = |body: &Value| {
            let metrics = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array()?;
            metrics.iter().find(|metric| metric["name"] == name && is(metric)).cloned()
        };
        self.wait_for(&format!("metric {name}"), |collector| {
            let bodies = collector.got("/v1/metrics");
            bodies.iter().rev().find_map(|body| Some((body.clone(), find(body)?)))
        })
    }

    /// Polls until there is what is looked for.
    #[track_caller]
    pub fn wait_for<T>(&self, what: &str, find: impl Fn(&Self) -> Option<T>) -> T {
        poll_until(PATIENCE, what, || find(self))
    }
}

fn request(mut stream: &TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    let (path, length) = loop {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        bytes.push(byte[0]);
        let mut room = room::<MAX_LINES>();
        if let Some(head) = Head::parse(&bytes, &mut room).expect("a request") {
            let Framing::Length(length) = head.meaning().expect("a sound request").framing else {
                return None;
            };
            break (head.path().to_owned(), length.try_into().ok()?);
        }
    };
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((path, serde_json::from_slice(&body).expect("JSON")))
}
