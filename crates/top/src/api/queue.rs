//! `GET /api/v1/queue`.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

/// Requests that wait, those first that have waited longest.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Queue {
    /// How many match.
    #[serde(default)]
    pub(crate) waiting: f64,
    #[serde(default)]
    pub(crate) requests: Vec<Request>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Request {
    #[serde(default)]
    pub(crate) id: String,
    pub(crate) class: Option<String>,
    pub(crate) stage: Option<String>,
    /// Seconds since it arrived.
    #[serde(default)]
    pub(crate) age: f64,
    #[serde(default)]
    pub(crate) client: String,
    #[serde(default)]
    pub(crate) method: String,
    #[serde(default)]
    pub(crate) path: String,
}

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) search: String,
    pub(crate) offset: usize,
}

/// More than the highest terminal has rows.
const LIMIT: usize = 200;

impl Wanted {
    pub(crate) fn path(&self) -> String {
        let mut path = format!("/api/v1/queue?limit={LIMIT}");
        if self.offset > 0 {
            path += &format!("&offset={}", self.offset);
        }
        if !self.search.is_empty() {
            path += &format!("&search={}", utf8_percent_encode(&self.search, NON_ALPHANUMERIC));
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_says_nothing_else() {
        let wanted = Wanted { search: "a&limit=9 ?#\u{e9}".to_owned(), offset: 5 };
        assert_eq!(wanted.path(), "/api/v1/queue?limit=200&offset=5&search=a%26limit%3D9%20%3F%23%C3%A9");
        assert_eq!(Wanted::default().path(), "/api/v1/queue?limit=200");
    }
}
