//! `[search]`: each test finds the knee.

use config::{Error, Source, Spanned};
use serde::Deserialize;
use traffic::Ramp;
use units::{Ratio, Span};

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
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SearchEntry {
    #[serde(default = "default_precision")]
    precision: Spanned<Share>,
    #[serde(default)]
    objectives: Vec<String>,
    arrivals: Option<String>,
    #[serde(default, with = "config::quantity::optional")]
    ramp: Option<Ramp>,
    #[serde(default = "super::file::default_settle", with = "config::quantity")]
    pub(super) settle: Span,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(transparent)]
struct Share(#[serde(with = "config::quantity")] Ratio);

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
    // As `headworks lab capacity` has it.
    let spread = if entry.objectives.is_empty() { "constant" } else { "poisson" };
    Ok(Sought {
        precision,
        objectives: entry.objectives,
        arrivals: entry.arrivals.unwrap_or_else(|| spread.to_owned()),
        ramp: entry.ramp,
    })
}
