//! [`Check`]: what is predicted of the knobs as they are, held against what has come about.

use stats::MeanEstimate;
use units::{Span, Time};

use super::model::Front;
use super::outcome::{ClassOutcome, outcome};
use super::request::Request;
use super::setting::{ClassForecast, Setting};

/// How far a prediction is off where that can be seen: what was measured, as a multiple of what is predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Sessions of so many seconds were looked at.
    seconds: f64,
    classes: Vec<Ratios>,
}

/// Of a class; 1 where what was measured is what is predicted, or little was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ratios {
    completed: f64,
    completion: f64,
    p50: f64,
    p95: f64,
    /// What is predicted, and what was measured, of the 95th percentile, s.
    slow: [f64; 2],
}

impl Check {
    /// After a change it takes so long until what comes about is of the new knobs.
    const SETTLE: Span = Span::from_secs(10);
    /// In less time, or of fewer sessions, little is seen.
    const LEAST: Span = Span::from_secs(20);
    const LEAST_SESSIONS: u64 = 100;
    /// Being off by less is not worth a word.
    const LITTLE: f64 = 0.05;

    /// `None` where the knobs have not been as they are for long enough.
    pub(super) fn of(front: &Front, now_is: &Setting, (requests, now): (&[Request], Time)) -> Option<Self> {
        let seen = outcome(requests, front.classes.len(), now, front.steady_since + Self::SETTLE);
        let span = seen.to.since(seen.from);
        let classes = now_is.classes.iter().zip(&seen.classes);
        (span >= Self::LEAST).then(|| Self {
            seconds: span.as_secs_f64(),
            classes: classes.map(|(predicted, seen)| Ratios::of(predicted, seen)).collect(),
        })
    }

    /// What is predicted of a class, with intervals that hold what the prediction is off by.
    pub fn widened(&self, class: usize, forecast: &ClassForecast) -> ClassForecast {
        let Some(ratios) = self.classes.get(class) else { return forecast.clone() };
        let mut completion = wider(forecast.completion, ratios.completion);
        completion.ci = completion.ci.map(|end| end.min(1.0));
        ClassForecast {
            name: forecast.name.clone(),
            completed: wider(forecast.completed, ratios.completed),
            completion,
            p50: wider(forecast.p50, ratios.p50),
            p95: wider(forecast.p95, ratios.p95),
        }
    }

    /// In words; `None` where it is off by nothing.
    pub(super) fn remark(&self, front: &Front) -> Option<String> {
        let off = |(name, ratios): (&String, &Ratios)| {
            let factor = |what: &str, ratio: f64| {
                (ratio != 1.0).then(|| format!("{what} {ratio:.2} times as predicted"))
            };
            let [predicted, measured] = ratios.slow.map(time);
            let slow =
                (ratios.p95 != 1.0).then(|| format!("95 % within {measured} where {predicted} is predicted"));
            let all = [
                factor("sessions completed", ratios.completed),
                factor("their share", ratios.completion),
                slow,
            ];
            let all: Vec<String> = all.into_iter().flatten().collect();
            (!all.is_empty()).then(|| format!("{name}: {}", all.join(", ")))
        };
        let off: Vec<String> = front.classes.iter().zip(&self.classes).filter_map(off).collect();
        let seconds = self.seconds;
        (!off.is_empty()).then(|| {
            format!(
                "as the knobs are, the last {seconds:.0} s were otherwise than predicted ({}); intervals hold that",
                off.join("; ")
            )
        })
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

impl Ratios {
    fn of(predicted: &ClassForecast, seen: &ClassOutcome) -> Self {
        let ratio = |predicted: &MeanEstimate, measured: Option<f64>| match measured {
            Some(measured)
                if seen.sessions >= Check::LEAST_SESSIONS
                    && predicted.mean > 0.0
                    && (measured / predicted.mean - 1.0).abs() > Check::LITTLE
                    && !(predicted.ci[0]..=predicted.ci[1]).contains(&measured) =>
            {
                measured / predicted.mean
            }
            _ => 1.0,
        };
        let seconds = |span: Option<Span>| span.map(Span::as_secs_f64);
        Self {
            completed: ratio(&predicted.completed, Some(seen.completed)),
            completion: ratio(&predicted.completion, seen.completion),
            p50: ratio(&predicted.p50, seconds(seen.p50)),
            p95: ratio(&predicted.p95, seconds(seen.p95)),
            slow: [predicted.p95.mean, seconds(seen.p95).unwrap_or_default()],
        }
    }
}

fn wider(estimate: MeanEstimate, ratio: f64) -> MeanEstimate {
    let [low, high] = estimate.ci;
    MeanEstimate { ci: [low.min(estimate.mean * ratio), high.max(estimate.mean * ratio)], ..estimate }
}
