//! [`Verdict`]: whether a class is better off.

use crate::api::estimate::Estimate;
use crate::api::foresight::Class;

/// Response times without an interval differ noticeably from this factor on.
const NOTICEABLE: f64 = 1.25;

/// How a class fares beside how it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Better,
    Worse,
    /// More of its sessions are completed, and its responses are slower.
    MoreSlower,
    FewerFaster,
    /// It cannot be told.
    Same,
}

impl Verdict {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::MoreSlower => "more completed, slower",
            Self::FewerFaster => "fewer completed, faster",
            Self::Same => "no noticeable difference",
        }
    }
}

/// By the share of sessions that are completed, and by response times; nothing of a class without sessions.
pub(super) fn judge(before: &Class, after: &Class) -> Option<Verdict> {
    before.completion.mean.and(after.completion.mean)?;
    let (more, slower) = (compare(before.completion, after.completion), compare(before.p95, after.p95));
    Some(match (more, slower) {
        (None, None) => Verdict::Same,
        (Some(true), Some(true)) => Verdict::MoreSlower,
        (Some(false), Some(false)) => Verdict::FewerFaster,
        (Some(true), _) | (None, Some(false)) => Verdict::Better,
        (Some(false), _) | (None, Some(true)) => Verdict::Worse,
    })
}

/// Whether it is more; nothing where the 95 % intervals do not tell, and without them, where it is about as much.
pub(super) fn compare(before: Estimate, after: Estimate) -> Option<bool> {
    let [[before_low, before_high], [low, high]] = match before.beside(after) {
        Some(both) => both,
        None => {
            let (before, after) = (before.mean?.max(0.0), after.mean?.max(0.0));
            [[before, before * NOTICEABLE], [after, after * NOTICEABLE]]
        }
    };
    if low > before_high {
        Some(true)
    } else if high < before_low {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::read;

    fn class(completion: f64, p95: [f64; 3]) -> Class {
        let of = |[mean, low, high]: [f64; 3]| serde_json::json!({ "mean": mean, "ci": [low, high] });
        let value = serde_json::json!({
            "name": "a", "completed": of([1.0, 1.0, 1.0]), "completion": of([completion, completion - 0.01, completion + 0.01]),
            "p95": of(p95),
        });
        read(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn better_worse_both_or_neither() {
        let before = class(0.5, [1.0, 0.9, 1.1]);
        for (after, verdict) in [
            (class(0.51, [1.05, 0.95, 1.2]), Verdict::Same),
            (class(0.6, [1.05, 0.95, 1.2]), Verdict::Better),
            (class(0.4, [1.05, 0.95, 1.2]), Verdict::Worse),
            (class(0.5, [0.5, 0.4, 0.6]), Verdict::Better),
            (class(0.5, [2.0, 1.9, 2.1]), Verdict::Worse),
            (class(0.6, [2.0, 1.9, 2.1]), Verdict::MoreSlower),
            (class(0.4, [0.5, 0.4, 0.6]), Verdict::FewerFaster),
        ] {
            assert_eq!(judge(&before, &after), Some(verdict));
        }
        let unknown = Class { completion: Estimate::default(), ..class(0.5, [1.0, 0.9, 1.1]) };
        assert_eq!(judge(&before, &unknown), None);
    }
}
