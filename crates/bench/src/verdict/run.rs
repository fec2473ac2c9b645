//! [`Run`]: a verdict.

use serde::Serialize;

pub(super) const UNKNOWN: &str = "unknown";

/// A verdict.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Run {
    pub(super) population: &'static str,
    pub(super) spec: String,
    /// One cause, or two at once.
    pub(super) planted: Vec<String>,
    pub(super) server: String,
    pub(super) seed: u64,
    /// When, in UTC.
    pub(super) searched: Option<String>,
    /// Nothing where the bottleneck was not found.
    pub(super) found: Option<String>,
    /// The likeliest first.
    pub(super) candidates: Vec<(String, f64)>,
    /// Per second.
    pub(super) capacity: Option<f64>,
    pub(super) seconds: f64,
    /// What was carried after what was named was relieved, and after what was next likely was, alone.
    pub(super) relieved: Option<Relieved>,
    pub(super) runner_up: Option<Relieved>,
    /// Why there is no verdict.
    pub(super) failure: Option<String>,
}

/// What was relieved, and how many times as much was carried then.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Relieved {
    pub(super) name: String,
    pub(super) times: f64,
}

impl Run {
    pub(super) fn named(&self) -> &str {
        self.found.as_deref().unwrap_or(UNKNOWN)
    }

    /// Whether what is named was planted.
    pub(super) fn is_right(&self) -> bool {
        self.found.as_ref().is_some_and(|found| self.planted.contains(found))
    }

    /// Whether the first so many of what it may be are all that was planted.
    pub(super) fn has_all(&self) -> bool {
        let first: Vec<&String> =
            self.candidates.iter().take(self.planted.len()).map(|(name, _)| name).collect();
        self.planted.iter().all(|planted| first.contains(&planted))
    }

    /// How likely it was said to be that it is something of what was planted.
    pub(super) fn probability(&self) -> f64 {
        if self.candidates.is_empty() {
            return f64::from(u8::from(self.is_right()));
        }
        let planted = self.candidates.iter().filter(|(name, _)| self.planted.contains(name));
        planted.map(|(_, likely)| *likely).sum::<f64>().min(1.0)
    }

    /// How likely what was named was said to be.
    pub(super) fn confidence(&self) -> f64 {
        match &self.found {
            Some(found) if self.candidates.is_empty() => f64::from(u8::from(!found.is_empty())),
            Some(found) => {
                self.candidates.iter().find(|(name, _)| name == found).map_or(1.0, |(_, likely)| *likely)
            }
            None => 0.0,
        }
    }
}
