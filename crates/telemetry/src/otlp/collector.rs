//! [`Collector`]: the address of an OpenTelemetry collector, and the way to send to it.

use std::fmt;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::uri::Authority;
use http::{HeaderValue, Request};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// For the collector to take a request.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// An OpenTelemetry collector, as `http://host:port` and a path in front of `/v1/metrics`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector {
    /// Host and port.
    address: String,
    /// The path in front of `/v1/metrics` and `/v1/traces`.
    prefix: String,
}

impl Collector {
    /// `None` when `endpoint` is not the address of a collector: it needs `http://`, a host and a port.
    ///
    /// ```
    /// let collector = telemetry::otlp::Collector::at("http://127.0.0.1:4318/otlp/").unwrap();
    /// assert_eq!(collector.to_string(), "http://127.0.0.1:4318/otlp");
    /// assert!(telemetry::otlp::Collector::at("https://127.0.0.1:4318").is_none());
    /// ```
    pub fn at(endpoint: &str) -> Option<Self> {
        let plain = endpoint.strip_prefix("http://")?;
        let (address, path) = plain.split_at(plain.find('/').unwrap_or(plain.len()));
        address.parse::<Authority>().ok()?.port_u16()?;
        let prefix = path.trim_end_matches('/').to_owned();
        prefix.bytes().all(|byte| byte.is_ascii_graphic()).then_some(())?;
        Some(Self { address: address.to_owned(), prefix })
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Sends `body` to `/v1/metrics` or `/v1/traces`, and waits for the answer a while.
    ///
    /// # Errors
    /// Why the collector did not take it.
    pub async fn send(&self, path: &str, body: &Value) -> Result<(), String> {
        let sent = tokio::time::timeout(ANSWER_TIMEOUT, self.post(path, body)).await;
        sent.unwrap_or_else(|_| Err("it did not answer in time".to_owned()))
    }

    async fn post(&self, path: &str, body: &Value) -> Result<(), String> {
        /// Bytes of an answer that are read: more than a collector sends.
        const MAX_BODY: usize = 64 * 1024;
        let said = |why: &dyn fmt::Display| why.to_string();
        let Self { address, prefix } = self;
        let socket = TcpStream::connect(address).await.map_err(|why| said(&why))?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(socket)).await.map_err(|why| said(&why))?;
        let request = Request::post(format!("{prefix}{path}"))
            .header(HOST, address)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(Full::new(Bytes::from(body.to_string())))
            .map_err(|why| said(&why))?;
        let asking = async {
            let response = sender.send_request(request).await.map_err(|why| said(&why))?;
            let status = response.status();
            // The answer is read, or the collector would see a connection that breaks off.
            let _ = Limited::new(response.into_body(), MAX_BODY).collect().await;
            if status.is_success() { Ok(()) } else { Err(format!("it answers {status}")) }
        };
        let mut asking = pin!(asking);
        tokio::select! {
            biased;
            answered = &mut asking => answered,
            // The request fails as well when the connection does; or an answer has come before.
            _ = connection => asking.await,
        }
    }
}

impl fmt::Display for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.address, self.prefix)
    }
}
