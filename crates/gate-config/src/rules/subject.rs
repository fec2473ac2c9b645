//! [`Subject`]: what rules look at.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::net::IpAddr;

use http::header::HOST;
use http::{HeaderMap, Method, Uri};
use http1::headers::cookie;
use percent_encoding::percent_decode;
use units::Span;

/// A request as rules see it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// As it was sent.
    pub method: &'a Method,
    /// Target: a path, or a whole URI.
    pub uri: &'a Uri,
    /// All header fields.
    pub headers: &'a HeaderMap,
    /// The client's, as far as proxies in front say it.
    pub address: IpAddr,
    /// The name asked for in the TLS handshake.
    pub server_name: Option<&'a str>,
    /// Its session; none when it begins one.
    pub session: Option<Facts<'a>>,
}

/// What rules may know of a session.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// Name of its class.
    pub class: &'a str,
    /// Since it began.
    pub age: Span,
    /// Whether it was raised to its class.
    pub raised: bool,
}

/// A subject with what had to be worked out about it, so that a thousand rules need it once.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) subject: Subject<'a>,
    /// Whether it pays to sort things before they are looked for.
    many: bool,
    host: OnceCell<Option<Cow<'a, str>>>,
    cookies: OnceCell<Vec<(&'a [u8], &'a [u8])>>,
    parameters: OnceCell<Vec<Parameter<'a>>>,
}

/// Name and value of a parameter of the query, decoded.
type Parameter<'a> = (Cow<'a, [u8]>, Cow<'a, [u8]>);

impl<'a> View<'a> {
    /// For so many rules.
    pub(super) fn of(subject: Subject<'a>, rules: usize) -> Self {
        const MANY: usize = 8;
        let (host, cookies, parameters) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { subject, many: rules > MANY, host, cookies, parameters }
    }

    /// Whether it pays to sort things before they are looked for.
    pub(super) fn many(&self) -> bool {
        self.many
    }

    /// The host asked for, in lower case and without the port.
    pub(super) fn host(&self) -> Option<&str> {
        let host = self.host.get_or_init(|| {
            let host = host(self.subject)?;
            let lower = !host.bytes().any(|byte| byte.is_ascii_uppercase());
            Some(if lower { Cow::Borrowed(host) } else { Cow::Owned(host.to_ascii_lowercase()) })
        });
        host.as_deref()
    }

    /// A v4 client of a v6 socket is still the client at that v4 address.
    pub(super) fn address(&self) -> IpAddr {
        self.subject.address.to_canonical()
    }

    /// The value of the first cookie of that name.
    pub(super) fn cookie(&self, name: &[u8]) -> Option<&'a [u8]> {
        if !self.many {
            return cookie::find(self.subject.headers, name);
        }
        let cookies = self.cookies();
        cookies.binary_search_by_key(&name, |(name, _)| name).ok().map(|at| cookies[at].1)
    }

    /// The first cookie of every name.
    pub(super) fn cookies(&self) -> &[(&'a [u8], &'a [u8])] {
        self.cookies.get_or_init(|| {
            let mut cookies: Vec<_> = cookie::all(self.subject.headers).collect();
            cookies.sort_by_key(|(name, _)| *name);
            cookies.dedup_by_key(|(name, _)| *name);
            cookies
        })
    }

    /// The values of the query's parameters of that name.
    pub(super) fn parameter(&self, name: &[u8]) -> impl Iterator<Item = &[u8]> {
        let all = self.parameters();
        let from = all.partition_point(|(other, _)| **other < *name);
        all[from..].iter().take_while(move |(other, _)| **other == *name).map(|(_, value)| &**value)
    }

    /// All of them, by name (WHATWG URL, section 5.1).
    pub(super) fn parameters(&self) -> &[Parameter<'a>] {
        self.parameters.get_or_init(|| {
            let query = self.subject.uri.query().unwrap_or_default();
            let pairs = query.split('&').filter(|pair| !pair.is_empty());
            let mut parameters: Vec<_> = pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(name, value)| (decoded(name), decoded(value)))
                .collect();
            parameters.sort_by(|(one, _), (other, _)| one.cmp(other));
            parameters
        })
    }
}

/// Of the target if it has one, else of the Host header (RFC 9112 section 3.2.2).
fn host(subject: Subject<'_>) -> Option<&str> {
    if let Some(host) = subject.uri.host() {
        return Some(host);
    }
    let host = subject.headers.get(HOST)?.to_str().ok()?;
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(name),
        _ => Some(host),
    }
}

fn decoded(text: &str) -> Cow<'_, [u8]> {
    if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Cow::Borrowed(text.as_bytes());
    }
    let spaced: Vec<u8> = text.bytes().map(|byte| if byte == b'+' { b' ' } else { byte }).collect();
    Cow::Owned(percent_decode(&spaced).collect())
}
