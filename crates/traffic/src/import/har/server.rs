//! [`pick`]: the exchanges of one server that can be repeated.

use config::{Error, Source};

use super::super::draft::Notes;
use super::exchange::{Body, Exchange};
use crate::workload::is_token;

/// Leaves the exchanges of one server that can be repeated; counts the others. Gives the server's origin.
pub(super) fn pick(
    source: &Source,
    all: &mut Vec<Exchange>,
    host: Option<&str>,
    notes: &mut Notes,
) -> Result<String, Error> {
    let origin = match host {
        Some(host) => named(source, all, host)?,
        None => first(all).ok_or_else(|| {
            let error = source.missing("no entry of it is a request over http or https that was answered");
            error.mend("record a visit with the network panel open, and export it")
        })?,
    };
    all.retain(|exchange| match why_not(exchange, &origin) {
        Some(why) => {
            notes.leave_out(why);
            false
        }
        None => true,
    });
    if all.is_empty() {
        return Err(source.missing(format!("nothing that {origin} was asked for can be repeated")));
    }
    Ok(origin)
}

fn is_web(exchange: &Exchange) -> bool {
    matches!(exchange.url.scheme.as_str(), "http" | "https") && exchange.response.status > 0
}

/// The origin of the first document that is not a redirect, else of the first request.
fn first(all: &[Exchange]) -> Option<String> {
    let is_page = |exchange: &&Exchange| {
        is_web(exchange) && exchange.is_document() && !(300..400).contains(&exchange.response.status)
    };
    let found = all.iter().find(is_page).or_else(|| all.iter().find(|exchange| is_web(exchange)));
    found.map(|exchange| exchange.url.origin())
}

fn named(source: &Source, all: &[Exchange], host: &str) -> Result<String, Error> {
    let host = host.to_ascii_lowercase();
    let is_host = |exchange: &&Exchange| {
        let authority = exchange.url.authority.as_str();
        let port = authority.strip_prefix(host.as_str()).and_then(|rest| rest.strip_prefix(':'));
        let usual = [":80", ":443"].iter().any(|port| host.strip_suffix(port) == Some(authority));
        is_web(exchange) && (authority == host || usual || port.is_some_and(|port| !port.contains(':')))
    };
    let found = all.iter().find(is_host).map(|exchange| exchange.url.origin());
    found.ok_or_else(|| {
        let mut hosts: Vec<&str> = all
            .iter()
            .filter(|exchange| is_web(exchange))
            .map(|exchange| exchange.url.authority.as_str())
            .collect();
        hosts.sort_unstable();
        hosts.dedup();
        source.missing(format!("no entry is of {host}")).mend(format!("--host can be {}", hosts.join(", ")))
    })
}

/// Why an exchange is left out.
fn why_not(exchange: &Exchange, origin: &str) -> Option<String> {
    let scheme = exchange.url.scheme.as_str();
    if exchange.is_websocket {
        return Some("WebSockets".to_owned());
    }
    if !matches!(scheme, "http" | "https") {
        return Some(format!("{scheme}: URLs, which no server is asked for"));
    }
    if exchange.url.origin() != origin {
        return Some(format!("requests to {}", exchange.url.origin()));
    }
    if exchange.is_from_cache {
        return Some("what the browser took from its cache".to_owned());
    }
    if exchange.response.status == 0 {
        return Some("requests that were blocked or failed".to_owned());
    }
    if exchange.kind == "eventsource" || exchange.response.mime == "text/event-stream" {
        return Some("streams of events, which do not end".to_owned());
    }
    if let Body::Other(why) = exchange.body {
        return Some(format!("{} {}, whose body {why}", exchange.method, exchange.url.path));
    }
    let path = &exchange.url.path;
    let is_url = path.bytes().all(|byte| byte.is_ascii_graphic());
    (!is_url || !is_token(&exchange.method) || exchange.method == "CONNECT")
        .then(|| "requests whose method or URL has characters that cannot stand there".to_owned())
}
