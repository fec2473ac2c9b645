//! [`Check`]: what is predicted of the knobs as they are, held against what has come about.

use policy::Mode;
use units::{Span, Time};

use super::model::Front;
use super::outcome::{ClassOutcome, Outcome, outcome};
use super::predicted::Predicted;
use super::request::Request;
use super::setting::{ClassForecast, Setting};

/// How far a prediction is off where that can be seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Sessions of so many seconds were looked at.
    seconds: f64,
    /// Sessions per second, of all classes.
    throughput: Held,
    classes: Vec<ClassCheck>,
}

#[derive(Debug, Clone, PartialEq)]
struct ClassCheck {
    name: String,
    completed: Held,
    completion: Held,
    p50: Held,
    p95: Held,
}

/// What is predicted, and what was measured where that is something else.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Held {
    predicted: f64,
    measured: Option<f64>,
}

impl Check {
    /// After a change it takes so long until what comes about is of the new knobs.
    const SETTLE: Span = Span::from_secs(15);
    /// In less time, or of fewer sessions, little is seen.
    const LEAST: Span = Span::from_secs(20);
    const LEAST_SESSIONS: u64 = 100;

    /// What has come about since the knobs are as they are. `None` where that is not long, or the gate decides nothing.
    pub(super) fn outcome(front: &Front, requests: &[Request], now: Time) -> Option<Outcome> {
        if front.policy.mode == Mode::Shadow {
            return None;
        }
        let seen = outcome(requests, front.classes.len(), now, front.steady_since + Self::SETTLE);
        (seen.to.since(seen.from) >= Self::LEAST).then_some(seen)
    }

    pub(super) fn of(predicted: &Setting, seen: &Outcome) -> Self {
        let seconds = seen.to.since(seen.from).as_secs_f64();
        let sum = |of: fn(&ClassOutcome) -> f64| seen.classes.iter().map(of).sum::<f64>();
        let (completed, ended) = (sum(|class| class.completed), sum(|class| class.sessions as f64));
        let together = (ended >= Self::LEAST_SESSIONS as f64).then_some(completed);
        let classes = predicted.classes.iter().zip(&seen.classes);
        Self {
            seconds,
            throughput: Held::rate(&predicted.throughput, together, seconds),
            classes: classes.map(|(predicted, seen)| ClassCheck::of(predicted, seen, seconds)).collect(),
        }
    }

    /// What is predicted of a class, with intervals that hold what the prediction is off by.
    pub fn widened(&self, class: usize, forecast: &ClassForecast) -> ClassForecast {
        let Some(check) = self.classes.get(class) else { return forecast.clone() };
        ClassForecast {
            name: forecast.name.clone(),
            completed: check.completed.widened(forecast.completed),
            completion: check.completion.widened_share(forecast.completion),
            p50: check.p50.widened_time(forecast.p50),
            p95: check.p95.widened_time(forecast.p95),
        }
    }

    /// So is what is predicted of all classes together.
    pub fn widened_throughput(&self, throughput: Predicted) -> Predicted {
        self.throughput.widened(throughput)
    }

    /// In words; `None` where it is off by nothing.
    pub(super) fn remark(&self) -> Option<String> {
        let rate = |held: Held| {
            held.measured.map(|measured| {
                format!("{measured:.1} sessions/s completed where {:.1} were predicted", held.predicted)
            })
        };
        let class = |class: &ClassCheck| {
            let share = class.completion.measured.map(|measured| {
                format!(
                    "{:.0} % completed where {:.0} % were predicted",
                    100.0 * measured,
                    100.0 * class.completion.predicted
                )
            });
            let within = |half: &str, held: Held| {
                held.measured.map(|measured| {
                    format!("{half} within {} where {} is predicted", time(measured), time(held.predicted))
                })
            };
            let all = [
                rate(class.completed).filter(|_| share.is_none()),
                share,
                within("half", class.p50),
                within("95 %", class.p95),
            ];
            let all: Vec<String> = all.into_iter().flatten().collect();
            (!all.is_empty()).then(|| format!("{}: {}", class.name, all.join(", ")))
        };
        let off: Vec<String> = self.classes.iter().filter_map(class).collect();
        let together = rate(self.throughput).filter(|_| off.is_empty());
        let off = if off.is_empty() { together? } else { off.join("; ") };
        let seconds = self.seconds;
        Some(format!(
            "as the knobs are, the last {seconds:.0} s were otherwise than predicted ({off}); the intervals are so wide that both fit"
        ))
    }
}

