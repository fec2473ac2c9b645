//! [`Entry`]: what became of one request, collected on its way.

use std::net::{IpAddr, SocketAddr};

use http::request::Parts;
use http::{Method, StatusCode, Version, header};
use units::{SessionId, Time};

use crate::admission::decision::DecisionDetails;
use crate::observe::trace::context::Trace;

/// Entries, and how far the wall clock is ahead of the gate's in nanoseconds.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) entries: Vec<Entry>,
    pub(crate) offset: i128,
}

/// What became of one request. It leaves the gate's thread, so nothing in it is shared with that.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) client: IpAddr,
    pub(crate) method: Method,
    /// With the query.
    pub(crate) path: Box<str>,
    pub(crate) host: Option<Box<str>>,
    pub(crate) version: Version,
    pub(crate) session: Option<Visitor>,
    pub(crate) details: Option<DecisionDetails>,
    /// Where it was sent, the last time if it was sent again.
    pub(crate) upstream: Option<SocketAddr>,
    /// Why there was no response from there.
    pub(crate) failure: Option<&'static str>,
    /// What is wrong with the request itself.
    pub(crate) malformed: Option<&'static str>,
    /// Why the gate has ended it before its response had gone.
    pub(crate) cut: Option<&'static str>,
    /// None when the client was gone before there was one.
    pub(crate) status: Option<StatusCode>,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// Whether the response was passed on to its end.
    pub(crate) complete: bool,
    pub(crate) times: Times,
    /// The trace it belongs to, if it is recorded.
    pub(crate) trace: Option<Trace>,
}

/// Whose request it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Visitor {
    pub(crate) id: SessionId,
    /// Whether the session was there before this request.
    pub(crate) known: bool,
}

/// When what happened; what did not happen has the time of what came before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// The head was there.
    pub(crate) began: Time,
    /// The first of its body was, and the policy was asked.
    pub(crate) arrived: Time,
    /// The policy had decided.
    pub(crate) decided: Time,
    /// The head of the response was there.
    pub(crate) answered: Time,
    /// The response had gone, or the client.
    pub(crate) ended: Time,
}

impl Entry {
    pub(crate) fn begin(head: &Parts, client: IpAddr, trace: Option<Trace>, now: Time) -> Self {
        Self {
            client,
            method: named(&head.method),
            path: cut(head.uri.path_and_query().map_or("", |path| path.as_str()), MAX_PATH_BYTES).into(),
            host: host(head),
            version: head.version,
            session: None,
            details: None,
            upstream: None,
            failure: None,
            malformed: None,
            cut: None,
            status: None,
            bytes_in: 0,
            bytes_out: 0,
            complete: false,
            times: Times { began: now, arrived: now, decided: now, answered: now, ended: now },
            trace,
        }
    }
}

impl Entry {
    /// Of a request whose head could not be read: nothing it says is repeated.
    pub(crate) fn unread(client: IpAddr, said: (StatusCode, u64), why: &'static str, now: Time) -> Self {
        let (status, bytes_out) = said;
        let (head, ()) = http::Request::new(()).into_parts();
        let method = Method::from_bytes(b"-").unwrap_or_default();
        let entry = Self::begin(&head, client, None, now);
        Self {
            method,
            path: "".into(),
            malformed: Some(why),
            status: Some(status),
            bytes_out,
            complete: true,
            ..entry
        }
    }
}

/// What is kept is copied, and only so much of it: a part of a request keeps all of it in memory,
/// and entries may wait for a slow disk.
const MAX_PATH_BYTES: usize = 2048;
/// RFC 1035 section 2.3.4, and a port.
const MAX_HOST_BYTES: usize = 255 + 6;

fn host(head: &Parts) -> Option<Box<str>> {
    if let Some(authority) = head.uri.authority() {
        return Some(cut(authority.as_str(), MAX_HOST_BYTES).into());
    }
    let host = head.headers.get(header::HOST)?.as_bytes();
    Some(String::from_utf8_lossy(&host[..host.len().min(MAX_HOST_BYTES)]).into())
}

/// Methods that anybody means are short.
fn named(method: &Method) -> Method {
    const MAX_METHOD_BYTES: usize = 15;
    if method.as_str().len() <= MAX_METHOD_BYTES {
        return method.clone();
    }
    Method::from_bytes(&method.as_str().as_bytes()[..MAX_METHOD_BYTES]).unwrap_or_default()
}

fn cut(text: &str, longest: usize) -> &str {
    let mut end = text.len().min(longest);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl Times {
    /// Later steps have not happened yet.
    pub(crate) fn arrive(&mut self, now: Time) {
        (self.arrived, self.decided, self.answered) = (now, now, now);
    }

    pub(crate) fn decide(&mut self, now: Time) {
        (self.decided, self.answered) = (now, now);
    }
}
