//! [`Forecast`]: what the gate predicts of knobs, kept for a while.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::api::foresight::{Foresight, Load, Point};
use crate::api::state::Knobs;
use crate::link::news::Order;

/// A prediction is of the load of the last minutes, and that changes.
const RENEW: Duration = Duration::from_secs(60);
/// Before a prediction that failed is asked for again.
const RETRY: Duration = Duration::from_secs(10);
/// Points that are kept: of the knobs as they are, and of more places than are tried out in a minute.
const MAX_POINTS: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Forecast {
    known: VecDeque<Known>,
    pub(super) load: Option<Load>,
    pub(super) remarks: Vec<String>,
    asked: Option<Asked>,
    failed: Option<Failed>,
    /// Whether there was no time for some of what was asked for last.
    lacks: bool,
}

/// What was predicted of some knobs.
#[derive(Debug)]
struct Known {
    point: Point,
    /// When it was asked for.
    at: Instant,
    /// The gate's clock at that time.
    clock: f64,
}

/// A question under way.
#[derive(Debug)]
struct Asked {
    knobs: Vec<Knobs>,
    now: Knobs,
    then: Knobs,
    at: Instant,
    /// The gate's clock.
    clock: f64,
    /// The gate has become another one since.
    is_void: bool,
}

#[derive(Debug)]
struct Failed {
    now: Knobs,
    then: Knobs,
    why: String,
    at: Instant,
}

/// Where to put the knobs, of so many settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Suggested {
    pub(super) to: Knobs,
    pub(super) tried: usize,
}

/// The knobs as they are beside the knobs as they would be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prediction<'a> {
    pub(super) now: &'a Point,
    pub(super) then: &'a Point,
    /// The gate's clock when the older one of them was asked for.
    pub(super) clock: f64,
}

/// What is done for a prediction.
#[derive(Debug, PartialEq)]
pub(super) enum Progress<'a> {
    /// It waits for the user's hand to rest, or for nothing.
    Idle,
    /// It is computed for so long.
    Computing(Duration),
    /// Another one, for other knobs, is computed before it.
    Behind(Duration),
    /// Why it failed; an older one may be known.
    Failed(&'a str),
}

impl Forecast {
    fn known(&self, knobs: Knobs) -> Option<&Known> {
        self.known.iter().find(|known| known.point.knobs.is_like(&knobs))
    }

    fn is_fresh(&self, knobs: Knobs, now: Instant) -> bool {
        self.known(knobs).is_some_and(|known| now.saturating_duration_since(known.at) < RENEW)
    }

    fn failed(&self, holds: Knobs, then: Knobs) -> Option<&Failed> {
        self.failed.as_ref().filter(|failed| failed.now.is_like(&holds) && failed.then.is_like(&then))
    }

