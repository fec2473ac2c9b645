//! [`found`]: what of a response may be sent later.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::super::correlate::Found;
use super::exchange::Exchange;
use crate::workload::Place;

/// Shorter ones stand in several places by chance.
const SHORTEST: usize = 8;
const LONGEST: usize = 8192;
/// Of one response; a list of thousands is not where a token comes from.
const MOST: usize = 20_000;
/// `take` looks no further.
const REACH: usize = 1 << 20;

/// Fields that say nothing about the session.
const OF_SERVERS: [&str; 17] = [
    "accept-ranges",
    "age",
    "alt-svc",
    "cache-control",
    "connection",
    "content-security-policy",
    "date",
    "etag",
    "expires",
    "keep-alive",
    "last-modified",
    "server",
    "server-timing",
    "set-cookie",
    "strict-transport-security",
    "vary",
    "via",
];

/// Parts of names that values have which are made to be sent back.
const SENT_BACK: [&str; 10] =
    ["token", "csrf", "xsrf", "nonce", "key", "code", "session", "state", "verif", "auth"];

/// The values in a response that may be sent later, in the order in which they are to be looked for.
pub(super) fn found(exchange: &Exchange) -> Vec<Found> {
    let response = &exchange.response;
    let mut values = Vec::new();
    if let Some(text) = &response.text {
        if response.mime.ends_with("json") {
            if let Ok(body) = serde_json::from_str(text) {
                let is_created = response.status == 201 && exchange.redirects == 0;
                leaves(&body, String::new(), "value", is_created, &mut values);
                // Of several places of one value that nearest to the root.
                values.sort_by_key(|found: &Found| found.place.matches('/').count());
            }
        } else if response.mime == "text/html" {
            let reach = text
                .char_indices()
                .take_while(|(at, _)| *at < REACH)
                .last()
                .map_or(0, |(at, c)| at + c.len_utf8());
            of_html(&text[..reach], &mut values);
        }
    }
    for field in &response.headers {
        let name = field.name.to_ascii_lowercase();
        let is_known = OF_SERVERS.contains(&name.as_str())
            || name.starts_with("content-")
            || name.starts_with("access-control-");
        if !is_known && is_telling(&field.value, &name) {
            let (place, value) = (format!("header:{}", field.name), field.value.clone());
            values.push(Found { value, place, name: field.name.clone(), is_segment: false });
        }
    }
    values
}

fn leaves(value: &Value, pointer: String, name: &str, is_created: bool, values: &mut Vec<Found>) {
    if values.len() >= MOST {
        return;
    }
    let text = match value {
        Value::Object(map) => {
            for (key, value) in map {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                leaves(value, format!("{pointer}/{escaped}"), key, is_created, values);
            }
            return;
        }
        Value::Array(items) => {
            for (number, value) in items.iter().enumerate() {
                leaves(value, format!("{pointer}/{number}"), name, is_created, values);
            }
            return;
        }
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) => return,
    };
    let place = format!("json:{pointer}");
    let is_short_id = is_created && is_id(name) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_telling(&text, name) {
        values.push(Found { value: text, place, name: name.to_owned(), is_segment: false });
    } else if is_short_id && !text.is_empty() {
        values.push(Found { value: text, place, name: name.to_owned(), is_segment: true });
    }
}

fn is_id(name: &str) -> bool {
    name.eq_ignore_ascii_case("id")
        || name.eq_ignore_ascii_case("uuid")
        || name.ends_with("Id")
        || name.ends_with("_id")
}

/// Whether a value is unlikely to be sent later by chance: long, with digits or a name that tells, and not a date.
fn is_telling(value: &str, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let bytes = value.as_bytes();
    let is_text = bytes.iter().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(byte));
    let tells = bytes.iter().any(u8::is_ascii_digit)
        || SENT_BACK.iter().any(|part| name.contains(part))
        || is_id(&name);
    (SHORTEST..=LONGEST).contains(&bytes.len())
        && is_text
        && tells
        && !is_date(bytes)
        && !value.starts_with("http")
}

/// A date, alone or before a time: it stands in many places by chance.
fn is_date(text: &[u8]) -> bool {
    let is_shape =
        |(byte, shape): (&u8, &u8)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    text.len() >= 10
        && text.iter().zip(b"0000-00-00").all(is_shape)
        && text.get(10).is_none_or(|next| matches!(next, b'T' | b' '))
}

/// An attribute of an element: its value, and the quotes around it.
struct Attribute<'t> {
    name: String,
    value: &'t str,
    quote: &'static str,
}

/// Hidden fields of forms, and tokens in `<meta>`.
fn of_html(text: &str, values: &mut Vec<Found>) {
    static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?is)<(?:input|meta)\b[^>]*>").ok());
    let Some(tag) = &*TAG else { return };
    for tag in tag.find_iter(text).map(|found| found.as_str()) {
        let attributes = attributes(tag);
        let position = |name: &str| attributes.iter().position(|attribute| attribute.name == name);
        let is_input = tag[1..].to_ascii_lowercase().starts_with("input");
        let is_hidden = |at: usize| attributes[at].value.eq_ignore_ascii_case("hidden");
        if is_input && !position("type").is_some_and(is_hidden) {
            continue;
        }
        let (element, key) = if is_input { ("input", "value") } else { ("meta", "content") };
        let (Some(named), Some(held)) = (position("name"), position(key)) else { continue };
        let (name, value) = (attributes[named].value, attributes[held].value);
        let tells = is_input || SENT_BACK.iter().any(|part| name.to_ascii_lowercase().contains(part));
        if !tells || !is_telling(value, name) || value.contains(['&', '\'', '>']) {
            continue;
        }
        let place = place(element, &attributes[named], &attributes[held], named < held);
        let taken = Place::parse(&place).ok().and_then(|place| place.find(text.as_bytes(), []));
        if taken.as_deref() == Some(value) {
            values.push(Found { value: value.to_owned(), place, name: name.to_owned(), is_segment: false });
        }
    }
}

fn attributes(tag: &str) -> Vec<Attribute<'_>> {
    static ATTRIBUTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?is)\s(name|value|content|type)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"#).ok()
    });
    let found = ATTRIBUTE.as_ref().into_iter().flat_map(|attribute| attribute.captures_iter(tag));
    let attributes = found.filter_map(|found| {
        let groups = [(2, "\""), (3, "'"), (4, "")];
        let (value, quote) = groups.iter().find_map(|(group, quote)| Some((found.get(*group)?, *quote)))?;
        Some(Attribute { name: found.get(1)?.as_str().to_ascii_lowercase(), value: value.as_str(), quote })
    });
    attributes.collect()
}

/// Where the value of one attribute is that stands before or behind another that names it.
fn place(element: &str, named: &Attribute<'_>, held: &Attribute<'_>, is_behind: bool) -> String {
    let name = format!("\\sname={0}{1}{0}", named.quote, regex::escape(named.value));
    let until = if held.quote.is_empty() { "\\s>" } else { held.quote };
    let value = format!("\\s{0}={1}([^{until}]+)", held.name, held.quote);
    match is_behind {
        true => format!("regex:(?i)<{element}[^>]*{name}[^>]*{value}"),
        false => format!("regex:(?i)<{element}[^>]*{value}[^>]*{name}"),
    }
}