impl ClassCheck {
    fn of(predicted: &ClassForecast, seen: &ClassOutcome, seconds: f64) -> Self {
        let is_enough = seen.sessions >= Check::LEAST_SESSIONS;
        let known = |value: Option<f64>| value.filter(|_| is_enough);
        let time = |span: Option<Span>| known(span.map(Span::as_secs_f64));
        Self {
            name: predicted.name.clone(),
            completed: Held::rate(&predicted.completed, known(Some(seen.completed)), seconds),
            completion: Held::share(&predicted.completion, known(seen.completion), seen.sessions),
            p50: Held::time(&predicted.p50, time(seen.p50)),
            p95: Held::time(&predicted.p95, time(seen.p95)),
        }
    }
}

impl Held {
    /// Standard normal deviate of 95 %.
    const Z: f64 = 1.96;
    /// Being off by less of a rate is not worth a word, nor by less of a share.
    const LITTLE: f64 = 0.02;
    /// A measured quantile is known to about so much of it.
    const TIME: f64 = 0.2;

    /// Measured, to within so much to either side.
    fn of(predicted: &Predicted, measured: Option<f64>, within: f64) -> Self {
        let [low, high] = predicted.ci;
        let is_off = |measured: &f64| measured + within < low || measured - within > high;
        Self { predicted: predicted.mean, measured: measured.filter(is_off) }
    }

    fn rate(predicted: &Predicted, measured: Option<f64>, seconds: f64) -> Self {
        // The deviation of a Poisson count.
        let within = measured.map_or(0.0, |rate| Self::Z * (rate / seconds).sqrt());
        Self::of(predicted, measured, within.max(Self::LITTLE * predicted.mean))
    }

    fn share(predicted: &Predicted, measured: Option<f64>, of: u64) -> Self {
        let within = measured.map_or(0.0, |share| Self::Z * (share * (1.0 - share) / of as f64).sqrt());
        Self::of(predicted, measured, within.max(Self::LITTLE))
    }

    fn time(predicted: &Predicted, measured: Option<f64>) -> Self {
        Self::of(predicted, measured, Self::TIME * measured.unwrap_or_default())
    }

    /// By as much as it is off.
    fn widened(self, estimate: Predicted) -> Predicted {
        let Some(measured) = self.measured else { return estimate };
        let there = estimate.mean + measured - self.predicted;
        let [low, high] = estimate.ci;
        estimate.within([low.min(there).max(0.0), high.max(there)])
    }

    fn widened_share(self, estimate: Predicted) -> Predicted {
        let wide = self.widened(estimate);
        wide.within(wide.ci.map(|end| end.clamp(0.0, 1.0)))
    }

    /// By as many times.
    fn widened_time(self, estimate: Predicted) -> Predicted {
        let Some(measured) = self.measured.filter(|_| self.predicted > 0.0) else { return estimate };
        let there = estimate.mean * measured / self.predicted;
        let [low, high] = estimate.ci;
        estimate.within([low.min(there), high.max(there)])
    }
}

/// A time in two digits or three.
fn time(seconds: f64) -> String {
    match seconds {
        ..0.0995 => format!("{:.1} ms", 1e3 * seconds),
        ..0.995 => format!("{:.0} ms", 1e3 * seconds),
        _ => format!("{seconds:.1} s"),
    }
}