    /// What is predicted of a move.
    pub(super) fn of(&self, holds: Knobs, then: Knobs) -> Option<Prediction<'_>> {
        let (now, then) = (self.known(holds)?, self.known(then)?);
        Some(Prediction { now: &now.point, then: &then.point, clock: now.clock.min(then.clock) })
    }

    /// What was predicted of knobs that have been applied, unless it is of a load of long ago.
    pub(super) fn point(&self, knobs: Knobs, now: Instant) -> Option<Point> {
        let known = self.known(knobs)?;
        (now.saturating_duration_since(known.at) < 2 * RENEW).then(|| known.point.clone())
    }

    pub(super) fn progress(&self, holds: Knobs, then: Knobs, now: Instant) -> Progress<'_> {
        match &self.asked {
            Some(asked) => {
                let since = now.saturating_duration_since(asked.at);
                let is_it = !asked.is_void && asked.now.is_like(&holds) && asked.then.is_like(&then);
                if is_it { Progress::Computing(since) } else { Progress::Behind(since) }
            }
            None => self
                .failed(holds, then)
                .map_or(Progress::Idle, |failed| Progress::Failed(failed.why.as_str())),
        }
    }

    /// What is to be asked for now: the knobs as they are, and as they would be, unless they are known; `clock` is the
    /// gate's.
    pub(super) fn tick(&mut self, holds: Knobs, then: Knobs, now: Instant, clock: f64) -> Option<Order> {
        let is_early = |failed: &Failed| now.saturating_duration_since(failed.at) < RETRY;
        if self.asked.is_some() || self.failed(holds, then).is_some_and(is_early) {
            return None;
        }
        let knobs = match (self.is_fresh(holds, now), self.is_fresh(then, now)) {
            (true, true) => return None,
            (true, false) if self.lacks => vec![then],
            // Only what is said in one answer is of the same users.
            _ => vec![holds, then],
        };
        Some(self.ask(knobs, (holds, then), now, clock))
    }

    fn ask(&mut self, knobs: Vec<Knobs>, (holds, then): (Knobs, Knobs), now: Instant, clock: f64) -> Order {
        self.asked = Some(Asked { knobs: knobs.clone(), now: holds, then, at: now, clock, is_void: false });
        Order::Foresee(knobs)
    }

    /// Which knobs to take, is to be asked now; not while something else is.
    pub(super) fn suggest(&mut self, holds: Knobs, now: Instant, clock: f64) -> Option<Order> {
        self.asked.is_none().then(|| self.ask(Vec::new(), (holds, holds), now, clock))
    }

    /// A suggestion that was asked for is not wanted any more: the user has gone on.
    pub(super) fn leave_suggestion(&mut self) {
        if let Some(asked) = self.asked.as_mut().filter(|asked| asked.knobs.is_empty()) {
            asked.is_void = true;
        }
    }

    /// Takes what the gate says to what was asked, and gives what it suggests, if it was that. It has simulated the first knobs
    /// first, and the others as far as there was time: what is missing is asked for alone then.
    pub(super) fn foreseen(
        &mut self,
        knobs: &[Knobs],
        told: Result<Foresight, String>,
        at: Instant,
    ) -> Option<Result<Suggested, String>> {
        let asked = self.asked.take_if(|asked| asked.knobs == knobs).filter(|asked| !asked.is_void)?;
        if asked.knobs.is_empty() {
            return Some(self.suggested(&asked, told));
        }
        let told = told.and_then(|foresight| {
            let is_first =
                |point: &Point| asked.knobs.first().is_some_and(|first| point.knobs.is_like(first));
            let why = || match foresight.remarks.first() {
                Some(remark) => format!("it was not simulated in time: {remark}"),
                None => "it was not simulated in time".to_owned(),
            };
            if foresight.points.iter().any(is_first) { Ok(foresight) } else { Err(why()) }
        });
        match told {
            Ok(mut foresight) => {
                let is_asked = |point: &Point| asked.knobs.iter().any(|one| point.knobs.is_like(one));
                foresight.points.retain(is_asked);
                self.lacks = foresight.points.len() < asked.knobs.len();
                self.keep(&asked, foresight);
            }
            Err(why) => self.failed = Some(Failed { now: asked.now, then: asked.then, why, at }),
        }
        None
    }

    fn suggested(&mut self, asked: &Asked, told: Result<Foresight, String>) -> Result<Suggested, String> {
        let foresight = told?;
        let to = foresight.suggested.ok_or("the gate knows of none")?;
        let tried = foresight.points.len();
        self.lacks = false;
        self.keep(asked, foresight);
        Ok(Suggested { to, tried })
    }

    /// Points of one answer are of the same users; those of earlier ones are not of these.
    fn keep(&mut self, asked: &Asked, Foresight { points, remarks, load, .. }: Foresight) {
        (self.failed, self.remarks, self.load) = (None, remarks, load);
        for known in &mut self.known {
            known.point = known.point.clone().alone();
        }
        let is_alone = points.len() == 1;
        for point in points {
            self.known.retain(|known| !known.point.knobs.is_like(&point.knobs));
            let point = if is_alone { point.alone() } else { point };
            self.known.push_front(Known { point, at: asked.at, clock: asked.clock });
        }
        self.known.truncate(MAX_POINTS);
    }

    /// What was predicted, or is being computed, is of a gate that has become another one.
    pub(super) fn forget(&mut self) {
        (self.known, self.failed) = (VecDeque::new(), None);
        if let Some(asked) = &mut self.asked {
            asked.is_void = true;
        }
    }

    /// The gate was lost: what was asked of it is not answered.
    pub(super) fn lost(&mut self) {
        self.asked = None;
    }
}
