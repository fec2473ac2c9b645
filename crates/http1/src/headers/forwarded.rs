//! `Forwarded` (RFC 7239) and `X-Forwarded-*`: for whom a request was sent on.
//!
//! Any client can write these headers. They are believed only when they come from a trusted proxy, and
//! replaced otherwise, so that the server behind can believe all it gets.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use http::header::{FORWARDED, HOST, HeaderName};
use http::{HeaderMap, HeaderValue};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Which headers tell the server for whom a request is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Style {
    /// `X-Forwarded-For`, `-Host` and `-Proto`.
    #[default]
    XForwarded,
    /// `Forwarded`.
    Rfc7239,
    /// All of them.
    Both,
    /// None of our own.
    Off,
}

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer<'a> {
    /// Its address.
    pub address: IpAddr,
    /// The address as text: written once for all requests of a connection.
    pub text: &'a HeaderValue,
    /// What the connection speaks.
    pub scheme: Scheme,
}

/// What a connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Without TLS.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// An address as these headers have it.
pub fn text(address: IpAddr) -> HeaderValue {
    let text = address.to_canonical().to_string();
    // An address is made of characters that a header may have.
    HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("unknown"))
}

/// What is written for the server, and who is believed.
#[derive(Debug, Clone, Default)]
pub struct Forwarding {
    /// Which headers are written, and read.
    pub style: Style,
    /// Proxies in front of this one.
    pub trusted: Vec<IpNet>,
}

impl fmt::Display for Forwarding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.style {
            Style::XForwarded => "X-Forwarded-For, -Host and -Proto",
            Style::Rfc7239 => "Forwarded",
            Style::Both => "Forwarded, X-Forwarded-For, -Host and -Proto",
            Style::Off => "nothing added",
        })?;
        match &self.trusted[..] {
            [] => f.write_str(", no proxy is believed"),
            [first, others @ ..] => {
                write!(f, ", believed from {first}")?;
                others.iter().try_for_each(|net| write!(f, ", {net}"))
            }
        }
    }
}

impl Forwarding {
    fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.trusted.iter().any(|net| net.contains(&address))
    }

    /// The client that a request is from: the last one that no trusted proxy is. Whatever stands
    /// left of it, it may have made up itself (RFC 7239 section 8.1).
    pub fn client(&self, headers: &HeaderMap, peer: Peer) -> IpAddr {
        let mut client = peer.address;
        if self.trusted.is_empty() {
            return client;
        }
        let mut hops = match self.style {
            Style::Rfc7239 => forwarded(headers),
            _ => forwarded_for(headers),
        };
        while self.trusts(client) {
            match hops.pop() {
                Some(Some(hop)) => client = hop,
                // The end of the list, or a hop that is not named.
                Some(None) | None => break,
            }
        }
        client
    }

    /// What the client's own connection speaks.
    pub fn scheme(&self, headers: &HeaderMap, peer: Peer) -> Scheme {
        if !self.trusts(peer.address) {
            return peer.scheme;
        }
        let told = match self.style {
            Style::Rfc7239 => {
                let first = headers.get(FORWARDED).and_then(|line| parameter(first_of(line), "proto"));
                first.map(|proto| proto.eq_ignore_ascii_case(b"https"))
            }
            _ => headers.get(X_FORWARDED_PROTO).map(|line| first_of(line).eq_ignore_ascii_case(b"https")),
        };
        match told {
            Some(true) => Scheme::Https,
            Some(false) => Scheme::Http,
            None => peer.scheme,
        }
    }

    /// Writes them for the server; `Host` is what the client has asked for.
    pub fn write(&self, headers: &mut HeaderMap, peer: Peer) {
        let trusted = self.trusts(peer.address);
        if !trusted {
            remove(headers, is_ours);
        }
        match self.style {
            Style::Off => {}
            Style::XForwarded => {
                if trusted {
                    // What is not kept up to date must not be believed.
                    headers.remove(FORWARDED);
                }
                write_x_forwarded(headers, peer, trusted);
            }
            Style::Rfc7239 => {
                remove(headers, |name| name.starts_with("x-forwarded-"));
                let before = joined(headers, FORWARDED);
                let hop = element(peer.address, peer, headers.get(HOST));
                set(headers, FORWARDED, [before.as_slice(), &hop].join(separator(&before)));
            }
            Style::Both => {
                let hops = forwarded_for(headers);
                write_x_forwarded(headers, peer, trusted);
                // Made anew of the other: proxies that keep only that one may pass on anything here.
                let mut elements: Vec<Vec<u8>> = hops.into_iter().map(named).collect();
                elements.push(element(peer.address, peer, headers.get(HOST)));
                set(headers, FORWARDED, elements.join(&b", "[..]));
            }
        }
    }
}

