//! What targets and hosts of requests look like.

use std::net::Ipv6Addr;

use super::breach::Breach;
use crate::characters::{self, HOST, PATH, QUERY};

/// Methods whose targets have forms of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Connect,
    Options,
    Other,
}

/// RFC 9112 section 3.2: what each method may ask for, and that it is of the host asked.
pub(super) fn check(target: &[u8], kind: Kind, host: Option<&[u8]>) -> Result<(), Breach> {
    match (kind, target) {
        (Kind::Connect, _) if is_host(target) => Ok(()),
        (Kind::Connect, _) => Err(Breach::Target),
        (_, [b'/', ..]) => path(target),
        (Kind::Options, b"*") => Ok(()),
        _ => absolute(target, host),
    }
}

pub(super) fn path(path: &[u8]) -> Result<(), Breach> {
    let end = path.iter().position(|byte| *byte == b'?');
    let (path, query) = path.split_at(end.unwrap_or(path.len()));
    if characters::all(path, PATH) && characters::all(query, QUERY) { Ok(()) } else { Err(Breach::Target) }
}

/// A whole address, as for a proxy. RFC 9112 section 3.2.2 has it win over `Host`; a client that
/// says two things is asked to say one, since a server behind could listen to the other.
fn absolute(address: &[u8], host: Option<&[u8]>) -> Result<(), Breach> {
    let after = |scheme: &[u8]| {
        let (start, rest) = address.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    };
    let (rest, port) = match (after(b"http://"), after(b"https://")) {
        (Some(rest), _) => (rest, &b":80"[..]),
        (_, Some(rest)) => (rest, &b":443"[..]),
        _ => return Err(Breach::Target),
    };
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    if !is_host(authority) || rest.first() == Some(&b'?') {
        return Err(Breach::Target);
    }
    let bare = |host: &'_ [u8]| host.strip_suffix(port).unwrap_or(host).to_ascii_lowercase();
    if host.is_some_and(|host| bare(host) != bare(authority)) {
        return Err(Breach::Host);
    }
    path(rest)
}

/// A name, an IPv4 address or an IPv6 address in brackets, and perhaps a port.
pub(super) fn is_host(text: &[u8]) -> bool {
    /// RFC 1035 section 2.3.4.
    const MAX_NAME: usize = 255;
    let (name, port) = match text.iter().rposition(|byte| *byte == b':') {
        Some(colon) if !text.ends_with(b"]") => (&text[..colon], Some(&text[colon + 1..])),
        _ => (text, None),
    };
    let port = port.is_none_or(|port| {
        let number = str::from_utf8(port).ok().filter(|_| characters::all(port, HOST));
        number.is_some_and(|number| number.parse::<u16>().is_ok())
    });
    let literal = name.strip_prefix(b"[").and_then(|name| name.strip_suffix(b"]"));
    let name = match literal {
        Some(address) => str::from_utf8(address).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok()),
        None => !name.is_empty() && name.len() <= MAX_NAME && characters::all(name, HOST),
    };
    name && port
}
