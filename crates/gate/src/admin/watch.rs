//! What happens without an operator: once a second it is kept for an hour, and told to those who listen, as sums.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use policy::{Counters, Reason};
use serde_json::json;

use crate::admin::history::Sampler;
use crate::process::gate::Gate;

const INTERVAL: Duration = Duration::from_secs(1);
/// From here on the policy refuses those that begin a session; below the other it is over. The
/// two differ, so that what moves about one of them is not told every second.
const PRESSED: f64 = 0.8;
const RELIEVED: f64 = 0.7;

/// Counts as they were.
#[derive(Debug, Default)]
struct Before {
    /// Of each class, then of the unclassified.
    rejected: Vec<[u64; Reason::ALL.len()]>,
    finished: u64,
    failures: BTreeMap<&'static str, u64>,
    raises: [(&'static str, u64); 2],
    pressed: bool,
    failing: bool,
}

/// Watches for as long as it is polled.
pub(crate) async fn watch(gate: Rc<Gate>) {
    let mut before = Before { raises: gate.proxy.raises.counts(), ..Before::default() };
    before.look(&gate, false);
    let mut sampler = Sampler::new(&gate);
    loop {
        tokio::time::sleep(INTERVAL).await;
        sampler.take(&gate);
        before.look(&gate, gate.events.any());
    }
}

impl Before {
    /// Takes the counts, and tells what has changed.
    fn look(&mut self, gate: &Gate, tell: bool) {
        let driver = gate.admission.driver.borrow();
        let (policy, now) = (driver.policy(), driver.policy().snapshot());
        let mut counters: Vec<Counters> = policy.class_snapshots().map(|class| class.counters).collect();
        let finished = counters.iter().map(|counters| counters.finished).sum();
        counters.push(now.unclassified);
        drop(driver);
        let rejected: Vec<_> = counters.iter().map(|counters| counters.rejected).collect();
        if tell {
            self.rejections(gate, &rejected);
        }
        self.rejected = rejected;
        self.raises(gate);
        self.upstream(gate, finished);
        self.pressure(gate, now.pressure.as_f64());
    }

    fn rejections(&self, gate: &Gate, now: &[[u64; Reason::ALL.len()]]) {
        let names = gate.classes().iter().map(String::as_str).chain(["unclassified"]);
        let mut total = 0;
        let mut classes = serde_json::Map::new();
        for ((name, now), before) in names.zip(now).zip(&self.rejected) {
            let mut reasons = serde_json::Map::new();
            for reason in Reason::ALL {
                let more = now[reason.index()].saturating_sub(before[reason.index()]);
                if more > 0 {
                    total += more;
                    reasons.insert(reason.name().to_owned(), more.into());
                }
            }
            if !reasons.is_empty() {
                classes.insert(name.to_owned(), reasons.into());
            }
        }
        if total > 0 {
            gate.events.tell("rejections", || json!({ "total": total, "classes": classes }));
        }
    }

    fn raises(&mut self, gate: &Gate) {
        let now = gate.proxy.raises.counts();
        if now != self.raises {
            let more = now
                .iter()
                .zip(&self.raises)
                .map(|((by, now), (_, before))| ((*by).to_owned(), (now - before).into()));
            let more: serde_json::Map<_, _> = more.collect();
            gate.events.tell("raised", || more.into());
        }
        self.raises = now;
    }

    fn upstream(&mut self, gate: &Gate, finished: u64) {
        let failures: BTreeMap<_, _> = gate.proxy.failures.counts().collect();
        let more: BTreeMap<_, _> = failures
            .iter()
            .map(|(kind, count)| {
                (*kind, count - self.failures.get(kind).copied().unwrap_or_default().min(*count))
            })
            .filter(|(_, more)| *more > 0)
            .collect();
        let served = finished > self.finished;
        if !more.is_empty() && !self.failing {
            self.failing = true;
            gate.events.tell("upstream", || json!({ "state": "failing", "failures": more }));
        } else if more.is_empty() && served && self.failing {
            self.failing = false;
            gate.events.tell("upstream", || json!({ "state": "answering" }));
        }
        (self.failures, self.finished) = (failures, finished);
    }

    fn pressure(&mut self, gate: &Gate, used: f64) {
        let pressed = used >= if self.pressed { RELIEVED } else { PRESSED };
        if pressed != self.pressed {
            self.pressed = pressed;
            let state = if pressed { "refusing" } else { "relieved" };
            gate.events.tell("pressure", || json!({ "state": state, "used": used }));
        }
    }
}
