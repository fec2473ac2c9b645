//! [`Model`]: what is known of the gate, and what the user looks at.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tui::Theme;

use super::desk::Desk;
use crate::api::changes::Change;
use crate::api::history::Sample;
use crate::api::queue::{Queue, Wanted};
use crate::api::state::State;
use crate::link::news::{Greeting, News, Order};
use crate::told::figures::{Lately, lately, recent};

/// More than the widest terminal has points for.
const MAX_SAMPLES: usize = 1000;
/// How long a note stays.
const NOTE: Duration = Duration::from_secs(15);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Page {
    #[default]
    Overview,
    /// Who waits.
    Queue,
    Changes,
}

/// What y or n answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    pub(super) text: String,
    pub(super) order: Order,
}

/// Something that the user is told for a while.
#[derive(Debug)]
pub(super) struct Note {
    pub(super) text: String,
    pub(super) is_bad: bool,
    until: Instant,
}

#[derive(Debug)]
pub(super) struct Model {
    pub(super) place: String,
    pub(super) theme: Theme,
    pub(super) state: State,
    /// Of the classes of samples.
    pub(super) names: Vec<String>,
    pub(super) samples: VecDeque<Sample>,
    pub(super) changes: Vec<Change>,
    pub(super) queue: Option<Result<Queue, String>>,
    /// Since when the gate is not there, and why.
    pub(super) lost: Option<(Instant, String)>,
    pub(super) desk: Desk,
    pub(super) page: Page,
    pub(super) help: bool,
    pub(super) question: Option<Question>,
    pub(super) note: Option<Note>,
    pub(super) wanted: Wanted,
    /// Whether letters go into the search.
    pub(super) searching: bool,
    /// The first change that is shown.
    pub(super) scroll: usize,
}

impl Model {
    pub(super) fn new(place: String, theme: Theme, greeting: Greeting) -> Self {
        let Greeting { state, history, changes } = greeting;
        Self {
            place,
            theme,
            state,
            names: history.classes,
            samples: history.samples.into(),
            changes: changes.changes,
            queue: None,
            lost: None,
            desk: Desk::default(),
            page: Page::default(),
            help: false,
            question: None,
            note: None,
            wanted: Wanted::default(),
            searching: false,
            scroll: 0,
        }
    }

    /// Takes what is new.
    pub(super) fn see(&mut self, news: News, now: Instant) {
        match news {
            News::Met(greeting) => self.meet(*greeting, now),
            News::State(state) => self.state = *state,
            News::Sample(sample) => {
                self.samples.push_back(sample);
                while self.samples.len() > MAX_SAMPLES {
                    self.samples.pop_front();
                }
            }
            News::Changes(changes) => self.changes = changes.changes,
            News::Queue(queue) => self.queue = Some(queue),
            News::Foreseen(of, told) => self.desk.foreseen(of, told),
            News::Done(Ok(what)) => self.say(what, false, now),
            News::Done(Err(why)) => self.say(why, true, now),
            News::Moved { from, to, refused: None } => {
                self.desk.moved(from, to);
                self.state.knobs = to;
                let hint = if self.desk.undo(to).is_ok() { "; u undoes" } else { "" };
                let text = format!("differentiation {}, favour {}{hint}", to.differentiation, to.favour);
                self.say(text, false, now);
            }
            News::Moved { refused: Some(why), .. } => self.say(why, true, now),
            News::Lost(why) => {
                let since = self.lost.take().map_or(now, |(since, _)| since);
                self.lost = Some((since, why));
                self.desk.lost();
            }
        }
    }

    fn meet(&mut self, greeting: Greeting, now: Instant) {
        let Greeting { state, history, changes } = greeting;
        let restarted = state.started != self.state.started;
        if let Some((since, _)) = self.lost.take() {
            let gone = tui::figures::clock(now.saturating_duration_since(since).as_secs_f64());
            let what = if restarted { "the gate has restarted" } else { "the gate is there again" };
            self.say(format!("{what}, after {gone}"), false, now);
        }
        // The gate's own history has no gap, unless it is older than this program.
        if !history.samples.is_empty() || restarted {
            self.samples = history.samples.into();
        }
        if !history.classes.is_empty() {
            self.names = history.classes;
        }
        (self.state, self.changes) = (state, changes.changes);
    }

    pub(super) fn say(&mut self, text: impl Into<String>, is_bad: bool, now: Instant) {
        self.note = Some(Note { text: text.into(), is_bad, until: now + NOTE });
    }

    /// What is due without a key; whether the picture changes.
    pub(super) fn tick(&mut self, now: Instant) -> (Option<Order>, bool) {
        let gone = self.note.take_if(|note| note.until <= now).is_some();
        let able = self.state.foresight && self.lost.is_none();
        let order = if able { self.desk.tick(self.state.knobs, now) } else { None };
        (order, gone)
    }

    /// Why this user may change nothing.
    pub(super) fn is_barred(&self) -> Option<String> {
        if self.lost.is_some() {
            return Some("the gate is not there".to_owned());
        }
        let operator = self.state.operator.as_ref().filter(|operator| !operator.may_change)?;
        Some(format!("{} may only read: give another token to change something", operator.name))
    }

    pub(super) fn newest(&self) -> Option<&Sample> {
        self.samples.back()
    }

    /// Classes as of late.
    pub(super) fn lately(&self) -> Vec<Lately> {
        lately(&self.state, &self.names, &recent(self.samples.iter()))
    }

    /// Refused of late before a class was known, 1/s.
    pub(super) fn unclassified(&self) -> f64 {
        let recent = recent(self.samples.iter());
        let sum: f64 = recent.iter().map(|sample| sample.unclassified).sum();
        sum / recent.len().max(1) as f64
    }

    /// The gate's clock: its last word on the time.
    pub(super) fn clock(&self) -> f64 {
        let sample = self.newest().map_or(0.0, |sample| sample.at);
        self.state.clock.unwrap_or_default().max(sample)
    }
}
