//! [`forecast`]: tries knobs in a simulation of the load that was seen.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use policy::{Knobs, Mode};
use units::Time;

use super::check::Check;
use super::error::ForecastError;
use super::model::{Front, Load, Seen};
use super::request::Request;
use super::setting::{Done, Setting, settings};
use super::suggestion::{places, suggested};
use crate::control::Control;
use crate::parallel::in_parallel;
use crate::sessions::{Replication, SessionModel};

/// What settings of the knobs would do.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The load that it is of.
    pub load: Load,
    /// In the order in which they were asked for.
    pub settings: Vec<Setting>,
    /// The one of them to take, where none was asked for: if the most important are to be served well, and as many as can be besides.
    pub suggested: Option<Knobs>,
    /// What it is off by, where that can be seen.
    pub check: Option<Check>,
    /// What it cannot know.
    pub remarks: Vec<String>,
}

/// When a forecast is to end.
#[derive(Debug, Clone, Copy)]
pub struct Until<'a> {
    /// Becomes true when what is known of all settings by then is enough, however wide its intervals are.
    pub enough: &'a AtomicBool,
    /// Becomes true when it has to end, with the settings that are known by then.
    pub stop: &'a AtomicBool,
}

/// Each of so many settings is simulated so often, or until that is enough. Who asks for many draws a curve, and who asks for one wants to know it
/// well.
fn replications(settings: usize) -> u32 {
    (18 / settings.max(1) as u32).clamp(LEAST, 6)
}

/// For an interval that says anything.
const LEAST: u32 = 3;

/// What the gate would do with the load of `requests`, which are all that ended from `since` until `now`, if its knobs were set otherwise. Without
/// `knobs`, settings over both of them are tried, and one is suggested. They are
/// simulated in the order in which they are asked for; those for which there is no time are left out, and a remark says so. Last come the
/// knobs as they are, if they are not among them: what is predicted of them is held against what has come about.
///
/// # Errors
/// When too little was seen, or it was stopped before the first of `knobs` was known.
pub fn forecast(
    front: &Front,
    (requests, since, now): (&[Request], Time, Time),
    knobs: &[Knobs],
    until: Until<'_>,
) -> Result<Forecast, ForecastError> {
    let seen = Seen::new(front, (requests, since, now))?;
    let applied = front.policy.knobs;
    let is_open = knobs.is_empty();
    let wanted = if is_open { places(front.classes.len(), applied) } else { knobs.to_vec() };
    let outcome = Check::outcome(front, requests, now);
    let held_against = outcome.as_ref().map(|_| applied);
    let mut trial = Trial::new(&seen, wanted.iter().copied().chain(held_against));
    trial.simulate(replications(trial.all.len()), until)?;
    let settings = settings(front, &trial.all);
    let of = |knobs: Knobs| settings.iter().find(|setting| setting.knobs == knobs).cloned();
    let check = of(applied).zip(outcome).map(|(predicted, seen)| Check::of(&predicted, &seen));
    let known: Vec<Setting> = wanted.iter().filter_map(|knobs| of(*knobs)).collect();
    if known.is_empty() {
        return Err(ForecastError::TooBusy);
    }
    let mut remarks = remarks(front, &seen);
    remarks.extend(check.as_ref().and_then(Check::remark));
    let missing = wanted.len() - known.len();
    if missing > 0 {
        let all = wanted.len();
        remarks
            .push(format!("{missing} of {all} settings are not known: the processors had no time for them"));
    }
    let suggested = if is_open && known.len() > 1 { suggested(&known, applied) } else { None };
    Ok(Forecast { load: seen.load(), settings: known, suggested, check, remarks })
}

/// Settings, and what was simulated of each.
#[derive(Debug)]
struct Trial<'a> {
    seen: &'a Seen<'a>,
    models: Vec<SessionModel>,
    all: Vec<(Knobs, Vec<Done>)>,
}

