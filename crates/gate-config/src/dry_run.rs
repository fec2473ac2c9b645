//! What `headworks gate explain` says: what would become of a request, and which rule says so.

use std::fmt;
use std::net::IpAddr;

use http::{HeaderMap, Request};
use policy::Session;
use units::{ClassId, Span, Time};

use crate::rules::subject::{Facts, Subject};
use crate::settings::root::Settings;

/// A request to explain.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// A request line, with or without its version, and header lines.
    pub request: &'a str,
    /// Where it comes from.
    pub address: IpAddr,
    /// The name asked for in the TLS handshake, if there is one.
    pub server_name: Option<&'a str>,
    /// Name of the class of the session that it is to be taken for one of, and how old that is;
    /// without it, the request's token says.
    pub session: Option<(&'a str, Span)>,
}

/// Why nothing can be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// A session to explain is of no class that there is.
    #[error("there is no class \"{class}\"; there are {known}")]
    Class {
        /// As given.
        class: String,
        /// Those there are.
        known: String,
    },
    /// What should be a request is not one.
    #[error(
        "\"{line}\" is no part of a request; give for example 'GET /path' and header lines 'Name: value'"
    )]
    Request {
        /// The line that cannot be understood.
        line: String,
    },
}

/// Why a request is of its class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    class: String,
    why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Why {
    /// Its session, described.
    Session(String),
    /// From 1, in the order of the file, and the session that it raises.
    Raise(usize, String),
    /// From 1, in the order of the file.
    Rule(usize),
    /// A rule, from 1 in the order of the file, that gives a session a higher class, and the session.
    RuleAgain(usize, String),
    /// A session, described, and what raises it if the response is as it asks for: from 1, the statuses, the
    /// class.
    ByStatus(String, usize, String, String),
    Last,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "class {}: ", self.class)?;
        match &self.why {
            Why::Session(session) => write!(f, "{session}"),
            Why::Raise(number, session) => write!(f, "raise {number} raises it; {session}"),
            Why::RuleAgain(number, session) => write!(f, "rule {number} matches by now; {session}"),
            Why::ByStatus(session, number, statuses, class) => {
                write!(f, "{session}; raise {number} raises it to {class} if the response is {statuses}")
            }
            Why::Rule(number) => write!(f, "rule {number} matches first"),
            Why::Last => f.write_str("no rule matches, so it is of the last class"),
        }
    }
}

/// Says which class a request is of. `session_at` opens the token of a session in the headers, and says
/// when that is.
///
/// # Errors
/// When it is not a request, or the session's class is not configured.
pub fn explain(
    settings: &Settings,
    question: Question<'_>,
    session_at: impl FnOnce(&HeaderMap) -> Option<(Session, Time)>,
) -> Result<Explanation, ExplainError> {
    let request = parse(question.request)?;
    let explained = |class: ClassId, why| {
        let class = settings.classes.get(class.index()).or(settings.classes.last());
        Explanation { class: class.cloned().unwrap_or_default(), why }
    };
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    let subject = Subject {
        method,
        uri,
        headers,
        address: question.address,
        server_name: question.server_name,
        session: None,
    };
    let Some(session) = session(settings, &request, question.session, session_at)? else {
        return Ok(match settings.rules.find(subject) {
            Some((index, class)) => explained(class, Why::Rule(index + 1)),
            None => explained(ClassId(u8::MAX), Why::Last),
        });
    };
    let Supposed { class, age, raised, said } = session;
    let name = settings.classes.get(class.index()).map_or("", String::as_str);
    let subject = Subject { session: Some(Facts { class: name, age, raised }), ..subject };
    if let Some((index, class)) = settings.rules.find_again(subject, class) {
        return Ok(explained(class, Why::RuleAgain(index + 1, said)));
    }
    if let Some((index, class)) = settings.rules.raise(subject, class) {
        return Ok(explained(class, Why::Raise(index + 1, said)));
    }
    let by_status = settings.rules.raises_by_status(subject, class);
    let by_status =
        by_status.first().and_then(|position| Some((position, settings.rules.asked_by(*position)?)));
    Ok(match by_status {
        Some((position, (statuses, raised_to))) => {
            let raised_to = settings.classes.get(raised_to.index()).cloned().unwrap_or_default();
            explained(class, Why::ByStatus(said, position + 1, statuses, raised_to))
        }
        None => explained(class, Why::Session(said)),
    })
}

/// A session that a request is one of.
struct Supposed {
    class: ClassId,
    age: Span,
    raised: bool,
    said: String,
}

fn session(
    settings: &Settings,
    request: &Request<()>,
    supposed: Option<(&str, Span)>,
    session_at: impl FnOnce(&HeaderMap) -> Option<(Session, Time)>,
) -> Result<Option<Supposed>, ExplainError> {
    if let Some((name, age)) = supposed {
        let index = settings.classes.iter().position(|class| class == name);
        let class = index.and_then(|index| u8::try_from(index).ok()).map(ClassId);
        let unknown = || ExplainError::Class { class: name.to_owned(), known: settings.classes.join(", ") };
        let said = format!("its session is of class {name}");
        return Ok(Some(Supposed { class: class.ok_or_else(unknown)?, age, raised: false, said }));
    }
    Ok(session_at(request.headers()).map(|(session, now)| {
        let Session { id, class, issued, raised, .. } = session;
        let does = if raised { "was raised to it" } else { "says so" };
        let said = format!("session {id:016x} {does}", id = id.0);
        Supposed { class, age: now.since(issued), raised, said }
    }))
}

fn parse(text: &str) -> Result<Request<()>, ExplainError> {
    let wrong = |line: &str| ExplainError::Request { line: line.to_owned() };
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
