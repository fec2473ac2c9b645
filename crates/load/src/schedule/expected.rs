//! What a schedule makes expect of the starts in the window.

use record::Step;
use traffic::Process;
use units::{Rate, Time};

use crate::engine::share::Share;
use crate::measure::recorder::Gaps;
use crate::measure::validity::ExpectedStarts;
use crate::settings::options::{Load, Options};

/// What is to begin in the window; `None` where no schedule says it.
pub(crate) fn starts(options: &Options) -> Option<ExpectedStarts> {
    let window = options.window();
    match &options.load {
        Load::Open { process, .. } => {
            let mean = options.offered().map_or(0.0, Rate::as_f64) * options.duration.as_secs_f64();
            // What a renewal process has in a long time (Feller, "An Introduction to
            // Probability Theory and Its Applications", volume II, section XI.5).
            Some(ExpectedStarts { mean, deviation: variation(*process) * mean.sqrt() })
        }
        Load::Timed(times) => {
            let inside = |time: &Time| time.as_nanos() < window.to_ns;
            let arrivals = times.arrivals().take_while(inside).filter(|time| window.contains(*time));
            Some(ExpectedStarts { mean: arrivals.count() as f64, deviation: 0.0 })
        }
        Load::Closed { .. } => None,
    }
}

/// The coefficient of variation of the times between two arrivals.
fn variation(process: Process) -> f64 {
    match process {
        Process::Poisson => 1.0,
        Process::Hyperexponential { cv, .. } | Process::Gamma { cv, .. } | Process::Lognormal { cv, .. } => {
            cv
        }
        Process::Constant => 0.0,
    }
}

/// What watches whether arrivals are Poisson, where they should be.
pub(crate) fn gaps(options: &Options, share: Share) -> Option<Gaps> {
    let Load::Open { process: Process::Poisson, rate, ramp, .. } = &options.load else { return None };
    let steps: Vec<Step> = ramp.as_ref().map(|ramp| options.steps(ramp)).unwrap_or_default();
    let (rate, threads) = (*rate, f64::from(share.of));
    let expected = move |time: Time| {
        let step = steps.iter().find(|step| time.as_nanos() < step.to_ns).or(steps.last());
        let rate = step.and_then(|step| Rate::per_second(step.level)).unwrap_or(rate);
        rate.scaled(1.0 / threads).period()
    };
    Some(Gaps::new(expected))
}
