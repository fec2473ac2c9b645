//! [`Outlook`]: what an experiment would do, and how long that would take.

use std::time::Duration;

use serde::Serialize;

use crate::Error;
use crate::plan::{Planned, plan};
use crate::run::{Options, check};
use crate::spec::{Capacity, Spec};
use crate::view::{AROUND, SEARCH};

/// What an experiment would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlook {
    /// What it is about.
    pub title: String,
    /// The server, as it states itself.
    pub server: String,
    /// In the order in which they would be done.
    pub tests: Vec<Coming>,
    /// All of it, s; a server that needs longer to come to rest, or is hard to search, takes longer.
    pub seconds: f64,
}

/// A test that would be done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coming {
    /// From the experiment's directory.
    pub directory: String,
    /// Subject and levels.
    pub name: String,
    /// As in [`Outlook`].
    pub seconds: f64,
}

/// Checks all that can be checked before anything is measured, and says what would be done.
///
/// # Errors
/// As [`crate::run()`] before it begins.
pub fn outlook(options: &Options) -> Result<Outlook, Error> {
    let spec = Spec::read(&options.spec, &options.settings)?;
    let plan = plan(&spec, options.seed());
    let version = check(&spec, &plan, &options.headworks)?;
    let coming = |planned: &Planned| {
        Ok(Coming {
            directory: planned.directory.clone(),
            name: planned.name(),
            seconds: test(&planned.spec(&spec)?).as_secs_f64(),
        })
    };
    let tests: Vec<Coming> = plan.iter().map(coming).collect::<Result<_, Error>>()?;
    let capacity = match &spec.capacity {
        Capacity::Search { warmup, duration, .. } => Duration::from(*warmup + *duration) + AROUND / 3,
        Capacity::Fixed(_) | Capacity::Sought(_) => Duration::ZERO,
    };
    let seconds = capacity.as_secs_f64() + tests.iter().map(|test| test.seconds).sum::<f64>();
    Ok(Outlook {
        title: spec.title.clone(),
        server: format!("{} ({version})", spec.server.kind.name()),
        tests,
        seconds,
    })
}

/// What a test takes.
pub(crate) fn test(spec: &Spec) -> Duration {
    let measuring = match &spec.capacity {
        Capacity::Sought(sought) => match (&sought.crowd, &sought.ramp) {
            (Some(crowd), _) => Duration::from(crowd.warmup.unwrap_or_default() + crowd.hold) + AROUND,
            (None, Some(ramp)) => Duration::from(ramp.total()) + AROUND,
            (None, None) => SEARCH,
        },
        _ => Duration::from(spec.test.warmup + spec.test.duration),
    };
    measuring + predicting(spec) + AROUND
}

fn predicting(spec: &Spec) -> Duration {
    let Some(predicted) = &spec.prediction else { return Duration::ZERO };
    // With the two that the simulator is fitted to; each is simulated then.
    let runs = u32::try_from(predicted.loads.len() + 2).unwrap_or(u32::MAX);
    (Duration::from(predicted.duration) + AROUND).saturating_mul(runs)
}
