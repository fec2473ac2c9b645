//! `GET /api/v1/history`, and a sample each second.

use std::rc::Rc;

use policy::{Counters, Reason};
use schemars::JsonSchema;
use serde::Serialize;
use units::Time;

use crate::admin::query::pairs;
use crate::admission::second::Second;
use crate::observe::history::{ClassSample, History, Sample, StageWaits};
use crate::process::gate::Gate;

/// The last minutes.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Recorded {
    /// The gate's clock, in seconds since 1970.
    clock: f64,
    /// When the gate began, which tells one run of it from another.
    started: f64,
    /// The names of the classes, most important first.
    classes: Vec<String>,
    /// The oldest first.
    samples: Vec<Sample>,
}

/// The last `?seconds=`, as at most `?samples=` samples.
pub(super) fn history(gate: &Gate, query: &str) -> Result<Recorded, String> {
    let (mut seconds, mut samples) = (600, 600);
    for (name, value) in pairs(query) {
        let number = value.parse().ok().filter(|number| (1..=History::SECONDS).contains(number));
        let number =
            number.ok_or_else(|| format!("{name} is \"{value}\"; it goes from 1 to {}", History::SECONDS));
        match name {
            "seconds" => seconds = number?,
            "samples" => samples = number?,
            _ => return Err(format!("\"{name}\" is not known; there are seconds and samples")),
        }
    }
    Ok(Recorded {
        clock: gate.clock.read().since(Time::ZERO).as_secs_f64(),
        started: gate.started.since(Time::ZERO).as_secs_f64(),
        classes: gate.classes().to_vec(),
        samples: gate.history.borrow().recent(seconds, samples),
    })
}

/// Takes samples: what is new in the counts each time.
#[derive(Debug)]
pub(super) struct Sampler {
    at: Time,
    /// Of each class, then of the unclassified.
    before: Vec<Counters>,
}

impl Sampler {
    pub(super) fn new(gate: &Gate) -> Self {
        Self { at: gate.clock.read(), before: counters(gate) }
    }

    /// A second is over: keeps what it was like.
    pub(super) fn take(&mut self, gate: &Rc<Gate>) {
        let now = gate.clock.read();
        let span = now.since(self.at);
        if span.is_zero() {
            return;
        }
        let counters = counters(gate);
        let mut driver = gate.admission.driver.borrow_mut();
        let seen = driver.take_second();
        let snapshot = driver.policy().snapshot();
        let queued: Vec<u32> = driver.policy().class_snapshots().map(|class| class.queued).collect();
        let waiting = driver.waiting();
        drop(driver);
        let rate = |now: u64, before: u64| (now.saturating_sub(before) as f64 / span.as_secs_f64()) as f32;
        // Who is told to wait in the waiting room is not turned away.
        let refused = |counters: &Counters| {
            counters.rejected.iter().sum::<u64>() - counters.rejected[Reason::WaitingRoom.index()]
        };
        let class = |(((now, before), seen), queued): (((&Counters, &Counters), &Second), u32)| {
            let p95 = seen.p95();
            let mean = |sum: f64| (seen.served > 0).then(|| (sum / seen.served as f64) as f32);
            let [acceptor, pending, discard, class, server] =
                seen.waits.map(|sum| mean(sum).unwrap_or_default());
            ClassSample {
                offered: rate(now.arrived, before.arrived),
                served: rate(now.finished, before.finished),
                refused: rate(refused(now), refused(before)),
                aborted: rate(now.gave_up, before.gave_up),
                queued: queued as f32,
                response: mean(seen.response),
                p95,
                waits: (seen.served > 0).then_some(StageWaits { acceptor, pending, discard, class, server }),
            }
        };
        let pairs = || counters.iter().zip(&self.before);
        let unclassified = pairs().next_back();
        let sample = Sample {
            at: now.since(Time::ZERO).as_secs_f64(),
            span: span.as_secs_f64() as f32,
            window: snapshot.window as f32,
            in_service: snapshot.in_service as f32,
            waiting: waiting as f32,
            capacity: snapshot.capacity.map(|capacity| capacity as f32),
            finished: pairs().map(|(now, before)| rate(now.finished, before.finished)).sum(),
            unclassified: unclassified.map_or(0.0, |(now, before)| rate(refused(now), refused(before))),
            pressure: snapshot.pressure.as_f64() as f32,
            classes: pairs().zip(&seen).zip(queued).map(class).collect(),
        };
        (self.at, self.before) = (now, counters);
        gate.events.tell_sample(|| serde_json::to_value(&sample).unwrap_or_default());
        gate.history.borrow_mut().add(sample, seen);
        gate.tallies.borrow_mut().look(&gate.pool.servers());
    }
}

fn counters(gate: &Gate) -> Vec<Counters> {
    let driver = gate.admission.driver.borrow();
    let unclassified = driver.policy().snapshot().unclassified;
    driver.policy().class_snapshots().map(|class| class.counters).chain([unclassified]).collect()
}
