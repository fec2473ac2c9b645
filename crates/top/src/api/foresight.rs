//! `POST /api/v1/foresight`.

use serde::Deserialize;

use super::estimate::{Estimate, or_unknown};
use super::state::Knobs;

/// What would come of knobs.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Foresight {
    /// In the order of the knobs that were asked for, as far as there was time to simulate them.
    pub(crate) points: Vec<Point>,
    #[serde(default)]
    pub(crate) remarks: Vec<String>,
    pub(crate) load: Option<Load>,
    /// Which of them to take, where none was asked for.
    pub(crate) suggested: Option<Knobs>,
}

/// What the prediction is made of.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Load {
    /// For how long it was looked at.
    #[serde(default)]
    pub(crate) seconds: f64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Point {
    #[serde(flatten)]
    pub(crate) knobs: Knobs,
    pub(crate) classes: Vec<Class>,
    /// Completed sessions of all classes per second.
    #[serde(default, deserialize_with = "or_unknown")]
    pub(crate) throughput: Estimate,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Class {
    pub(crate) name: String,
    /// Sessions per second.
    pub(crate) completed: Estimate,
    /// Share of sessions.
    #[serde(deserialize_with = "or_unknown")]
    pub(crate) completion: Estimate,
    /// From request to answer, s.
    #[serde(deserialize_with = "or_unknown")]
    pub(crate) p95: Estimate,
}

impl Point {
    /// As it is compared with points of other answers, for which other users came.
    pub(crate) fn alone(self) -> Self {
        let class = |class: Class| Class {
            completed: class.completed.alone(),
            completion: class.completion.alone(),
            p95: class.p95.alone(),
            ..class
        };
        Self {
            classes: self.classes.into_iter().map(class).collect(),
            throughput: self.throughput.alone(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::read;

    #[test]
    fn a_class_without_sessions_has_no_intervals() {
        let estimate = r#"{"mean": null, "ci": [0.0, null]}"#;
        let known = r#"{"mean": 1.0, "ci": [0.5, 1.5]}"#;
        let text = format!(
            r#"{{"points": [{{"differentiation": 0.9, "favour": 0.5, "classes": [
                {{"name": "basic", "completed": {known}, "completion": {estimate}, "p50": {estimate}, "p95": {estimate}}}]}}]}}"#
        );
        let foresight: Foresight = read(text.as_bytes()).unwrap();
        let class = &foresight.points[0].classes[0];
        assert_eq!((class.completed.interval(), class.p95.interval()), (Some([0.5, 1.5]), None));
    }
}
