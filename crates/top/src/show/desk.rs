//! [`Desk`]: knobs that are tried out before they are moved.

use std::time::{Duration, Instant};

use super::forecast::Forecast;
use crate::api::state::{Knobs, Setting};
use crate::link::news::Order;

/// So far a key moves a knob.
const STEP: f64 = 0.05;
/// A prediction takes a processor for seconds: it is asked for when the user stops moving.
const REST: Duration = Duration::from_millis(300);
/// Moves that can be undone.
const MAX_MOVES: usize = 50;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Knob {
    Differentiation,
    Favour,
}

/// Where the user is with the knobs.
#[derive(Debug, Default)]
pub(super) struct Desk {
    pub(super) chosen: Option<Knob>,
    trial: Option<Trial>,
    tried_at: Option<Instant>,
    pub(super) forecast: Forecast,
    /// Whether an order to move is under way.
    pub(super) is_moving: bool,
    /// From what to what, the last move last.
    moves: Vec<(Knobs, Knobs)>,
}

/// What the user would have.
#[derive(Debug, Clone, Copy)]
struct Trial {
    /// The knobs as they were when it began.
    base: Knobs,
    set: Setting,
}

/// What Enter comes to.
#[derive(Debug, PartialEq)]
pub(super) enum Apply {
    Nothing,
    Order(Order),
    /// The knobs have been moved since the trial began, so the user has to be asked.
    Overtaken(Setting),
}

impl Desk {
    pub(super) fn choose(&mut self, knob: Knob) {
        self.chosen = if self.chosen == Some(knob) && self.trial.is_none() { None } else { Some(knob) };
    }

    /// Moves what is chosen by so many steps, from where it is now.
    pub(super) fn turn(&mut self, steps: f64, now_holds: Knobs, now: Instant) {
        let Some(knob) = self.chosen else { return };
        self.forecast.leave_suggestion();
        let Trial { base, mut set } =
            self.trial.unwrap_or(Trial { base: now_holds, set: Setting::default() });
        let (place, holds) = match knob {
            Knob::Differentiation => (&mut set.differentiation, now_holds.differentiation),
            Knob::Favour => (&mut set.favour, now_holds.favour),
        };
        // On a grid, so that many steps do not add up to crooked figures.
        let value = (((place.unwrap_or(holds) / STEP).round() + steps) * STEP).clamp(0.0, 1.0);
        *place = Some((value * 1000.0).round() / 1000.0);
        self.hold(base, Setting::between(now_holds, set.on(now_holds)), now);
    }

    /// Tries out both knobs at a place.
    pub(super) fn try_out(&mut self, to: Knobs, now_holds: Knobs, now: Instant) {
        self.hold(now_holds, Setting::between(now_holds, to), now);
    }

    fn hold(&mut self, base: Knobs, set: Setting, now: Instant) {
        self.trial = (set != Setting::default()).then_some(Trial { base, set });
        self.tried_at = Some(now);
    }

    /// Where the knobs would be, unless they are there.
    pub(super) fn wanted(&self, now_holds: Knobs) -> Option<Knobs> {
        self.trial.map(|trial| trial.set.on(now_holds)).filter(|wanted| !wanted.is_like(&now_holds))
    }

    /// Everything back to what holds; whether there was anything to discard.
    pub(super) fn discard(&mut self) -> bool {
        self.forecast.leave_suggestion();
        let any = self.trial.is_some() || self.chosen.is_some();
        (self.trial, self.chosen) = (None, None);
        any
    }

    /// What moves the knobs to where the user would have them: those that were tried out, and no other.
    pub(super) fn apply(&self, now_holds: Knobs) -> Apply {
        match self.trial {
            Some(Trial { base, set }) if self.wanted(now_holds).is_some() => {
                if base.is_like(&now_holds) {
                    Apply::Order(Order::Move { expected: now_holds, set })
                } else {
                    Apply::Overtaken(set)
                }
            }
            _ => Apply::Nothing,
        }
    }

    /// What has been moved.
    pub(super) fn moved(&mut self, from: Knobs, to: Knobs) {
        self.is_moving = false;
        if self.wanted(to).is_none() {
            self.trial = None;
        }
        if let Some(trial) = &mut self.trial {
            trial.base = to;
        }
        match self.moves.last() {
            // An undo takes the move back.
            Some((before, after)) if before.is_like(&to) && after.is_like(&from) => drop(self.moves.pop()),
            _ => {
                if self.moves.len() == MAX_MOVES {
                    self.moves.remove(0);
                }
                self.moves.push((from, to));
            }
        }
    }

    /// The order that undoes the last move; why not.
    pub(super) fn undo(&self, now_holds: Knobs) -> Result<Order, &'static str> {
        match self.moves.last() {
            None => Err("no knob was moved here"),
            Some((_, after)) if !after.is_like(&now_holds) => {
                Err("the knobs have been moved by somebody else since; c shows by whom")
            }
            Some((before, after)) => {
                Ok(Order::Move { expected: now_holds, set: Setting::between(*after, *before) })
            }
        }
    }

    /// The prediction that is to be asked for now; `clock` is the gate's.
    pub(super) fn tick(&mut self, now_holds: Knobs, now: Instant, clock: f64) -> Option<Order> {
        let then = self.wanted(now_holds)?;
        let rests = self.tried_at.is_some_and(|tried| now.saturating_duration_since(tried) >= REST);
        if rests { self.forecast.tick(now_holds, then, now, clock) } else { None }
    }
}
