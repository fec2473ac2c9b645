//! Words that stand in several tables: addresses, networks, names.

use std::net::SocketAddr;

use config::{Error, Source, Spanned};
use ipnet::IpNet;

use crate::settings::text::Texts;

pub(super) fn address(source: &Source, text: &Spanned<String>) -> Result<SocketAddr, Error> {
    let plain = without_scheme(text.get_ref());
    plain.parse().map_err(|_| {
        source
            .error(text.span(), format!("\"{}\" is not an address to listen on", text.get_ref()))
            .mend("give an IP address and a port, for example \"127.0.0.1:8080\"")
    })
}

fn without_scheme(text: &str) -> &str {
    let text = text.strip_prefix("http://").unwrap_or(text);
    text.strip_suffix('/').unwrap_or(text)
}

pub(super) fn networks(source: &Source, texts: &Texts) -> Result<Vec<IpNet>, Error> {
    texts.0.iter().map(|text| network(source, text)).collect()
}

/// An address, or a network.
pub(super) fn network(source: &Source, text: &Spanned<String>) -> Result<IpNet, Error> {
    let net = text.get_ref().parse::<IpNet>();
    let one = || text.get_ref().parse().ok().map(|address: std::net::IpAddr| IpNet::from(address));
    net.ok().or_else(one).ok_or_else(|| {
        source
            .error(text.span(), format!("\"{}\" is not an address", text.get_ref()))
            .mend("for example \"192.0.2.7\", \"10.0.0.0/8\" or \"2001:db8::/32\"")
    })
}

/// What may name a cookie (RFC 6265 section 4.1.1).
pub(super) fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&b))
}
