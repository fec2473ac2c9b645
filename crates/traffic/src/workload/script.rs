//! [`Workload`], and what it consists of.

use std::net::IpAddr;
use std::sync::Arc;

use units::Span;

use super::think::Think;

/// What a session asks for. It completes only if every request gets its response in time.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// How long a user waits for one request before giving up.
    pub timeout: Span,
    /// Connections that a browser opens at the same time for embedded objects.
    pub connections: usize,
    /// The classes of users, in the order of the file; at least one, shares sum to 1.
    pub classes: Vec<Class>,
    /// The pages, one after the other; at least one.
    pub pages: Vec<Page>,
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
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Path and query.
    pub url: Arc<str>,
    /// The pause after the page and all that is embedded in it have arrived. The pause after
    /// the last page is not made: nothing waits for its end.
    pub think: Think,
    /// Paths and queries of the objects that are fetched once the page has arrived.
    pub embedded: Vec<Arc<str>>,
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
