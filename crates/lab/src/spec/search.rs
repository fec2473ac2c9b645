//! `[search]`: each test finds the capacity.

use std::num::NonZeroU32;

use config::{Error, Quantity, Source, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;
use traffic::Ramp;
use units::{Ratio, Span};

use super::crowd::Crowd;
use super::defaults::{HOLD, MIN_HOLD, MIN_PRECISION, PRECISION, arrivals};
use super::length::Length;

/// How the capacity is looked for.
#[derive(Debug, Clone)]
pub(crate) struct SearchSpec {
    pub(crate) precision: Ratio,
    /// Bounds that have to hold as well, such as `p99<50ms`; the generator checks them.
    pub(crate) objectives: Vec<String>,
    /// In the generator's words.
    pub(crate) arrivals: String,
    /// Rates to try one after the other instead of searching.
    pub(crate) ramp: Option<Ramp>,
    /// A closed loop instead.
    pub(crate) crowd: Option<Crowd>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SearchEntry {
    /// How near the ends of the interval are to be.
    #[serde(default = "default_precision")]
    #[schemars(with = "Share")]
    precision: Spanned<Share>,
    /// Bounds that have to hold as well, such as p99<50ms.
    #[serde(default)]
    objectives: Vec<String>,
    /// How arrivals are spread over time, as `headworks load` takes it.
    arrivals: Option<String>,
    /// These rates, all of them: FROM:TO:STEP:HOLD.
    #[serde(default, with = "config::quantity::optional")]
    #[schemars(with = "Option<String>")]
    ramp: Option<Ramp>,
    /// So many clients instead, a closed loop; what they get in all is the capacity.
    crowd: Option<Spanned<u32>>,
    /// For how long that is measured.
    hold: Option<Spanned<Length>>,
    /// For how long they are there before that.
    warmup: Option<Spanned<Length>>,
    /// The longest wait for the machine to come to rest.
    #[serde(default = "super::length::default_settle", with = "config::quantity")]
    #[schemars(with = "Quantity<Span>")]
    pub(super) settle: Span,
}

#[derive(Deserialize, Clone, Copy, JsonSchema)]
#[serde(transparent)]
struct Share(
    #[serde(with = "config::quantity")]
    #[schemars(with = "Quantity<Ratio>")]
    Ratio,
);

fn default_precision() -> Spanned<Share> {
    Spanned::new(0..0, Share(PRECISION.parse().unwrap_or_default()))
}

/// Checks what stands under `[search]`.
pub(super) fn check(source: &Source, entry: SearchEntry) -> Result<SearchSpec, Error> {
    let Share(precision) = *entry.precision.get_ref();
    if precision.as_f64() < MIN_PRECISION {
        return Err(source
            .error(entry.precision.span(), "the precision is too small")
            .mend(format!("give at least {} %", 100.0 * MIN_PRECISION)));
    }
    let crowd = crowd(source, &entry)?;
    let spread = arrivals(&entry.objectives);
    Ok(SearchSpec {
        precision,
        objectives: entry.objectives,
        arrivals: entry.arrivals.unwrap_or_else(|| spread.to_owned()),
        ramp: entry.ramp,
        crowd,
    })
}

fn crowd(source: &Source, entry: &SearchEntry) -> Result<Option<Crowd>, Error> {
    let hold = entry.hold.as_ref().map(|hold| (hold, hold.get_ref().0));
    let Some(crowd) = &entry.crowd else {
        return match (&entry.hold, &entry.warmup) {
            (Some(of_crowd), _) | (None, Some(of_crowd)) => Err(source
                .error(of_crowd.span(), "hold and warmup are of a crowd, and there is none")
                .mend("give crowd, or leave them out")),
            (None, None) => Ok(None),
        };
    };
    if entry.ramp.is_some() || entry.arrivals.is_some() || !entry.objectives.is_empty() {
        return Err(source
            .error(
                crowd.span(),
                "a crowd comes again when it has been served: ramp, arrivals and objectives are not for it",
            )
            .mend("leave them out, or crowd"));
    }
    let Some(clients) = NonZeroU32::new(*crowd.get_ref()) else {
        return Err(source.error(crowd.span(), "a crowd of 0 clients").mend("give at least 1"));
    };
    match hold {
        Some((place, hold)) if hold < MIN_HOLD => {
            Err(source.error(place.span(), format!("hold is below {MIN_HOLD}")).mend("give more"))
        }
        hold => Ok(Some(Crowd {
            clients,
            warmup: entry.warmup.as_ref().map(|warmup| warmup.get_ref().0),
            hold: hold.map_or(HOLD, |(_, hold)| hold),
        })),
    }
}
