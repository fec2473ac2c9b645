//! [`Workload`], and what it consists of.

use std::net::IpAddr;
use std::sync::Arc;

use config::Glob;
use units::Span;

use super::data::Data;
use super::expect::Expect;
use super::retry::Retry;
use super::take::Take;
use super::template::{Part, Template};
use super::think::Think;

/// What a session asks for. It completes only if every request gets its response in time.
#[derive(Debug, Clone)]
pub struct Workload {
    /// How long a user waits for one request before giving up.
    pub timeout: Span,
    /// Connections that a browser opens at the same time for embedded objects.
    pub connections: usize,
    /// The classes of users, in the order of the file; at least one, shares sum to 1.
    pub classes: Vec<Class>,
    /// The pages, one after the other; at least one.
    pub pages: Vec<Page>,
    /// What users do whose requests fail; without it their sessions end.
    pub retry: Option<Retry>,
    /// A table with a row for each session.
    pub data: Option<Data>,
    /// What all that pages take from responses is called.
    pub taken: Vec<String>,
}

/// A class of users, and how the server can tell it.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: Arc<str>,
    /// Its share of the sessions, above 0, at most 1.
    pub share: f64,
    /// A cookie that its users have from the start: name and value.
    pub cookie: Option<(String, String)>,
    /// Header fields on each of its requests: name and value.
    pub headers: Vec<(String, String)>,
    /// The source address of its connections.
    pub address: Option<IpAddr>,
}

/// A page, what is embedded in it, and how long its reader pauses.
#[derive(Debug, Clone)]
pub struct Page {
    /// Path and query, as they are written: with `${..}` where they differ from session to session.
    pub url: Arc<str>,
    /// What is sent for it.
    pub request: Request,
    /// What must hold for the page to be asked for; otherwise the session goes on with the next, without a pause.
    pub conditions: Vec<Condition>,
    /// The pause after the page and all that is embedded in it have arrived. The pause after
    /// the last page is not made: nothing waits for its end.
    pub think: Think,
    /// Paths and queries of the objects that are fetched once the page has arrived.
    pub embedded: Vec<Arc<str>>,
}

/// What is sent for a page, and what becomes of the response.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method; `None` for that of all requests.
    pub method: Option<String>,
    /// Path and query.
    pub url: Template,
    /// What is sent after the head; `None` for what all requests have.
    pub body: Option<Template>,
    /// Header fields besides those of all requests, or in their place: name and value.
    pub headers: Vec<(String, Template)>,
    /// What the response must be.
    pub expect: Expect,
    /// What the session remembers of it.
    pub takes: Vec<Take>,
}

impl Request {
    /// Whether all that is sent is the same in each session.
    pub fn is_fixed(&self) -> bool {
        let templates =
            [&self.url].into_iter().chain(&self.body).chain(self.headers.iter().map(|(_, value)| value));
        templates.into_iter().all(|template| template.fixed().is_some())
    }
}

/// What the value of a name must be.
#[derive(Debug, Clone)]
pub struct Condition {
    pub(super) of: Part,
    pattern: Glob,
    is_negated: bool,
}

impl Condition {
    /// `pattern`, where `*` stands for anything and `?` for one character; after `!`, anything else.
    pub(super) fn new(of: Part, pattern: &str) -> Self {
        let (is_negated, pattern) = match pattern.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, pattern),
        };
        Self { of, pattern: Glob(pattern.to_owned()), is_negated }
    }

    /// Whether it holds for a value, or for none: that matches no pattern.
    pub(super) fn holds(&self, value: Option<&str>) -> bool {
        value.is_some_and(|value| self.pattern.matches(value.as_bytes())) != self.is_negated
    }
}

impl Workload {
    /// The classes' shares of the sessions, in order.
    pub fn shares(&self) -> Vec<f64> {
        self.classes.iter().map(|class| class.share).collect()
    }

    /// How long users pause in a session, at most.
    pub fn longest_pauses(&self) -> Span {
        self.pages.iter().map(|page| page.think.longest()).sum()
    }

    /// How many requests a session makes if nothing fails.
    pub fn requests_per_session(&self) -> usize {
        self.pages.iter().map(|page| 1 + page.embedded.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_patterns_of_values() {
        let holds = |pattern: &str, value: Option<&str>| Condition::new(Part::Taken(0), pattern).holds(value);
        for (pattern, value, expected) in [
            ("pro", Some("pro"), true),
            ("pro", Some("prof"), false),
            ("pro*", Some("prof"), true),
            ("*", Some(""), true),
            ("*", None, false),
            ("!*", None, true),
            ("!*", Some("x"), false),
            ("!pro", Some("free"), true),
            ("a?c*e", Some("abcdde"), true),
            ("a?c", Some("ac"), false),
        ] {
            assert_eq!(holds(pattern, value), expected, "{pattern} for {value:?}");
        }
    }
}
