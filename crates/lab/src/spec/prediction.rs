//! `[prediction]`: what the simulator says of the server is held against what it does.

use config::{Error, Quantity, Source, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;
use units::Span;

/// At which loads, times the capacity that a search has found.
#[derive(Debug, Clone)]
pub(crate) struct Predicted {
    /// That which the simulator is fitted to.
    pub(crate) fit: f64,
    /// Those that it predicts.
    pub(crate) loads: Vec<f64>,
    pub(crate) duration: Span,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PredictionEntry {
    /// The load that the simulator is fitted to, times the capacity.
    #[serde(default = "default_fit")]
    #[schemars(with = "f64")]
    fit: Spanned<f64>,
    /// Those that it predicts.
    #[serde(default = "default_loads")]
    #[schemars(with = "Vec<f64>")]
    loads: Spanned<Vec<f64>>,
    /// For how long each is offered.
    #[serde(default = "default_duration", with = "config::quantity")]
    #[schemars(with = "Quantity<Span>")]
    duration: Span,
}

fn default_fit() -> Spanned<f64> {
    Spanned::new(0..0, 0.25)
}

fn default_loads() -> Spanned<Vec<f64>> {
    Spanned::new(0..0, vec![0.2, 0.4, 0.6, 0.7, 0.8, 1.2])
}

fn default_duration() -> Span {
    Span::from_secs(20)
}

/// Checks what stands under `[prediction]`; `why_not` is what keeps the simulator from knowing the server.
pub(super) fn check(
    source: &Source,
    entry: Spanned<PredictionEntry>,
    why_not: Option<&str>,
) -> Result<Predicted, Error> {
    if let Some(why_not) = why_not {
        return Err(source
            .error(entry.span(), format!("nothing can be predicted {why_not}"))
            .mend("leave [prediction] out, or change that"));
    }
    let PredictionEntry { fit, loads, duration } = entry.into_inner();
    // What is near the end says more of queues than of what requests need.
    if !(0.01..=0.7).contains(fit.get_ref()) {
        return Err(source
            .error(fit.span(), format!("the load to fit to is {}", fit.get_ref()))
            .mend("give times the capacity, from 0.01 to 0.7"));
    }
    let is_load = |load: &f64| (0.01..=10.0).contains(load);
    let all = loads.get_ref();
    let is_twice = (1..all.len()).any(|at| all[..at].contains(&all[at]));
    if all.is_empty() || !all.iter().all(is_load) || is_twice {
        return Err(source
            .error(loads.span(), "these are not loads")
            .mend("give times the capacity, from 0.01 to 10, each once, such as [0.5, 0.8]"));
    }
    if duration < Span::from_secs(1) {
        return Err(source.missing("prediction.duration is below 1 s").mend("give at least \"1s\""));
    }
    Ok(Predicted { fit: fit.into_inner(), loads: loads.into_inner(), duration })
}