/// There may be some of them before if the peer is `trusted`.
fn write_x_forwarded(headers: &mut HeaderMap, peer: Peer, trusted: bool) {
    let proto = HeaderValue::from_static(peer.scheme.name());
    if !trusted {
        headers.append(X_FORWARDED_FOR, peer.text.clone());
        headers.append(X_FORWARDED_PROTO, proto);
        if let Some(host) = headers.get(HOST).cloned() {
            headers.append(X_FORWARDED_HOST, host);
        }
        return;
    }
    if headers.contains_key(X_FORWARDED_FOR) {
        let before = joined(headers, X_FORWARDED_FOR);
        let list = [before.as_slice(), peer.text.as_bytes()].join(separator(&before));
        set(headers, X_FORWARDED_FOR, list);
    } else {
        headers.insert(X_FORWARDED_FOR, peer.text.clone());
    }
    headers.entry(X_FORWARDED_PROTO).or_insert(proto);
    if let Some(host) = headers.get(HOST).cloned() {
        headers.entry(X_FORWARDED_HOST).or_insert(host);
    }
}

/// Whether a header says for whom a request was sent on.
fn is_ours(name: &str) -> bool {
    name.starts_with("x-forwarded-") || name == "forwarded" || name == "x-real-ip"
}

fn remove(headers: &mut HeaderMap, which: impl Fn(&str) -> bool) {
    // Requests of browsers have none.
    if !headers.keys().any(|name| which(name.as_str())) {
        return;
    }
    let names: Vec<HeaderName> = headers.keys().filter(|name| which(name.as_str())).cloned().collect();
    for name in names {
        headers.remove(name);
    }
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: Vec<u8>) {
    if let Ok(value) = HeaderValue::from_maybe_shared(Bytes::from(value)) {
        headers.insert(name, value);
    }
}

/// All lines of a header as one (RFC 9110 section 5.3).
fn joined(headers: &HeaderMap, name: HeaderName) -> Vec<u8> {
    let lines: Vec<&[u8]> = headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
    lines.join(&b", "[..])
}

fn separator(before: &[u8]) -> &'static [u8] {
    if before.is_empty() { b"" } else { b", " }
}

/// Whom `X-Forwarded-For` names, from the first hop to the last; `None` for what is not an address. It
/// knows no quoted strings: a client's quotation mark must not hide what proxies have added.
fn forwarded_for(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let lines = headers.get_all(X_FORWARDED_FOR).iter();
    lines.flat_map(|line| list(line.as_bytes(), b',', Quoting::default().ignored())).map(node).collect()
}

/// The same of `Forwarded`. A quoted string that has no end would hide what proxies have added; then
/// there are none.
fn forwarded(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let elements = |line: &'_ HeaderValue| {
        let mut quoting = Quoting::default();
        line.as_bytes().iter().for_each(|byte| quoting.read(*byte));
        if quoting.open { Quoting::default().ignored() } else { Quoting::default() }
    };
    let lines = headers.get_all(FORWARDED).iter();
    lines
        .flat_map(|line| list(line.as_bytes(), b',', elements(line)))
        .map(|element| node(parameter(element, "for")?))
        .collect()
}

fn first_of(line: &HeaderValue) -> &[u8] {
    list(line.as_bytes(), b',', Quoting::default()).next().unwrap_or_default()
}

/// Whether one is inside of a quoted string (RFC 9110 section 5.6.4).
#[derive(Debug, Clone, Copy, Default)]
struct Quoting {
    open: bool,
    escaped: bool,
    ignored: bool,
}

