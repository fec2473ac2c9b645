//! `headworks gate explain`: what would become of a request, and which rule says so.

use std::fmt;
use std::net::IpAddr;

use http::Request;
use units::{ClassId, SessionId};

use crate::clock::Clock;
use crate::error::Error;
use crate::rules::Subject;
use crate::sessions::Sessions;
use crate::settings::Settings;

/// Why a request is of its class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    class: String,
    why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Session {
        id: SessionId,
        raised: bool,
    },
    /// From 1, in the order of the file.
    Rule(usize),
    Last,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "class {}: ", self.class)?;
        match self.why {
            Why::Session { id, raised: false } => write!(f, "session {id:x} says so", id = id.0),
            Why::Session { id, raised: true } => write!(f, "session {id:x} was raised to it", id = id.0),
            Why::Rule(number) => write!(f, "rule {number} matches first"),
            Why::Last => f.write_str("no rule matches, so it is of the last class"),
        }
    }
}

/// Says which class a request from `address` is of. `request` is a request line, with or without
/// its version, and header lines.
///
/// # Errors
/// When `request` is no request.
pub fn explain(settings: &Settings, request: &str, address: IpAddr) -> Result<Explanation, Error> {
    let request = parse(request)?;
    let sessions = Sessions::new(settings.session.clone(), &settings.classes, None)?;
    let named = |class: ClassId, why| {
        let class = settings.classes.get(class.index()).or(settings.classes.last());
        Explanation { class: class.cloned().unwrap_or_default(), why }
    };
    if let Some(visit) = sessions.find(request.headers(), Clock::start().read()) {
        let session = visit.session;
        return Ok(named(session.class, Why::Session { id: session.id, raised: session.raised }));
    }
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    let subject = Subject { method, uri, headers, address, session: None };
    Ok(match settings.rules.find(subject) {
        Some((index, class)) => named(class, Why::Rule(index + 1)),
        None => named(ClassId(u8::MAX), Why::Last),
    })
}

fn parse(text: &str) -> Result<Request<()>, Error> {
    let wrong = |line: &str| Error::Request { line: line.to_owned() };
    let mut lines = text.lines().map(str::trim);
    let first = lines.next().unwrap_or_default();
    let mut words = first.split_ascii_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Err(wrong(first)) };
    let mut request = Request::builder().method(method).uri(target);
    for line in lines.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or_else(|| wrong(line))?;
        request = request.header(name.trim(), value.trim());
    }
    request.body(()).map_err(|_| wrong(first))
}
