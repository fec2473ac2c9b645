//! [`Window`]: times in which the rate is constant, and others.

use std::fmt;

use serde::Serialize;
use stats::regression::Line;
use units::Span;

use super::counts::{counts, cv_of_gaps};
use super::observation::{Observation, ObservationError};
use super::options::Chosen;
use super::set_aside::moment;

/// A stretch of time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Window {
    /// When it begins and ends, in seconds from the beginning.
    pub from: f64,
    /// See [`Window::from`].
    pub to: f64,
    /// How many requests came.
    pub requests: u64,
    /// Requests per second.
    pub rate: f64,
    /// Standard deviation over mean of the times between two; `None` where times are not exact enough.
    pub cv_of_gaps: Option<f64>,
    /// When it begins, since 1970, where that is known.
    #[serde(skip)]
    pub(crate) began: Option<Span>,
    /// Whether its rate is constant.
    pub verdict: WindowVerdict,
    /// Whether the model is of it.
    pub is_chosen: bool,
}

/// Whether a window says anything of how requests are spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub enum WindowVerdict {
    /// Its rate is constant, as far as can be told.
    Steady,
    /// Its rate goes up or down.
    Trending {
        /// What it is at the end over what it is at the beginning, less 1, along a straight line.
        change: f64,
    },
    /// It has too few requests.
    Sparse,
}

/// Requests that a window has at least.
const MIN_REQUESTS: u64 = 50;

/// Parts of a window whose rates are compared.
const PARTS: usize = 12;

/// The chance that a constant rate is taken for one that is not.
const CHANCE: f64 = 0.01;

/// Changes up to this are let pass, however sure.
const SLIGHT: f64 = 0.2;

impl Window {
    /// Whether its rate is constant.
    pub(crate) fn is_steady(&self) -> bool {
        self.verdict == WindowVerdict::Steady
    }

    pub(crate) fn length(&self) -> f64 {
        self.to - self.from
    }
}

/// Windows of a length, one after the other; what is left at the end is one if it is long enough.
/// Steps of a ramp are windows of their own.
pub(super) fn divide(observation: &Observation, length: Span) -> Vec<Window> {
    let duration = observation.duration();
    // A window shorter than twelve of the smallest units of time has no parts.
    let length = length.as_secs_f64().max(PARTS as f64 * observation.resolution).min(duration);
    let places: Vec<(f64, f64)> = if observation.steps.is_empty() {
        let whole = (duration / length).floor().max(1.0) as usize;
        let mut places: Vec<(f64, f64)> =
            (0..whole).map(|index| (index as f64 * length, (index + 1) as f64 * length)).collect();
        let last = whole as f64 * length;
        if duration - last >= length / 2.0 {
            places.push((last, duration));
        }
        places
    } else {
        observation.steps.clone()
    };
    places
        .into_iter()
        .filter(|(from, to)| to > from)
        .map(|(from, to)| window(observation, from, to))
        .collect()
}

/// Rates that are as high as this share of the highest count as high.
const AS_BUSY: f64 = 0.9;
/// Rates differ when one is this many times another.
const UNLIKE: f64 = 1.5;

/// Marks those that the model is to be of.
///
/// # Errors
/// When there is no window of that number.
pub(super) fn choose(
    windows: &mut [Window],
    observation: &Observation,
    chosen: Chosen,
) -> Result<(), ObservationError> {
    let chosen = match chosen {
        // Steps were set one after the other, and say nothing of when it is busy.
        Chosen::Busiest if !observation.steps.is_empty() => Chosen::All,
        other => other,
    };
    if let Chosen::Number(number) = chosen {
        let count = windows.len();
        let none =
            || ObservationError::NoWindow { source_name: observation.source.clone(), number, windows: count };
        windows.get_mut(number.wrapping_sub(1)).ok_or_else(none)?.is_chosen = true;
        return Ok(());
    }
    let are_any_steady = windows.iter().any(Window::is_steady);
    let may_be = |window: &Window| window.is_steady() || !are_any_steady;
    let highest =
        windows.iter().filter(|window| may_be(window)).fold(0.0_f64, |most, window| most.max(window.rate));
    for window in windows.iter_mut() {
        window.is_chosen = may_be(window) && (chosen == Chosen::All || window.rate >= AS_BUSY * highest);
    }
    Ok(())
}

/// That the rate changes from window to window, and which are meant.
pub(super) fn remark(windows: &[Window], observation: &Observation, chosen: Chosen) -> Option<String> {
    if !observation.steps.is_empty() || chosen != Chosen::Busiest {
        return None;
    }
    let by_rate = |one: &&Window, other: &&Window| one.rate.total_cmp(&other.rate);
    let (least, most) = (windows.iter().min_by(by_rate)?, windows.iter().max_by(by_rate)?);
    (most.rate > UNLIKE * least.rate).then(|| {
        format!(
            "Its rate goes from {:.3}/s ({least}) to {:.3}/s ({most}): the model is of the busiest time with a constant rate; --window N is the Nth window instead, --window all is all with a constant rate.",
            least.rate, most.rate
        )
    })
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let began = self
            .began
            .and_then(|began| record::Timestamp::from_second((began.as_nanos() / 1_000_000_000) as i64).ok());
        match began {
            Some(began) => write!(f, "from {began}"),
            None => write!(f, "from {:.1} s", self.from),
        }
    }
}

fn window(observation: &Observation, from: f64, to: f64) -> Window {
    let times = observation.times(from, to);
    let requests = times.len() as u64;
    let length = to - from;
    let verdict = if requests < MIN_REQUESTS {
        WindowVerdict::Sparse
    } else {
        match trend(&times, from, to, observation.resolution) {
            Some(change) => WindowVerdict::Trending { change },
            None => WindowVerdict::Steady,
        }
    };
    let exact = observation.resolution < 0.1 * length / requests.max(1) as f64;
    let cv_of_gaps = if exact { cv_of_gaps(&times) } else { None };
    let began = observation.zero.map(|zero| moment(zero, from));
    Window {
        from,
        to,
        requests,
        rate: requests as f64 / length,
        cv_of_gaps,
        began,
        verdict,
        is_chosen: false,
    }
}

/// The relative change of the rate from the beginning to the end, where there clearly is one: a straight
/// line through the rates of the parts whose slope is surely not 0. What the parts differ
/// by from the line says how sure that is, so that bursts are not taken for a trend.
fn trend(times: &[f64], from: f64, to: f64, resolution: f64) -> Option<f64> {
    let bin = ((to - from) / PARTS as f64 / resolution).floor().max(1.0) * resolution;
    let parts: Vec<f64> = counts(times, from, to, bin);
    if parts.len() < 4 {
        return None;
    }
    let line = Line::through(&parts)?;
    let [begins, ends] = line.ends();
    let change = ends / begins.max(f64::MIN_POSITIVE) - 1.0;
    (line.is_sloped(CHANCE) && (ends - begins).abs() > SLIGHT * line.mean).then_some(change)
}
