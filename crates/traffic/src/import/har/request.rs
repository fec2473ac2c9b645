//! [`sent`]: what of a recorded request is sent again.

use super::super::correlate::Sent;
use super::super::draft::Notes;
use super::super::text::Text;
use super::exchange::{Body, Exchange, field};
use crate::workload::{is_token, is_value};

/// Fields that browsers and the generator write by themselves, or that follow from what a browser has in its cache.
const OF_BROWSERS: [&str; 31] = [
    "accept-encoding",
    "accept-language",
    "alt-used",
    "cache-control",
    "connection",
    "content-length",
    "cookie",
    "dnt",
    "expect",
    "host",
    "http2-settings",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "origin",
    "pragma",
    "priority",
    "proxy-authorization",
    "proxy-connection",
    "purpose",
    "referer",
    "save-data",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "user-agent",
];

/// Parts of names of fields whose values are credentials.
const OF_SECRETS: [&str; 8] =
    ["authorization", "token", "secret", "api-key", "apikey", "api_key", "password", "x-auth"];

/// What is sent again of a request.
pub(super) fn sent(exchange: &Exchange, notes: &mut Notes) -> Sent {
    let shown = format!("{} {}", exchange.method, without_query(&exchange.url.path));
    let mut headers: Vec<(String, Text)> = Vec::new();
    for given in &exchange.headers {
        let name = given.name.to_ascii_lowercase();
        if !is_kept(&name, &given.value) {
            continue;
        }
        if !is_token(&name) || !is_value(&given.value) {
            notes.leave_out(format!("header fields with characters that a workload cannot hold ({name})"));
            continue;
        }
        match headers.iter_mut().find(|(other, _)| other.eq_ignore_ascii_case(&name)) {
            Some((_, value)) => value.push(&format!(", {}", given.value)),
            None => headers.push((given.name.clone(), Text::literal(given.value.as_str()))),
        }
    }
    let body = match &exchange.body {
        Body::Text(text, mime) => {
            let is_typed = field(&exchange.headers, "content-type").is_some();
            if !is_typed && !mime.is_empty() && is_value(mime) {
                headers.push(("Content-Type".to_owned(), Text::literal(mime.as_str())));
            }
            if ["password", "passwd"].iter().any(|word| text.to_ascii_lowercase().contains(word)) {
                notes.say(format!(
                    "a password stands in the body of {shown}: look before you pass the file on"
                ));
            }
            Some(Text::literal(text.as_str()))
        }
        Body::Nothing | Body::Other(_) => {
            headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            None
        }
    };
    Sent { url: Text::literal(exchange.url.path.as_str()), headers, body, shown }
}

/// Leaves secrets out of which no part comes with a response.
pub(super) fn drop_secrets(sent: &mut Sent, notes: &mut Notes) {
    let is_scheme = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b' ');
    sent.headers.retain(|(name, value)| {
        let lower = name.to_ascii_lowercase();
        let is_secret = OF_SECRETS.iter().any(|part| lower.contains(part));
        let is_taken = !value.is_literal() && value.literals().all(is_scheme);
        if is_secret && !is_taken {
            let what = format!("header fields {name}, which are secrets: --secrets keeps them, or give them with --header when it is run");
            notes.leave_out(what);
        }
        !is_secret || is_taken
    });
}

fn is_kept(name: &str, value: &str) -> bool {
    if name == "accept" {
        let usual = ["*/*", "text/html", "text/css", "image/", "application/signed-exchange"];
        return !usual.iter().any(|usual| value.starts_with(usual));
    }
    !name.starts_with([':']) && !name.starts_with("sec-") && !OF_BROWSERS.contains(&name)
}

fn without_query(path: &str) -> &str {
    path.split_once('?').map_or(path, |(path, _)| path)
}
