//! What is asked of each generator: the cases, and which of them a run of the benchmark takes.

use std::fmt;

use crate::generators::ask::Reuse;
use crate::generators::generator::Generator;
use crate::harness::plan::{Effort, Plan};

/// Bytes of the files that are fetched.
pub(super) const SIZES: [usize; 2] = [1024, 102_400];

/// One cell of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Case {
    pub(super) size: usize,
    pub(super) reuse: Reuse,
    pub(super) connections: u32,
}

/// What takes part.
#[derive(Debug, Clone)]
pub(super) struct LoadPlan {
    pub(super) plan: Plan<Case, Generator>,
    pub(super) paces: Vec<Pacing>,
}

/// A run at a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pacing {
    /// Of the highest rate, in per cent.
    pub(super) percent: u32,
    pub(super) arrivals: &'static str,
}

impl Case {
    /// What the highest rate is found from, and what a quick run is about.
    pub(super) const FIRST: Self = Self { size: SIZES[0], reuse: Reuse::KeepAlive, connections: 64 };

    pub(super) fn size_name(self) -> String {
        format!("{} KiB", self.size / 1024)
    }

    pub(super) fn reuse_name(self) -> &'static str {
        match self.reuse {
            Reuse::KeepAlive => "keep-alive",
            Reuse::Close => "a connection per request",
        }
    }
}

/// As in `--only` and in the raw results: `1k/keep-alive/64`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reuse = match self.reuse {
            Reuse::KeepAlive => "keep-alive",
            Reuse::Close => "close",
        };
        write!(f, "{}k/{reuse}/{}", self.size / 1024, self.connections)
    }
}

/// `pacing/50/poisson`.
impl fmt::Display for Pacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pacing/{}/{}", self.percent, self.arrivals)
    }
}

impl LoadPlan {
    /// Everything, five rounds of five seconds.
    pub(super) fn full() -> Self {
        let mut cases = Vec::new();
        for size in SIZES {
            for reuse in [Reuse::KeepAlive, Reuse::Close] {
                for connections in [64, 1000] {
                    cases.push((Case { size, reuse, connections }, able(reuse)));
                }
            }
        }
        let percents = [10, 50, 90].into_iter();
        let paces =
            percents.flat_map(|percent| ["constant", "poisson"].map(|arrivals| Pacing { percent, arrivals }));
        Self {
            plan: Plan {
                cases,
                saturation: Effort { rounds: 5, seconds: 5 },
                open_loop: Effort { rounds: 3, seconds: 10 },
                of_record: true,
            },
            paces: paces.collect(),
        }
    }

    /// Whether all of it works, in about a minute.
    pub(super) fn quick() -> Self {
        let closing = Case { reuse: Reuse::Close, ..Case::FIRST };
        Self {
            plan: Plan {
                cases: [Case::FIRST, closing].map(|case| (case, able(case.reuse))).into(),
                saturation: Effort { rounds: 2, seconds: 2 },
                open_loop: Effort { rounds: 1, seconds: 2 },
                of_record: false,
            },
            paces: vec![Pacing { percent: 50, arrivals: "constant" }],
        }
    }

    /// Keeps what has the pattern in its name.
    pub(super) fn keep_only(&mut self, pattern: &str) {
        self.plan.keep_only(pattern, Generator::name);
        self.paces.retain(|pacing| pacing.to_string().contains(pattern));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.plan.cases.is_empty() && self.paces.is_empty()
    }
}

fn able(reuse: Reuse) -> Vec<Generator> {
    Generator::ALL.into_iter().filter(|peer| peer.can(reuse)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_plan_is_the_whole_matrix() {
        let plan = LoadPlan::full();
        let names: Vec<_> = plan.plan.cases.iter().map(|(case, _)| case.to_string()).collect();
        assert_eq!(
            names,
            [
                "1k/keep-alive/64",
                "1k/keep-alive/1000",
                "1k/close/64",
                "1k/close/1000",
                "100k/keep-alive/64",
                "100k/keep-alive/1000",
                "100k/close/64",
                "100k/close/1000"
            ]
        );
        assert!(plan.plan.cases.iter().all(|(case, peers)| {
            peers.contains(&Generator::H2load) == (case.reuse == Reuse::KeepAlive)
                && peers.contains(&Generator::Wrk)
        }));
        assert_eq!(plan.paces.len(), 6);
    }

    #[test]
    fn a_pattern_keeps_cases_generators_or_paces() {
        let kept = |pattern| {
            let mut plan = LoadPlan::full();
            plan.keep_only(pattern);
            (plan.plan.cases.len(), plan.paces.len(), plan.plan.of_record)
        };
        assert_eq!(kept("1k/keep-alive/64"), (1, 0, false));
        assert_eq!(kept("/wrk"), (8, 0, false));
        assert_eq!(kept("pacing/50"), (0, 2, false));
        assert_eq!(kept("nothing"), (0, 0, false));
    }
}
