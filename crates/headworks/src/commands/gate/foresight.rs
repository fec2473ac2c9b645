//! What other knobs would do: the gate's load of the last minutes, in the simulator.

use std::time::Instant;

use gate::Past;
use gate::foresight::{Foresight, Inquiry, Outcome, Prediction, Recent};
use sim::forecast::{Fate, Front, Request, Until, forecast, outcome};
use units::Time;

use super::foretold;

/// The simulator, for a gate.
pub(in crate::commands) fn foresight() -> Foresight {
    Foresight::new(predict, look)
}

fn predict(inquiry: &Inquiry) -> Result<Prediction, String> {
    step_aside();
    let began = Instant::now();
    let Inquiry { recent, knobs, enough, stop } = inquiry;
    let Recent { now, since, requests, classes, policy, limits, longest_retry_after, steady_since } = recent;
    let front = Front {
        classes: classes.clone(),
        policy: policy.clone(),
        limits: *limits,
        longest_retry_after: *longest_retry_after,
        steady_since: *steady_since,
    };
    let requests: Vec<Request> = requests.iter().map(request).collect();
    let found = forecast(&front, (&requests, *since, *now), knobs, Until { enough, stop });
    let found = found.map_err(|why| why.to_string())?;
    Ok(foretold::prediction(found, began.elapsed().as_secs_f64()))
}

fn look(recent: &Recent, since: Time) -> Outcome {
    step_aside();
    let requests: Vec<Request> = recent.requests.iter().map(request).collect();
    foretold::outcome(&recent.classes, outcome(&requests, recent.classes.len(), recent.now, since))
}

fn request(past: &Past) -> Request {
    Request {
        arrived: past.arrived,
        session: past.session.map(|session| session.0),
        began: past.began,
        kind: past.kind,
        class: past.class.map(|class| class.index()),
        waited: past.waited,
        served: past.served,
        share: past.share,
        fate: match past.fate {
            gate::Fate::Served => Fate::Served,
            gate::Fate::Refused => Fate::Refused,
            gate::Fate::GaveUp => Fate::GaveUp,
        },
        weight: f64::from(past.weight),
    }
}

/// This thread leaves most of the processor to the gate and the server where they want it, and has a part of it: what comes much later is of
/// no use.
fn step_aside() {
    const NICE: i32 = 5;
    // On Linux the priority of process 0 is the calling thread's own (sched(7)). Where it may not be changed, it is slower than it could be.
    let _ = rustix::process::setpriority_process(None, NICE);
}
