//! What the targets of `fuzz/` try. Each takes any bytes, and panics when something is wrong.

use std::net::Ipv4Addr;
use std::path::Path;

use http::header::{COOKIE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use ipnet::Ipv4Net;
use policy::Session;
use units::{ClassId, SessionId, Time};

use crate::clients::peer::Peer;
use crate::forwarded::{Forwarding, Style};
use crate::front::{ProxyHeader, proxy_header};
use crate::session::token::{self, Classes, Key};
use crate::settings::Settings;
use crate::upstream::http1::trial;
use crate::{client, cookie};

/// Requests as HTTP/1: what is let pass, hyper reads in the one way it can be read, however the
/// bytes arrive. The first two bytes say how.
///
/// # Panics
/// When it is not so.
pub fn requests(data: &[u8]) {
    client::try_requests(data);
}

/// Responses as HTTP/1: how the bytes arrive does not matter, what has two meanings is refused, and
/// hyper reads the same body. The first two bytes say how they arrive and to what request.
///
/// # Panics
/// When it is not so.
pub fn responses(data: &[u8]) {
    trial::try_on(data);
}

/// Session tokens and the cookies they come in: only what was sealed is opened.
///
/// # Panics
/// When something else is.
pub fn tokens(data: &[u8]) {
    let key = Key::new(b"known to this trial alone", "");
    let classes = Classes::new(["premium", "basic"].into_iter());
    let open = |text: &[u8]| token::open([&key].into_iter(), &classes, text);
    let session = Session {
        id: SessionId(1),
        class: ClassId(1),
        issued: Time::from_nanos(2),
        last_seen: Time::from_nanos(3),
        raised: false,
    };
    let sealed = token::seal(&key, &classes, &session).into_bytes();
    // A fuzzer sees what is compared, and may bring it back.
    assert_eq!(open(data), (data == sealed).then_some(session), "a token out of nothing");
    let mut bent = sealed.clone();
    for change in data.chunks_exact(2) {
        let at = usize::from(change[0]) % bent.len();
        bent[at] ^= change[1];
    }
    assert_eq!(open(&bent), (bent == sealed).then_some(session), "a token that was changed");

    if let Ok(line) = HeaderValue::from_bytes(data) {
        let mut headers = HeaderMap::from_iter([(COOKIE, line)]);
        cookie::remove(&mut headers, b"headworks");
        assert_eq!(cookie::find(&headers, b"headworks"), None, "a cookie that stays");
    }
}

/// Headers of the PROXY protocol: what they say does not depend on how much has come besides.
///
/// # Panics
/// When it does.
pub fn proxy_headers(data: &[u8]) {
    let ProxyHeader::Whole { length, source } = proxy_header(data) else { return };
    assert!(length > 0 && length <= data.len(), "a header of {length} bytes in {}", data.len());
    for end in 0..length {
        assert_eq!(proxy_header(&data[..end]), ProxyHeader::Incomplete, "{end} of {length} bytes");
    }
    assert_eq!(proxy_header(&data[..length]), ProxyHeader::Whole { length, source });
}

/// Headers that say for whom a request was sent on: whatever a client writes into them, those of the
/// proxies behind it are found, and the next gate finds the same client.
///
/// # Panics
/// When it is not so.
pub fn forwarded(data: &[u8]) {
    let Ok(line) = HeaderValue::from_bytes(data) else { return };
    let [client, proxy, next] = [[192, 0, 2, 1], [10, 0, 0, 1], [10, 0, 0, 2]].map(Ipv4Addr::from);
    for (style, name, element) in [
        (Style::XForwarded, "x-forwarded-for", ""),
        (Style::Rfc7239, "forwarded", "for="),
        (Style::Both, "x-forwarded-for", ""),
    ] {
        let forwarding =
            Forwarding { style, trusted: vec![Ipv4Net::new_assert(Ipv4Addr::new(10, 0, 0, 0), 8).into()] };
        let found = |headers: &HeaderMap, from: Ipv4Addr| forwarding.client(headers, &Peer::new(from.into()));
        let headers = |line: HeaderValue| {
            let name = HeaderName::from_static(name);
            HeaderMap::from_iter([(HOST, HeaderValue::from_static("shop")), (name, line)])
        };
        let added = [line.as_bytes(), format!(", {element}{client}").as_bytes()].concat();
        if let Ok(added) = HeaderValue::from_bytes(&added) {
            assert_eq!(found(&headers(added), proxy), client, "{style:?}: what a proxy has added");
        }
        for from in [client, proxy] {
            let mut headers = headers(line.clone());
            let told = found(&headers, from);
            forwarding.write(&mut headers, &Peer::new(from.into()));
            assert_eq!(found(&headers, next), told, "{style:?} from {from}, then {headers:?}");
        }
    }
}

/// Configuration files: they are read or refused, and what was read can be used.
///
/// # Panics
/// When the gate does.
pub fn settings(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let source = config::Source::new("gate.toml", text.to_owned());
    // Files that it names are looked for where there are none.
    let settings = match Settings::from_source(&source, Path::new("/nonexistent")) {
        Ok(settings) => settings,
        Err(error) => {
            assert!(error.to_string().starts_with("gate.toml"), "{error}");
            return;
        }
    };
    assert!(!settings.to_string().is_empty());
    let (head, ()) = Request::new(()).into_parts();
    settings.class_of(&Request::from_parts(head, ()), Ipv4Addr::LOCALHOST.into());
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

    /// Tries `target` on each of `seeds`, and on what random changes make of them: the same in
    /// every run.
    fn sweep(target: fn(&[u8]), seeds: &[Vec<u8>], cases: u32) {
        seeds.iter().for_each(|seed| target(seed));
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6);
        let tries = (prop::sample::select(seeds.to_vec()), changes);
        runner
            .run(&tries, |(mut bytes, changes)| {
                for (place, byte, kind) in changes {
                    let at = place.index(bytes.len() + 1);
                    match kind {
                        0 => bytes.insert(at, byte),
                        1 => bytes.truncate(at),
                        _ if at == bytes.len() => bytes.push(byte),
                        2 => bytes[at] = byte,
                        _ => drop(bytes.remove(at)),
                    }
                }
                target(&bytes);
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn tokens() {
        let seeds =
            [&b""[..], b"\0\0", b"\x05\x01\x3f\xff", b"a=1; headworks=x;headworks=y ; b", &[b'A'; 64]];
        sweep(super::tokens, &seeds.map(<[u8]>::to_vec), 1000);
    }

    #[test]
    fn proxy_headers() {
        let seeds = [
            &b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET /"[..],
            b"PROXY TCP6 ::1 ::1 1 2\r\n",
            b"PROXY UNKNOWN\r\n",
            b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x7f\0\0\x01\x7f\0\0\x01\0\x01\0\x02GET",
            b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0",
        ];
        sweep(super::proxy_headers, &seeds.map(<[u8]>::to_vec), 5000);
    }

    #[test]
    fn forwarded() {
        let seeds = [
            &b"1.1.1.1, 10.9.9.9"[..],
            b"for=1.1.1.1;proto=https, for=\"[2001:db8::1]:80\";host=\"a,\\\"b\"",
            b"\"",
            b"for=\"\\\", for=10.0.0.7",
            b"unknown, for=_hidden, ::1, [::1]:80",
        ];
        sweep(super::forwarded, &seeds.map(<[u8]>::to_vec), 2000);
    }

    #[test]
    fn responses() {
        let seeds = [
            "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200\r\ncontent-length: 5, 5\r\nconnection: close\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nx: y\r\n\r\nrest",
            "HTTP/1.0 200 OK\r\nx: y\r\n\r\nhello",
            "HTTP/1.1 200\r\nTransfer-Encoding: \u{ff}, chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n",
        ];
        let seed = |text: &str| [b"\x03G", text.as_bytes()].concat();
        sweep(super::responses, &seeds.map(seed), 3000);
    }

    #[test]
    fn settings() {
        let manual = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gate.md")).unwrap();
        let examples = manual.split("```toml\n").skip(1).filter_map(|block| block.split("```").next());
        let seeds: Vec<Vec<u8>> = examples.map(|text| text.as_bytes().to_vec()).collect();
        sweep(super::settings, &seeds, 300);
    }
}