impl Quoting {
    fn ignored(self) -> Self {
        Self { ignored: true, ..self }
    }

    fn read(&mut self, byte: u8) {
        match byte {
            _ if self.ignored => {}
            _ if self.escaped => self.escaped = false,
            b'\\' if self.open => self.escaped = true,
            b'"' => self.open = !self.open,
            _ => {}
        }
    }
}

/// Splits a list, but not inside of quoted strings.
fn list(line: &[u8], separator: u8, mut quoting: Quoting) -> impl Iterator<Item = &[u8]> {
    let split = move |byte: &u8| {
        let ends = *byte == separator && !quoting.open;
        quoting.read(*byte);
        ends
    };
    line.split(split).map(<[u8]>::trim_ascii).filter(|part| !part.is_empty())
}

/// A parameter of an element of `Forwarded`, without quotes (RFC 7239 section 4).
fn parameter<'a>(element: &'a [u8], name: &str) -> Option<&'a [u8]> {
    list(element, b';', Quoting::default()).find_map(|pair| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        let value = &pair[at + 1..];
        let bare = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
        pair[..at].eq_ignore_ascii_case(name.as_bytes()).then_some(bare.unwrap_or(value))
    })
}

/// An address, with a port or without; IPv6 in brackets or not.
fn node(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?;
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

/// The element of `Forwarded` for the last hop.
fn element(address: IpAddr, peer: Peer, host: Option<&HeaderValue>) -> Vec<u8> {
    let mut element = named(Some(address));
    if let Some(host) = host {
        element.extend_from_slice(b";host=\"");
        for byte in host.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                element.push(b'\\');
            }
            element.push(*byte);
        }
        element.push(b'"');
    }
    element.extend_from_slice(b";proto=");
    element.extend_from_slice(peer.scheme.name().as_bytes());
    element
}

