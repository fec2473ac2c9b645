//! A console and a foresight for gates of tests: the gate shows and asks what it is given. What `headworks gate` gives it is tried there.

use std::collections::BTreeSet;

use gate::Console;
use gate::foresight::{Foresight, Inquiry, Load, Outcome, Place, Point, Prediction, Recent};

pub(crate) const PAGE: &str =
    "<!doctype html><style>p{}</style><p>Console</p><script type=\"module\">1;</script>";

pub(crate) fn console() -> Console {
    Console::new(PAGE, b"\x1f\x8b as if")
}

/// Says what it was told of the load: requests, and sessions that began.
pub(crate) fn foresight() -> Foresight {
    let predict = |inquiry: &Inquiry| {
        let Recent { requests, policy, .. } = &inquiry.recent;
        if requests.is_empty() {
            return Err("too little was seen".to_owned());
        }
        let sessions: BTreeSet<_> = requests.iter().filter_map(|request| request.session).collect();
        let began = requests.iter().filter(|request| request.began).count();
        let load = Load {
            seconds: began as f64,
            requests: requests.len() as u64,
            sessions: sessions.len() as u64,
            classes: Vec::new(),
        };
        let estimate = gate::foresight::Estimated {
            mean: policy.knobs.favour.as_f64(),
            ci: [0.0, 1.0],
            chance: [0.0, 1.0],
        };
        let point = |knobs: &policy::Knobs| Point {
            differentiation: knobs.differentiation.as_f64(),
            favour: knobs.favour.as_f64(),
            classes: Vec::new(),
            throughput: estimate,
            utilization: estimate,
        };
        let points = inquiry.knobs.iter().map(point).collect();
        let suggested = inquiry.knobs.is_empty().then_some(Place { differentiation: 1.0, favour: 0.25 });
        Ok(Prediction { load, points, suggested, remarks: Vec::new(), took: 0.0 })
    };
    let look = |recent: &Recent, since: units::Time| {
        let seconds = |time: units::Time| time.since(units::Time::ZERO).as_secs_f64();
        Outcome { from: seconds(since), to: seconds(recent.now), classes: Vec::new() }
    };
    Foresight::new(predict, look)
}
