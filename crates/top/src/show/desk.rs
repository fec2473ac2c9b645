//! [`Desk`]: knobs that are tried out before they are moved.

use std::time::{Duration, Instant};

use crate::api::foresight::Foresight;
use crate::api::state::Knobs;
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
    /// What the user would have, unless it is what holds.
    pub(super) wanted: Option<Knobs>,
    moved_at: Option<Instant>,
    /// Under way.
    asked: Option<Knobs>,
    pub(super) prediction: Option<Prediction>,
    /// From what to what, the last move last.
    moves: Vec<(Knobs, Knobs)>,
}

/// What was predicted for some knobs, or why nothing was.
#[derive(Debug)]
pub(super) struct Prediction {
    pub(super) of: Knobs,
    pub(super) told: Result<Foresight, String>,
}

impl Desk {
    pub(super) fn choose(&mut self, knob: Knob) {
        self.chosen = if self.chosen == Some(knob) && self.wanted.is_none() { None } else { Some(knob) };
    }

    /// Moves what is chosen by so many steps, from where it is now.
    pub(super) fn turn(&mut self, steps: f64, now_holds: Knobs, now: Instant) {
        let Some(knob) = self.chosen else { return };
        let mut wanted = self.wanted.unwrap_or(now_holds);
        let place = match knob {
            Knob::Differentiation => &mut wanted.differentiation,
            Knob::Favour => &mut wanted.favour,
        };
        // On a grid, so that many steps do not add up to crooked figures.
        *place = (((*place / STEP).round() + steps) * STEP).clamp(0.0, 1.0);
        *place = (*place * 1000.0).round() / 1000.0;
        self.wanted = (!wanted.is_like(&now_holds)).then_some(wanted);
        self.moved_at = Some(now);
    }

    /// Everything back to what holds; whether there was anything to discard.
    pub(super) fn discard(&mut self) -> bool {
        let any = self.wanted.is_some() || self.chosen.is_some();
        (self.wanted, self.chosen, self.prediction) = (None, None, None);
        any
    }

    /// The order that moves the knobs to where the user would have them.
    pub(super) fn apply(&self, now_holds: Knobs) -> Option<Order> {
        self.wanted.map(|to| Order::Move { from: now_holds, to })
    }

    /// What has been moved.
    pub(super) fn moved(&mut self, from: Knobs, to: Knobs) {
        if self.wanted.is_some_and(|wanted| wanted.is_like(&to)) {
            (self.wanted, self.prediction) = (None, None);
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
            Some((before, _)) => Ok(Order::Move { from: now_holds, to: *before }),
        }
    }

    /// Whether a prediction is under way, or about to be.
    pub(super) fn is_waiting(&self) -> bool {
        self.wanted.is_some_and(|wanted| !self.is_predicted(wanted))
    }

    fn is_predicted(&self, knobs: Knobs) -> bool {
        self.prediction.as_ref().is_some_and(|prediction| prediction.of.is_like(&knobs))
    }

    /// The prediction that is to be asked for now.
    pub(super) fn tick(&mut self, now_holds: Knobs, now: Instant) -> Option<Order> {
        let then = self.wanted.filter(|wanted| !self.is_predicted(*wanted))?;
        let rests = self.moved_at.is_some_and(|moved| now.saturating_duration_since(moved) >= REST);
        if !rests || self.asked.is_some() {
            return None;
        }
        self.asked = Some(then);
        Some(Order::Foresee { now: now_holds, then })
    }

    pub(super) fn foreseen(&mut self, of: Knobs, told: Result<Foresight, String>) {
        self.asked = None;
        if self.wanted.is_some_and(|wanted| wanted.is_like(&of)) {
            self.prediction = Some(Prediction { of, told });
        }
    }

    /// The gate was lost: what was asked of it is not answered.
    pub(super) fn lost(&mut self) {
        self.asked = None;
    }
}
