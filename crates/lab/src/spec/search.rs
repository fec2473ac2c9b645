//! `[search]`: each test finds the knee.

use config::{Error, Quantity, Source, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;
use traffic::Ramp;
use units::{Ratio, Span};

use crate::Crowd;

/// How the knee is looked for.
#[derive(Debug, Clone)]
pub(crate) struct Sought {
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
    /// A closed loop instead, CLIENTS:HOLD; what it gets in all is the capacity.
    crowd: Option<Spanned<CrowdEntry>>,
    /// The longest wait for the machine to come to rest.
    #[serde(default = "super::file::default_settle", with = "config::quantity")]
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

#[derive(Deserialize, Clone, Copy, JsonSchema)]
#[serde(transparent)]
struct CrowdEntry(
    #[serde(with = "config::quantity")]
    #[schemars(with = "String")]
    Crowd,
);

fn default_precision() -> Spanned<Share> {
    Spanned::new(0..0, Share("2%".parse().unwrap_or_default()))
}

/// Checks what stands under `[search]`.
pub(super) fn check(source: &Source, entry: SearchEntry) -> Result<Sought, Error> {
    let Share(precision) = *entry.precision.get_ref();
    if precision.as_f64() < 0.001 {
        return Err(source
            .error(entry.precision.span(), "the precision is too small")
            .mend("give at least 0.1 %"));
    }
    let others = entry.ramp.is_some() || entry.arrivals.is_some() || !entry.objectives.is_empty();
    if let Some(crowd) = entry.crowd.as_ref().filter(|_| others) {
        return Err(source
            .error(
                crowd.span(),
                "a crowd comes again when it has been served: ramp, arrivals and objectives are not for it",
            )
            .mend("leave them out, or crowd"));
    }
    // As `headworks lab capacity` has it.
    let spread = if entry.objectives.is_empty() { "constant" } else { "poisson" };
    Ok(Sought {
        precision,
        objectives: entry.objectives,
        arrivals: entry.arrivals.unwrap_or_else(|| spread.to_owned()),
        ramp: entry.ramp,
        crowd: entry.crowd.map(|crowd| crowd.into_inner().0),
    })
}
