//! [`Cell`]: the repetitions of one figure's runs, as a table shows them.

use std::collections::BTreeMap;

use stats::Spread;

use crate::results::text::show;

/// A run that was repeated in each round.
pub(crate) trait Repeated {
    fn round(&self) -> u32;
    /// Why there is no figure in it.
    fn failure(&self) -> Option<&str>;
}

/// The runs of one thing in one case.
#[derive(Debug)]
pub(crate) struct Cell<'a, R> {
    pub(crate) runs: Vec<&'a R>,
}

impl<R: Repeated> Cell<'_, R> {
    /// Why there is no figure; one failed round makes the others doubtful too.
    fn failure(&self) -> Option<String> {
        let failed: Vec<_> = self.runs.iter().filter_map(|run| run.failure()).collect();
        let why = failed.first()?;
        Some(format!("{} in {} of {} rounds", why.replace('|', "/"), failed.len(), self.runs.len()))
    }

    /// A figure of each run, unless one failed.
    pub(crate) fn by_round(&self, value: impl Fn(&R) -> Option<f64>) -> BTreeMap<u32, f64> {
        match self.failure() {
            Some(_) => BTreeMap::new(),
            None => self.runs.iter().filter_map(|run| Some((run.round(), value(run)?))).collect(),
        }
    }

    pub(crate) fn spread(&self, value: impl Fn(&R) -> Option<f64>) -> Option<Spread> {
        Spread::of(self.by_round(value).into_values())
    }

    /// The figure, or why it is absent.
    pub(crate) fn told(&self, value: impl Fn(&R) -> Option<f64>) -> String {
        self.failure().unwrap_or_else(|| show(self.spread(value)))
    }
}
