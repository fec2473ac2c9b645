//! Headers that say for whom a request was sent on: whatever a client writes into them, those of the
//! proxies behind it are found, and the next proxy finds the same client.

use std::net::Ipv4Addr;

use http::header::HOST;
use http::{HeaderMap, HeaderName, HeaderValue};
use http1::headers::forwarded::{Forwarding, Peer, Scheme, Style, text};

/// Tries headers of `data`.
///
/// # Panics
/// When a client that was found is lost on the way.
pub(crate) fn try_on(data: &[u8]) {
    let Ok(line) = HeaderValue::from_bytes(data) else { return };
    let Ok(trusted) = "10.0.0.0/8".parse() else { panic!("a network that is not one") };
    let [client, proxy, next] = [[192, 0, 2, 1], [10, 0, 0, 1], [10, 0, 0, 2]].map(Ipv4Addr::from);
    for (style, name, element) in [
        (Style::XForwarded, "x-forwarded-for", ""),
        (Style::Rfc7239, "forwarded", "for="),
        (Style::Both, "x-forwarded-for", ""),
    ] {
        let forwarding = Forwarding { style, trusted: vec![trusted] };
        let found = |headers: &HeaderMap, from: Ipv4Addr| {
            let text = text(from.into());
            forwarding.client(headers, Peer { address: from.into(), text: &text, scheme: Scheme::Http })
        };
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
            let text = text(from.into());
            forwarding.write(&mut headers, Peer { address: from.into(), text: &text, scheme: Scheme::Http });
            assert_eq!(found(&headers, next), told, "{style:?} from {from}, then {headers:?}");
        }
    }
}