impl<'a> Trial<'a> {
    /// Of these, each once.
    fn new(seen: &'a Seen<'a>, settings: impl Iterator<Item = Knobs>) -> Self {
        let mut all: Vec<(Knobs, Vec<Done>)> = Vec::new();
        for knobs in settings {
            if !all.iter().any(|(there, _)| *there == knobs) {
                all.push((knobs, Vec::new()));
            }
        }
        Self { seen, models: Vec::new(), all }
    }

    /// Simulates the first settings as often as it takes, then the next; and then all of them again, up to so often.
    fn simulate(&mut self, most: u32, until: Until<'_>) -> Result<(), ForecastError> {
        // The others are for the gate, and for its server.
        let cores = std::thread::available_parallelism().map_or(1, |all| all.get().div_ceil(2));
        let together = cores.div_ceil(LEAST as usize);
        for first in (0..self.all.len()).step_by(together) {
            let settings = first..self.all.len().min(first + together);
            if !self.replicate(settings, 0..LEAST, cores, until.stop)? {
                return Ok(());
            }
        }
        for number in LEAST..most {
            let is_enough = until.enough.load(Ordering::Relaxed);
            if is_enough || !self.replicate(0..self.all.len(), number..number + 1, cores, until.enough)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Replications of so many numbers of each of these settings; false, and none of them, when it is stopped.
    fn replicate(
        &mut self,
        settings: Range<usize>,
        numbers: Range<u32>,
        cores: usize,
        stop: &AtomicBool,
    ) -> Result<bool, ForecastError> {
        for number in self.models.len() as u32..numbers.end {
            let model = self.seen.model(number)?;
            model.check()?;
            self.models.push(model);
        }
        let jobs: Vec<(usize, u32)> =
            settings.flat_map(|setting| numbers.clone().map(move |number| (setting, number))).collect();
        let simulate = |job: u32| {
            let Some(&(setting, number)) = jobs.get(job as usize) else { return Ok(None) };
            let Some(mut model) = self.models.get(number as usize).cloned() else { return Ok(None) };
            if let (Some(gate), Some((knobs, _))) = (&mut model.gate, self.all.get(setting)) {
                gate.policy.knobs = *knobs;
            }
            let done = Replication::simulate_until(&model, 1, number, stop)?;
            Ok::<_, ForecastError>(done.map(|done| (done, model.duration.as_secs_f64())))
        };
        let done = in_parallel(NonZeroUsize::new(cores), 0..jobs.len() as u32, Control::NONE, simulate);
        let done: Vec<Option<Done>> = done.into_iter().collect::<Result<_, _>>()?;
        if done.iter().any(Option::is_none) {
            return Ok(false);
        }
        for ((setting, _), done) in jobs.into_iter().zip(done.into_iter().flatten()) {
            if let Some((_, all)) = self.all.get_mut(setting) {
                all.push(done);
            }
        }
        Ok(true)
    }
}

fn remarks(front: &Front, seen: &Seen<'_>) -> Vec<String> {
    let mut remarks = vec![
        "users who are refused are taken to leave; those who came back lately are counted as others"
            .to_owned(),
    ];
    match seen.patience {
        Some(patience) => remarks.push(format!(
            "users are taken to give up after {:.1} s, by which half would",
            patience.as_secs_f64()
        )),
        None => {
            remarks.push("hardly anybody gave up, so all are taken to wait as long as it takes".to_owned())
        }
    }
    if seen.unknown() > 0.01 {
        remarks.push(format!(
            "{:.0} % of those who began were refused before their class was known, and are taken to be of the classes of the others",
            100.0 * seen.unknown()
        ));
    }
    if front.policy.mode == Mode::Shadow {
        remarks.push("the gate is in shadow mode; this is what would be if it decided".to_owned());
    }
    if seen.alone() > 0.05 {
        remarks.push(format!(
            "{:.0} % of the requests belong to no session (no cookie came back, or none was set); each counts as a session",
            100.0 * seen.alone()
        ));
    }
    if front.policy.limits.client_share < units::Ratio::ONE {
        remarks.push(
            "each user is taken to have an address of its own, so client-share does not count".to_owned(),
        );
    }
    remarks
}
