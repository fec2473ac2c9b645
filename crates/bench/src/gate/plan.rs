//! [`GatePlan`]: who takes part in which case, and how much of it is done.

use super::case::{Case, SIZES};
use super::protocol::Protocol;
use super::proxy::Proxy;
use crate::generators::ask::Reuse;
use crate::harness::plan::{Effort, Plan};

/// What takes part.
#[derive(Debug, Clone)]
pub(super) struct GatePlan {
    pub(super) plan: Plan<Case, Proxy>,
    /// Whether latency is measured.
    pub(super) latency: bool,
    /// Whose idle connections are weighed.
    pub(super) idle: Vec<Proxy>,
    /// Idle connections opened.
    pub(super) connections: u32,
}

impl GatePlan {
    /// Names of what is not a case at saturation.
    pub(super) const LATENCY: &str = "latency";
    pub(super) const IDLE: &str = "idle";

    /// Everything, five rounds of four seconds.
    pub(super) fn full() -> Self {
        let mut cases = Vec::new();
        for size in SIZES {
            for reuse in [Reuse::KeepAlive, Reuse::Close] {
                cases.push(Case { size, reuse, ..Case::FIRST });
            }
        }
        cases.extend([Protocol::Tls, Protocol::Http2].map(|protocol| Case { protocol, ..Case::FIRST }));
        cases.push(Case::REFUSED);
        Self {
            plan: Plan {
                cases: cases.into_iter().map(|case| (case, Proxy::ALL.into())).collect(),
                saturation: Effort { rounds: 5, seconds: 4 },
                open_loop: Effort { rounds: 5, seconds: 5 },
                of_record: true,
            },
            latency: true,
            idle: Proxy::ALL.into(),
            connections: 10_000,
        }
    }

    /// Whether all of it works, in about a minute.
    pub(super) fn quick() -> Self {
        let cases = [Protocol::Http1, Protocol::Tls, Protocol::Http2]
            .map(|protocol| Case { protocol, ..Case::FIRST })
            .into_iter()
            .chain([Case::REFUSED])
            .map(|case| (case, Proxy::ALL.into()));
        Self {
            plan: Plan {
                cases: cases.collect(),
                saturation: Effort { rounds: 2, seconds: 1 },
                open_loop: Effort { rounds: 1, seconds: 1 },
                of_record: false,
            },
            connections: 1_000,
            ..Self::full()
        }
    }

    /// Keeps what has the pattern in its name.
    pub(super) fn keep_only(&mut self, pattern: &str) {
        self.plan.keep_only(pattern, Proxy::name);
        self.latency = Self::LATENCY.contains(pattern);
        self.idle.retain(|proxy| format!("{}/{}", Self::IDLE, proxy.name()).contains(pattern));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.plan.cases.is_empty() && !self.latency && self.idle.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_plan_is_what_the_page_says() {
        let names: Vec<_> = GatePlan::full().plan.cases.iter().map(|(case, _)| case.to_string()).collect();
        assert_eq!(
            names,
            [
                "1k/keep-alive/http1",
                "1k/close/http1",
                "100k/keep-alive/http1",
                "100k/close/http1",
                "1k/keep-alive/tls",
                "1k/keep-alive/http2",
                "refused/keep-alive/http1"
            ]
        );
    }

    #[test]
    fn a_pattern_keeps_cases_proxies_or_another_figure() {
        let kept = |pattern| {
            let mut plan = GatePlan::full();
            plan.keep_only(pattern);
            (plan.plan.cases.len(), plan.latency, plan.idle.len(), plan.plan.of_record)
        };
        assert_eq!(kept("1k/keep-alive/http1"), (1, false, 0, false));
        assert_eq!(kept("/haproxy"), (7, false, 1, false));
        assert_eq!(kept("latency"), (0, true, 0, false));
        assert_eq!(kept("idle"), (0, false, 3, false));
        assert_eq!(kept("nothing"), (0, false, 0, false));
    }
}
