//! [`Plan`]: which cases there are, who takes part in each, and how much of it is done.

use std::fmt::Display;

use super::rounds;

/// How often, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    pub(crate) rounds: u32,
    /// Of each run.
    pub(crate) seconds: u32,
}

/// What takes part: subjects `S` in cases `C`.
#[derive(Debug, Clone)]
pub(crate) struct Plan<C, S> {
    pub(crate) cases: Vec<(C, Vec<S>)>,
    /// As fast as can be.
    pub(crate) saturation: Effort,
    /// At given rates.
    pub(crate) open_loop: Effort,
    /// Whether figures of it are worth keeping.
    pub(crate) of_record: bool,
}

impl<C: Copy + Display, S: Copy> Plan<C, S> {
    /// Keeps the subjects of cases that have the pattern in their names, such as `1k/keep-alive/wrk`; what is left is
    /// no longer a record of the whole.
    pub(crate) fn keep_only(&mut self, pattern: &str, name: impl Fn(S) -> &'static str) {
        for (case, subjects) in &mut self.cases {
            subjects.retain(|subject| format!("{case}/{}", name(*subject)).contains(pattern));
        }
        self.cases.retain(|(_, subjects)| !subjects.is_empty());
        self.of_record = false;
    }

    /// Runs every subject once in every case in each round, so that a slow minute of the machine falls on all of
    /// them.
    pub(crate) fn saturate<R>(
        &self,
        measure: impl Fn(C, S, u32, u32) -> R,
        progress: impl Fn(u32, u32, &R),
    ) -> Vec<R> {
        let Effort { rounds, seconds } = self.saturation;
        let mut runs = Vec::new();
        for round in 0..rounds {
            for (case, subjects) in &self.cases {
                for subject in rounds::order(subjects, round) {
                    let run = measure(*case, subject, round, seconds);
                    progress(round, rounds, &run);
                    runs.push(run);
                }
            }
        }
        runs
    }

    /// Runs each of `ways` once in each round at a given rate.
    pub(crate) fn pace<W: Clone, R>(
        &self,
        ways: &[W],
        measure: impl Fn(W, u32, u32) -> R,
        progress: impl Fn(u32, u32, &R),
    ) -> Vec<R> {
        let Effort { rounds, seconds } = self.open_loop;
        let mut runs = Vec::new();
        for round in 0..rounds {
            for way in rounds::order(ways, round) {
                let run = measure(way, round, seconds);
                progress(round, rounds, &run);
                runs.push(run);
            }
        }
        runs
    }
}
