//! What the simulator found, as the admin interface says it.

use gate::foresight::{
    ClassLoad, ClassOutcome, ClassPoint, Estimated, Load, Outcome, Place, Point, Prediction,
};
use sim::forecast::{Check, ClassForecast, Forecast, Predicted, Setting};
use units::Time;

pub(super) fn prediction(found: Forecast, took: f64) -> Prediction {
    let Forecast { load, settings, suggested, check, remarks } = found;
    let class = |class: sim::forecast::ClassLoad| {
        let sim::forecast::ClassLoad { name, starts, requests, pause } = class;
        ClassLoad { name, starts, requests, pause }
    };
    let load = Load {
        seconds: load.seconds,
        requests: load.requests,
        sessions: load.sessions,
        classes: load.classes.into_iter().map(class).collect(),
    };
    Prediction {
        load,
        points: settings.into_iter().map(|setting| point(setting, check.as_ref())).collect(),
        suggested: suggested.map(|knobs| Place {
            differentiation: knobs.differentiation.as_f64(),
            favour: knobs.favour.as_f64(),
        }),
        remarks,
        took,
    }
}

fn point(setting: Setting, check: Option<&Check>) -> Point {
    let class = |(number, class): (usize, ClassForecast)| {
        let class = check.map_or_else(|| class.clone(), |check| check.widened(number, &class));
        ClassPoint {
            name: class.name,
            completed: estimated(class.completed),
            completion: known(class.completion),
            p50: known(class.p50),
            p95: known(class.p95),
        }
    };
    let throughput = setting.throughput;
    Point {
        differentiation: setting.knobs.differentiation.as_f64(),
        favour: setting.knobs.favour.as_f64(),
        classes: setting.classes.into_iter().enumerate().map(class).collect(),
        throughput: estimated(check.map_or(throughput, |check| check.widened_throughput(throughput))),
        utilization: estimated(setting.utilization),
    }
}

fn estimated(Predicted { mean, ci, chance }: Predicted) -> Estimated {
    Estimated { mean, ci, chance }
}

/// Where anything was seen of it.
fn known(predicted: Predicted) -> Option<Estimated> {
    let is_known = predicted.ci.iter().all(|end| end.is_finite());
    is_known.then(|| estimated(predicted))
}

pub(super) fn outcome(classes: &[String], found: sim::forecast::Outcome) -> Outcome {
    let seconds = |time: Time| time.since(Time::ZERO).as_secs_f64();
    let class = |(name, class): (&String, sim::forecast::ClassOutcome)| ClassOutcome {
        name: name.clone(),
        starts: class.starts,
        completed: class.completed,
        completion: class.completion,
        sessions: class.sessions,
        p50: class.p50.map(|span| span.as_secs_f64()),
        p95: class.p95.map(|span| span.as_secs_f64()),
    };
    Outcome {
        from: seconds(found.from),
        to: seconds(found.to),
        classes: classes.iter().zip(found.classes).map(class).collect(),
    }
}
