//! [`Client`]: requests to a gate, and its answers.

use std::error::Error as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::time::timeout;

use super::listening::Listening;
use super::way::Way;
use crate::api;
use crate::fault::Fault;
use crate::place::{Far, Place, Ssh};
use crate::text::clean;

/// Of an answer. An hour of samples of a gate with ten classes has some 10 MB.
const MAX_BODY: usize = 32 << 20;
/// What a gate needs for an answer that it has at hand, across the world and back.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// A prediction takes up to 25 s there, and one that another operator has asked for is made before.
const FORESIGHT_TIMEOUT: Duration = Duration::from_secs(60);
/// What came of sessions is looked up among all that a gate remembers.
const OUTCOME_TIMEOUT: Duration = Duration::from_secs(30);
/// The user may have to type a password, or to look at the fingerprint of a host.
const SSH_TIMEOUT: Duration = Duration::from_secs(120);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections without a request that are kept.
const MAX_IDLE: usize = 2;

/// What a gate wants to see.
#[derive(Clone)]
pub struct Token(HeaderValue);

/// Why a text is not a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrongToken {
    /// Nothing but white space.
    #[error("is empty")]
    Empty,
    /// White space inside, as in a line of the gate's own token-file.
    #[error("has more than one word; it should have the token alone, without its name")]
    Words,
    /// What no token has.
    #[error("has characters that are in no token")]
    Characters,
}

