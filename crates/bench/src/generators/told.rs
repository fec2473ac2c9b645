//! [`Told`]: what a generator says of its run.

use std::collections::BTreeMap;

use anyhow::bail;
use serde::Serialize;

/// What a generator says of its run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Told {
    /// Complete responses with the status 200.
    pub(crate) requests: u64,
    /// Those per second.
    pub(crate) rate: f64,
    /// Bytes received; some generators count bodies only.
    pub(crate) bytes: f64,
    /// All that went wrong, by the generator's name for it.
    pub(crate) errors: BTreeMap<String, u64>,
}

impl Told {
    /// Responses that refuse, with another status than 200, are what was asked for.
    pub(crate) fn count_refusals(&mut self) {
        self.requests = self.errors.remove(Self::OTHER_STATUSES).unwrap_or(0);
    }

    /// What [`Self::errors`] calls responses with another status.
    pub(super) const OTHER_STATUSES: &str = "other statuses";

    /// Why there is no figure in this: errors, no requests, or other content than was asked for.
    pub(crate) fn failure(&self, size: usize) -> Option<String> {
        let wrong: Vec<_> = self.errors.iter().map(|(what, count)| format!("{count} {what}")).collect();
        if !wrong.is_empty() {
            return Some(wrong.join(", "));
        }
        if self.requests == 0 {
            return Some("no requests".to_owned());
        }
        // Generators round, and count a response at another moment than its bytes.
        let least = self.requests as f64 * size as f64 * 0.95;
        (self.bytes < least).then(|| format!("{:.0} bytes instead of {least:.0} or more", self.bytes))
    }
}

/// The text between two others, without spaces around it.
pub(super) fn between<'a>(text: &'a str, before: &str, after: &str) -> anyhow::Result<&'a str> {
    match text.split_once(before).and_then(|(_, rest)| rest.split_once(after)) {
        Some((found, _)) => Ok(found.trim()),
        None => bail!("nothing between {before:?} and {after:?} in: {}", text.trim()),
    }
}

/// Keeps what was counted at all.
pub(super) fn counted<const N: usize>(errors: [(&str, u64); N]) -> BTreeMap<String, u64> {
    errors.into_iter().filter(|(_, count)| *count > 0).map(|(what, count)| (what.to_owned(), count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(requests: u64, bytes: f64, errors: [(&str, u64); 1]) -> Told {
        Told { requests, rate: 1.0, bytes, errors: counted(errors) }
    }

    #[test]
    fn errors_missing_content_and_no_requests_are_failures() {
        assert_eq!(told(10, 10_240.0, [("reset", 0)]).failure(1024), None);
        assert_eq!(told(10, 10_240.0, [("reset", 2)]).failure(1024).as_deref(), Some("2 reset"));
        assert_eq!(told(0, 0.0, [("reset", 0)]).failure(1024).as_deref(), Some("no requests"));
        assert!(told(10, 5_000.0, [("reset", 0)]).failure(1024).is_some());
    }
}
