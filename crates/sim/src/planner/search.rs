//! The smallest equipment with which objectives are met.

use std::collections::BTreeMap;

use super::answer::{CapacityPlan, Level, Trial};
use super::profile::Profile;
use super::question::{Balancings, PlanError, Question};
use crate::control::Control;
use crate::model::{Balancing, Fleet, Model, ModelError, Offered, Quota};
use crate::replications::run_under;

/// Finds it. `control` is told after each replication.
///
/// # Errors
/// When the model cannot be simulated, or the question makes no sense for it.
pub fn plan_capacity(
    model: &Model,
    question: &Question,
    control: Control<'_>,
) -> Result<CapacityPlan, PlanError> {
    if let Some(objective) = question.objectives.iter().find(|objective| objective.class().is_some()) {
        return Err(PlanError::OfClass(objective.to_string()));
    }
    let own = model.rate().ok_or(PlanError::Closed)?;
    let rate = question.profile.as_ref().map_or(own, Profile::highest);
    let mut search = Search { model, question, control, tried: BTreeMap::new() };
    let balancings: Vec<Balancing> = match question.balancing {
        Balancings::One(balancing) => vec![balancing],
        Balancings::All => Balancing::ALL.to_vec(),
    };
    let mut servers = Vec::new();
    let mut found: Option<Trial> = None;
    for balancing in balancings {
        let least = search.least(
            rate,
            |count| Size { servers: count, balancing, ..search_size(model) },
            question.most,
        )?;
        if let Some(least) = least
            && found.as_ref().is_none_or(|found| least.servers < found.servers)
        {
            found = Some(least);
        }
        servers.extend(search.of(rate).filter(|sized| sized.balancing == balancing));
    }
    servers.sort_by_key(|sized| (sized.servers, sized.balancing as u8));
    let threads = match &found {
        Some(found) => search.least(
            rate,
            |threads| Size {
                servers: found.servers,
                balancing: found.balancing,
                threads,
                ..search_size(model)
            },
            model.threads,
        )?,
        None => None,
    };
    // With as many threads for each processor as there are.
    let one = search.least(
        rate,
        |processors| Size {
            servers: 1,
            processors,
            threads: (model.threads * processors).div_ceil(model.processors),
            ..search_size(model)
        },
        question.most.saturating_mul(model.processors),
    )?;
    let profile = match (&question.profile, &found) {
        (Some(profile), Some(found)) => search.profile(profile, found.balancing)?,
        _ => Vec::new(),
    };
    Ok(CapacityPlan {
        objectives: question.objectives.iter().map(ToString::to_string).collect(),
        rate,
        work: rate * model.mean_demand(),
        spare: question.spare,
        servers,
        found,
        threads,
        one,
        profile,
    })
}

/// Equipment to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Size {
    servers: u32,
    balancing: Balancing,
    processors: u32,
    threads: u32,
}

/// As it is.
fn search_size(model: &Model) -> Size {
    Size {
        servers: model.fleet.servers,
        balancing: model.fleet.balancing,
        processors: model.processors,
        threads: model.threads,
    }
}

struct Search<'a> {
    model: &'a Model,
    question: &'a Question,
    control: Control<'a>,
    /// By rate, in thousandths of requests per second.
    tried: BTreeMap<(u64, Size), Trial>,
}

impl Search<'_> {
    fn of(&self, rate: f64) -> impl Iterator<Item = Trial> + use<'_> {
        let key = key(rate);
        let own = search_size(self.model);
        let tried = self.tried.iter().filter(move |((rate, size), _)| {
            *rate == key && (size.processors, size.threads) == (own.processors, own.threads)
        });
        tried.map(|(_, sized)| sized.clone())
    }

    fn try_out(&mut self, rate: f64, size: Size) -> Result<Trial, ModelError> {
        if let Some(sized) = self.tried.get(&(key(rate), size)) {
            return Ok(sized.clone());
        }
        let Size { servers, balancing, processors, threads } = size;
        let grown = f64::from(processors) / f64::from(self.model.processors);
        let model = Model {
            offered: Offered::Rate(rate),
            fleet: Fleet { servers, balancing },
            processors,
            // As much of each processor as there is.
            quota: self.model.quota.map(|quota| Quota { processors: quota.processors * grown, ..quota }),
            threads,
            ..self.model.clone()
        };
        let objectives = &self.question.objectives;
        let sized = |utilization, met, figures| Trial {
            servers,
            balancing,
            processors,
            quota: model.quota.map(|quota| quota.processors),
            threads,
            utilization,
            met,
            figures,
        };
        let found = match run_under(&model, &self.question.plan, self.control) {
            Ok(outcome) => sized(
                outcome.utilization.mean,
                objectives.iter().all(|objective| objective.is_surely_met(&outcome)),
                objectives.iter().map(|objective| objective.figure(&outcome)).collect(),
            ),
            // More come than it can serve, and all of them wait.
            Err(ModelError::Unstable { .. }) => sized(1.0, false, Vec::new()),
            Err(why) => return Err(why),
        };
        self.tried.insert((key(rate), size), found.clone());
        Ok(found)
    }

    /// The smallest number up to `most` with which the objectives are met: doubled until they are, and halved from there,
    /// since more equipment serves no worse.
    fn least(
        &mut self,
        rate: f64,
        size: impl Fn(u32) -> Size,
        most: u32,
    ) -> Result<Option<Trial>, ModelError> {
        let (mut low, mut high) = (0, 1);
        let mut best = loop {
            let tried = self.try_out(rate, size(high))?;
            if tried.met {
                break tried;
            }
            if high >= most || self.control.is_stopped() {
                return Ok(None);
            }
            (low, high) = (high, high.saturating_mul(2).min(most));
        };
        while high - low > 1 && !self.control.is_stopped() {
            let middle = low + (high - low) / 2;
            let tried = self.try_out(rate, size(middle))?;
            if tried.met {
                (high, best) = (middle, tried);
            } else {
                low = middle;
            }
        }
        Ok(Some(best))
    }

    /// Servers for each step of a profile, as if it lasted for ever.
    fn profile(&mut self, profile: &Profile, balancing: Balancing) -> Result<Vec<Level>, ModelError> {
        let own = search_size(self.model);
        let (ahead, spare) = (profile.ahead(self.question.scaling_delay), self.question.spare);
        let mut needed = |rate: f64| {
            let least = self.least(rate, |servers| Size { servers, balancing, ..own }, self.question.most)?;
            Ok::<_, ModelError>(least.map(|sized| sized.servers))
        };
        let mut levels = Vec::new();
        for ((rate, lasts), ahead) in profile.steps.iter().zip(ahead) {
            levels.push(Level {
                rate: *rate,
                lasts: lasts.as_secs_f64(),
                needed: needed(*rate)?,
                asked_for: needed(ahead)?.map(|servers| servers + spare),
            });
        }
        Ok(levels)
    }
}

fn key(rate: f64) -> u64 {
    (rate * 1e3).round() as u64
}