impl Token {
    /// Reads a token, with white space around it.
    pub fn new(text: &str) -> Result<Self, WrongToken> {
        let text = text.trim();
        if text.is_empty() {
            return Err(WrongToken::Empty);
        }
        if text.contains(char::is_whitespace) {
            return Err(WrongToken::Words);
        }
        if !text.chars().all(|letter| letter.is_ascii_graphic()) {
            return Err(WrongToken::Characters);
        }
        let mut value =
            HeaderValue::try_from(format!("Bearer {text}")).map_err(|_| WrongToken::Characters)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

type Sender = SendRequest<Full<Bytes>>;

/// Requests to one gate.
#[derive(Debug)]
pub struct Client {
    place: Place,
    way: Way,
    host: String,
    token: Option<Token>,
    idle: Mutex<Vec<Sender>>,
}

/// Whether a request that failed can be sent again: it met a connection that had been kept too long.
struct Failed {
    fault: Fault,
    again: bool,
}

impl Client {
    /// A client of the gate at a place; nothing is sent yet.
    pub fn new(place: Place, token: Option<Token>) -> Self {
        let (way, host) = (Way::to(&place), place.host());
        Self { place, way, host, token, idle: Mutex::default() }
    }

    /// Where the gate is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// From now on no program may ask the user for anything: the terminal is taken.
    pub(crate) fn be_quiet(&self) {
        self.way.be_quiet();
    }

    /// The body of a successful answer.
    pub(crate) async fn get(&self, path: &str) -> Result<Bytes, Fault> {
        self.ask(&Method::GET, path, None, ANSWER_TIMEOUT).await
    }

    /// Changes something.
    pub(crate) async fn change(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Bytes, Fault> {
        self.ask(method, path, body, ANSWER_TIMEOUT).await
    }

    /// Asks what would be.
    pub(crate) async fn foresee(&self, body: &Value) -> Result<Bytes, Fault> {
        self.ask(&Method::POST, "/api/v1/foresight", Some(body), FORESIGHT_TIMEOUT).await
    }

    /// Asks what came of the sessions that began since then, Unix seconds.
    pub(crate) async fn outcome(&self, since: f64) -> Result<Bytes, Fault> {
        self.ask(&Method::GET, &format!("/api/v1/outcome?since={since:.3}"), None, OUTCOME_TIMEOUT).await
    }

    /// Listens to events.
    pub(crate) async fn listen(&self, path: &str) -> Result<Listening, Fault> {
        let sender = self.connect().await?;
        let request = self.request(&Method::GET, path, None);
        let sent = timeout(ANSWER_TIMEOUT, self.send(sender, request)).await;
        let (response, sender) =
            sent.map_err(|_| self.silent(ANSWER_TIMEOUT))?.map_err(|failed| failed.fault)?;
        if response.status() != StatusCode::OK {
            let (status, body) = (response.status(), self.body(response).await?);
            return Err(self.refusal(status, &body));
        }
        Ok(Listening::new(response.into_body(), sender, self.place.to_string()))
    }

    async fn ask(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<Bytes, Fault> {
        // All that is asked of a gate can be asked twice: changes say what is to be, not by how much.
        let kept = self.kept();
        let is_kept = kept.is_some();
        match self.ask_over(kept, method, path, body, limit).await {
            Err(Failed { again: true, .. }) if is_kept => {
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
                self.ask_over(None, method, path, body, limit).await.map_err(|failed| failed.fault)
            }
            answer => answer.map_err(|failed| failed.fault),
        }
    }

    async fn ask_over(
        &self,
        kept: Option<Sender>,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<Bytes, Failed> {
        let settled = |fault| Failed { fault, again: false };
        let sender = match kept {
            Some(sender) => sender,
            None => self.connect().await.map_err(settled)?,
        };
        let exchange = async {
            let (response, sender) = self.send(sender, self.request(method, path, body)).await?;
            let (status, body) = (response.status(), self.body(response).await.map_err(settled)?);
            self.keep(sender);
            if status.is_success() { Ok(body) } else { Err(settled(self.refusal(status, &body))) }
        };
        timeout(limit, exchange).await.unwrap_or_else(|_| Err(settled(self.silent(limit))))
    }

    fn request(&self, method: &Method, path: &str, body: Option<&Value>) -> Request<Full<Bytes>> {
        let bytes = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let mut request = Request::new(Full::new(bytes));
        *request.method_mut() = method.clone();
        *request.uri_mut() = path.parse().unwrap_or_default();
        let headers = request.headers_mut();
        if let Ok(host) = HeaderValue::from_str(&self.host) {
            headers.insert(HOST, host);
        }
        headers.insert(USER_AGENT, HeaderValue::from_static("headworks-top"));
        if let Some(Token(token)) = &self.token {
            headers.insert(AUTHORIZATION, token.clone());
        }
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        request
    }

    fn kept(&self) -> Option<Sender> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|sender| !sender.is_closed());
        idle.pop()
    }

    fn keep(&self, sender: Sender) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE && !sender.is_closed() {
            idle.push(sender);
        }
    }

    async fn connect(&self) -> Result<Sender, Fault> {
        let limit = if matches!(self.way, Way::Ssh(_)) { SSH_TIMEOUT } else { CONNECT_TIMEOUT };
        let wire = timeout(limit, self.way.connect()).await;
        let wire =
            wire.map_err(|_| self.unreachable(&format!("no connection within {} s", limit.as_secs())))?;
        let wire = wire.map_err(|why| self.unreachable(&why.to_string()))?;
        let (sender, connection) =
            http1::handshake(TokioIo::new(wire)).await.map_err(|why| self.broken(&why))?;
        tokio::spawn(connection);
        Ok(sender)
    }

    async fn send(
        &self,
        mut sender: Sender,
        request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, Sender), Failed> {
        // It may have been closed meanwhile, and may have said so only now.
        let ready = sender.ready().await;
        let answer = match ready {
            Ok(()) => sender.send_request(request).await,
            Err(why) => Err(why),
        };
        match answer {
            Ok(response) => Ok((response, sender)),
            Err(why) => Err(Failed { again: !why.is_parse(), fault: self.broken(&why) }),
        }
    }

    async fn body(&self, response: Response<Incoming>) -> Result<Bytes, Fault> {
        let body = Limited::new(response.into_body(), MAX_BODY).collect().await;
        body.map(|body| body.to_bytes()).map_err(|why| {
            if why.is::<LengthLimitError>() {
                self.no_gate("its answer has no end")
            } else {
                Fault::Broken { place: self.place.to_string(), why: clean(&why.to_string()) }
            }
        })
    }

    fn refusal(&self, status: StatusCode, body: &[u8]) -> Fault {
        let place = self.place.to_string();
        let said: Option<Value> = api::read(body).ok();
        let Some(why) = said.as_ref().and_then(|said| said["error"].as_str()) else {
            return self.no_gate(&format!("it answers {status}"));
        };
        let why = why.to_owned();
        match status {
            StatusCode::UNAUTHORIZED => Fault::Unauthorized { place, why },
            StatusCode::FORBIDDEN => Fault::Forbidden { place, why },
            _ => Fault::Refused { status: status.as_u16(), why },
        }
    }

    pub(crate) fn no_gate(&self, why: &str) -> Fault {
        Fault::NoGate { place: self.place.to_string(), why: why.to_owned() }
    }

    fn unreachable(&self, why: &str) -> Fault {
        Fault::Unreachable { place: self.place.to_string(), why: clean(why) }
    }

    fn silent(&self, limit: Duration) -> Fault {
        Fault::Silent { place: self.place.to_string(), limit }
    }

    fn broken(&self, why: &hyper::Error) -> Fault {
        if why.is_parse() {
            return self.no_gate(&format!("what it says is not HTTP ({why})"));
        }
        let cause = why.source().map_or_else(|| why.to_string(), ToString::to_string);
        // ssh is started whether it leads anywhere or not.
        if cause.starts_with("ssh") {
            return self.unreachable(&cause);
        }
        // The same where ssh leads to a socket: it takes a connection before it knows whether the far side does.
        if let Place::Ssh(Ssh { admin: Far::Unix(path), .. }) = &self.place {
            return self.unreachable(&format!("ssh leads there, and {path} does not answer ({cause})"));
        }
        Fault::Broken { place: self.place.to_string(), why: clean(&cause) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_one_word_and_is_not_shown() {
        assert!(Token::new(" 0123456789abcdef\n").is_ok());
        for (text, expected) in [
            (" \n", WrongToken::Empty),
            ("ops 0123456789abcdef", WrongToken::Words),
            ("a\nb", WrongToken::Words),
            ("caf\u{e9}", WrongToken::Characters),
            ("a\u{1b}b", WrongToken::Characters),
        ] {
            assert_eq!(Token::new(text).map(drop), Err(expected), "{text:?}");
        }
        let client = Client::new(Place::default(), Token::new("0123456789abcdef").ok());
        assert!(!format!("{client:?}").contains("0123456789"), "{client:?}");
    }
}
