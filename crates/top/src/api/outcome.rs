//! `GET /api/v1/outcome`.

use serde::Deserialize;

use super::estimate::Estimate;
use super::foresight::Class;

/// Fewer sessions say nothing.
pub(crate) const FEW: f64 = 30.0;

/// What came of the sessions that began in some time.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Outcome {
    /// From when on they began, Unix seconds.
    pub(crate) from: f64,
    /// Until when.
    pub(crate) to: f64,
    pub(crate) classes: Vec<ClassOutcome>,
}

/// What came of those of a class.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ClassOutcome {
    pub(crate) name: String,
    /// 1/s; those that are under way are reckoned in.
    pub(crate) completed: f64,
    /// Share of those that have ended; none where none has.
    pub(crate) completion: Option<f64>,
    /// How many have ended.
    pub(crate) sessions: f64,
    /// From request to answer, s.
    pub(crate) p95: Option<f64>,
}

impl Outcome {
    fn seconds(&self) -> f64 {
        (self.to - self.from).max(0.0)
    }

    /// How many have ended.
    pub(crate) fn sessions(&self) -> f64 {
        self.classes.iter().map(|class| class.sessions).sum()
    }

    /// Its classes as a prediction has them. Response times have no interval, and of few sessions none are given.
    pub(crate) fn figures(&self) -> Vec<Class> {
        let one = |class: &ClassOutcome| Class {
            name: class.name.clone(),
            completed: Estimate::rate(class.completed * self.seconds(), self.seconds()),
            completion: class
                .completion
                .map_or_else(Estimate::default, |share| Estimate::share(share, class.sessions)),
            p95: Estimate::bare(class.p95.filter(|_| class.sessions >= FEW)),
        };
        self.classes.iter().map(one).collect()
    }

    /// Completed sessions of all classes per second.
    pub(crate) fn together(&self) -> Estimate {
        let completed: f64 = self.classes.iter().map(|class| class.completed).sum();
        Estimate::rate(completed * self.seconds(), self.seconds())
    }
}