fn named(hop: Option<IpAddr>) -> Vec<u8> {
    match hop.map(|address| address.to_canonical()) {
        Some(IpAddr::V4(address)) => format!("for={address}").into_bytes(),
        Some(IpAddr::V6(address)) => format!("for=\"[{address}]\"").into_bytes(),
        None => b"for=unknown".to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROXY: &str = "10.0.0.1";
    const STRANGER: &str = "192.0.2.7";

    fn forwarding(style: Style) -> Forwarding {
        Forwarding { style, trusted: vec!["10.0.0.0/8".parse().unwrap()] }
    }

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let all = [("host", "shop:80")].iter().chain(lines);
        all.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    fn peer(text: &HeaderValue) -> Peer<'_> {
        Peer { address: text.to_str().unwrap().parse().unwrap(), text, scheme: Scheme::Https }
    }

    #[track_caller]
    fn check_client(style: Style, from: &'static str, lines: &[(&'static str, &'static str)], client: &str) {
        let found = forwarding(style).client(&headers(lines), peer(&HeaderValue::from_static(from)));
        assert_eq!(found, client.parse::<IpAddr>().unwrap(), "{style:?} {from} {lines:?}");
    }

    #[test]
    fn the_client_is_the_last_one_that_is_no_trusted_proxy() {
        let x = |list| [("x-forwarded-for", list)];
        check_client(Style::XForwarded, STRANGER, &x("198.51.100.1"), STRANGER);
        check_client(Style::XForwarded, PROXY, &[], PROXY);
        check_client(Style::XForwarded, PROXY, &x("198.51.100.1"), "198.51.100.1");
        check_client(Style::XForwarded, PROXY, &x("1.1.1.1, 198.51.100.1,10.9.9.9"), "198.51.100.1");
        check_client(Style::XForwarded, PROXY, &x("1.1.1.1, nonsense"), PROXY);
        check_client(Style::XForwarded, PROXY, &x("1.1.1.1, nonsense, 10.2.2.2"), "10.2.2.2");
        check_client(Style::XForwarded, PROXY, &x("[2001:db8::1]:80"), "2001:db8::1");
        check_client(Style::XForwarded, PROXY, &x("198.51.100.1:4711"), "198.51.100.1");
        check_client(Style::XForwarded, PROXY, &[("forwarded", "for=1.1.1.1")], PROXY);
        check_client(Style::XForwarded, PROXY, &x("\", 198.51.100.1"), "198.51.100.1");
        check_client(Style::XForwarded, PROXY, &x("\"1.1.1.1, 198.51.100.1, 10.9.9.9\""), PROXY);
        check_client(
            Style::XForwarded,
            "::ffff:10.0.0.1",
            &[("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "2.2.2.2")],
            "2.2.2.2",
        );
        let f = |list| [("forwarded", list)];
        check_client(Style::Rfc7239, PROXY, &f("for=1.1.1.1, for=198.51.100.1;proto=https"), "198.51.100.1");
        check_client(Style::Rfc7239, PROXY, &f("proto=http;For=\"[2001:db8::1]:4711\""), "2001:db8::1");
        check_client(Style::Rfc7239, PROXY, &f("for=1.1.1.1;host=\"a,for=2.2.2.2;\\\",b\""), "1.1.1.1");
        check_client(Style::Rfc7239, PROXY, &f("for=1.1.1.1, for=_hidden"), PROXY);
        check_client(Style::Rfc7239, PROXY, &f("for=\", for=198.51.100.1"), "198.51.100.1");
        check_client(Style::Rfc7239, PROXY, &f("for=\"\\\", for=\"[2001:db8::1]\""), "2001:db8::1");
        check_client(Style::Rfc7239, PROXY, &x("1.1.1.1"), PROXY);
    }

    #[track_caller]
    fn check_written(
        style: Style,
        from: &'static str,
        lines: &[(&'static str, &'static str)],
        expected: &[(&str, &str)],
    ) {
        let mut headers = headers(lines);
        forwarding(style).write(&mut headers, peer(&HeaderValue::from_static(from)));
        headers.remove(HOST);
        let mut written: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        written.sort_unstable();
        assert_eq!(written, expected, "{style:?} from {from}: {lines:?}");
    }

    const FORGED: [(&str, &str); 4] = [
        ("x-forwarded-for", "127.0.0.1"),
        ("x-forwarded-proto", "http"),
        ("x-real-ip", "127.0.0.1"),
        ("forwarded", "for=127.0.0.1"),
    ];

    #[test]
    fn what_strangers_say_is_replaced() {
        let x =
            [("x-forwarded-for", STRANGER), ("x-forwarded-host", "shop:80"), ("x-forwarded-proto", "https")];
        let f = ("forwarded", "for=192.0.2.7;host=\"shop:80\";proto=https");
        check_written(Style::XForwarded, STRANGER, &FORGED, &x);
        check_written(Style::Rfc7239, STRANGER, &FORGED, &[f]);
        check_written(Style::Both, STRANGER, &FORGED, &[f, x[0], x[1], x[2]]);
        check_written(Style::Off, STRANGER, &FORGED, &[]);
    }

    #[test]
    fn what_trusted_proxies_say_is_kept_and_added_to() {
        let told = [("x-forwarded-for", "1.1.1.1"), ("x-forwarded-proto", "http"), ("x-real-ip", "1.1.1.1")];
        let list = ("x-forwarded-for", "1.1.1.1, 10.0.0.1");
        let (host, proto) = (("x-forwarded-host", "shop:80"), ("x-forwarded-proto", "http"));
        check_written(Style::XForwarded, PROXY, &told, &[list, host, proto, told[2]]);
        check_written(Style::Off, PROXY, &told, &told);
        let hop = "for=10.0.0.1;host=\"shop:80\";proto=https";
        let list_too = format!("for=1.1.1.1, {hop}");
        check_written(
            Style::Both,
            PROXY,
            &[("x-forwarded-for", "1.1.1.1"), ("forwarded", "for=6.6.6.6")],
            &[("forwarded", &list_too), list, host, ("x-forwarded-proto", "https")],
        );
        let mixed = [("forwarded", "for=1.1.1.1"), ("x-forwarded-for", "6.6.6.6")];
        check_written(Style::Rfc7239, PROXY, &mixed, &[("forwarded", &list_too)]);
        let v6 = "for=\"[2001:db8::1]\";host=\"shop:80\";proto=https";
        check_written(Style::Rfc7239, "2001:db8::1", &[], &[("forwarded", v6)]);
    }
}
