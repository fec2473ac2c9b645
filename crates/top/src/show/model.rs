//! [`Model`]: what is known of the gate, and what the user looks at.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tui::Theme;

use super::aftermath::Aftermath;
use super::desk::Desk;
use super::forecast::Suggested;
use crate::api::changes::Change;
use crate::api::history::Sample;
use crate::api::queue::{Queue, Wanted};
use crate::api::state::{Knobs, Setting, State};
use crate::figures::{Lately, lately, recent, refused};
use crate::link::news::{Greeting, News, Order};

/// More than the widest terminal has points for.
const MAX_SAMPLES: usize = 1000;
/// How long a note stays.
const NOTE: Duration = Duration::from_secs(15);
/// How long it stays said that knobs were moved.
const CONFIRMATION: Duration = Duration::from_secs(60);

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
    /// Why the gate does not tell its events.
    pub(super) polling: Option<String>,
    /// Since when the gate is not there, and why.
    pub(super) lost: Option<(Instant, String)>,
    pub(super) desk: Desk,
    /// Of the last move that was made here.
    pub(super) aftermath: Option<Aftermath>,
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
            polling: None,
            lost: None,
            desk: Desk::default(),
            aftermath: None,
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
            News::State(state) => self.take_state(*state),
            News::Sample(sample) => self.take_sample(sample),
            News::Samples(history) => {
                let newest = self.newest().map_or(f64::NEG_INFINITY, |sample| sample.at);
                history.samples.into_iter().filter(|sample| sample.at > newest).for_each(|sample| {
                    self.take_sample(sample);
                });
            }
            News::Polling(why) => self.polling = why,
            News::Changes(changes) => self.take_changes(changes.changes),
            // An answer to an older search may come after one to a newer.
            News::Queue(wanted, queue) if wanted == self.wanted => self.queue = Some(queue),
            News::Queue(..) => {}
            News::Foreseen { knobs, told } => {
                if let Some(suggested) = self.desk.forecast.foreseen(&knobs, told, now) {
                    self.take_suggestion(suggested, now);
                }
            }
            News::Outcome { since, told } => {
                if let Some(aftermath) = &mut self.aftermath {
                    aftermath.outcome(since, told);
                }
            }
            News::Done(Ok(what)) => self.say(what, false, now),
            News::Done(Err(why)) => self.say(why, true, now),
            News::Moved { from, to } => self.take_move(from, to, now),
            News::NotMoved(why) => {
                self.desk.is_moving = false;
                self.say(why, true, now);
            }
            News::Overtaken { set, state, changes } => {
                self.desk.is_moving = false;
                self.take_state(*state);
                self.take_changes(changes.changes);
                if self.question.is_none() {
                    self.ask_for_overtaken(set);
                } else {
                    self.say("not moved: somebody else has moved the knobs", true, now);
                }
            }
            News::Lost(why) => {
                let since = self.lost.take().map_or(now, |(since, _)| since);
                self.lost = Some((since, why));
                self.desk.forecast.lost();
                if let Some(aftermath) = &mut self.aftermath {
                    aftermath.lost();
                }
                // What it is about may be otherwise when the gate is there again.
                self.question = None;
            }
        }
    }

    fn take_state(&mut self, state: State) {
        let is_other_mode = state.mode != self.state.mode;
        if is_other_mode {
            self.desk.forecast.forget();
        }
        if let Some(aftermath) = &mut self.aftermath {
            if is_other_mode {
                aftermath.end("the mode was changed");
            } else if !state.knobs.is_like(&aftermath.to) {
                aftermath.end("the knobs were moved again");
            }
        }
        self.state = state;
    }

    /// Takes a move that was made here.
    fn take_move(&mut self, from: Knobs, to: Knobs, now: Instant) {
        self.desk.moved(from, to);
        self.state.knobs = to;
        let hint = if self.desk.undo(to).is_ok() { "; u undoes" } else { "" };
        let text = format!("applied: differentiation {}, favour {}{hint}", to.differentiation, to.favour);
        self.note = Some(Note { text, is_bad: false, until: now + CONFIRMATION });
        // In shadow mode a move does nothing, and an older gate does not say what came of it.
        self.aftermath = (self.state.foresight && !self.state.is_shadow()).then(|| {
            let predicted = self.desk.forecast.point(to, now);
            Aftermath::new((from, to), predicted, self.aftermath.as_ref(), now, self.clock())
        });
    }

    fn take_sample(&mut self, sample: Sample) {
        self.samples.push_back(sample);
        while self.samples.len() > MAX_SAMPLES {
            self.samples.pop_front();
        }
    }

    fn take_changes(&mut self, changes: Vec<Change>) {
        let reload = |changes: &[Change]| changes.iter().find(|one| one.event == "reload").map(|one| one.at);
        if reload(&changes) != reload(&self.changes) {
            self.desk.forecast.forget();
            if let Some(aftermath) = &mut self.aftermath {
                aftermath.end("the configuration was read again");
            }
        }
        self.changes = changes;
    }

    /// Asks whether knobs are to be moved that somebody else has moved meanwhile.
    pub(super) fn ask_for_overtaken(&mut self, set: Setting) {
        let holds = self.state.knobs;
        let is_it = |change: &&Change| {
            serde_json::from_value::<Knobs>(change.new.clone()).is_ok_and(|new| new.is_like(&holds))
        };
        let last = self.changes.iter().find(|change| matches!(&*change.event, "knobs" | "reload"));
        let who = last.filter(is_it).map_or("somebody else", |change| change.who.as_str());
        let Knobs { differentiation, favour } = holds;
        let text = format!(
            "The knobs were moved by {who} meanwhile: differentiation {differentiation}, favour {favour}. Set {} all the same?",
            set.text()
        );
        self.question = Some(Question { text, order: Order::Move { expected: holds, set } });
    }

    fn meet(&mut self, greeting: Greeting, now: Instant) {
        let Greeting { state, history, changes } = greeting;
        let restarted = state.started != self.state.started;
        if let Some((since, _)) = self.lost.take() {
            let gone = tui::figures::clock(now.saturating_duration_since(since).as_secs_f64());
            let what = if restarted { "the gate has restarted" } else { "the gate is there again" };
            self.say(format!("{what}, after {gone}"), false, now);
        } else if restarted {
            self.say("the gate has restarted", false, now);
        }
        if restarted {
            self.desk.forecast.forget();
            self.question = None;
            self.aftermath = None;
        }
        // The gate's own history has no gap, unless it is older than this program.
        if !history.samples.is_empty() || restarted {
            self.samples = history.samples.into();
        }
        if !history.classes.is_empty() {
            self.names = history.classes;
        }
        self.take_state(state);
        self.take_changes(changes.changes);
    }

    pub(super) fn say(&mut self, text: impl Into<String>, is_bad: bool, now: Instant) {
        self.note = Some(Note { text: text.into(), is_bad, until: now + NOTE });
    }

    /// Tries out what the gate suggests.
    fn take_suggestion(&mut self, suggested: Result<Suggested, String>, now: Instant) {
        match suggested {
            Ok(Suggested { to, tried }) if to.is_like(&self.state.knobs) => {
                self.say(format!("what is applied is as good as any of {tried} settings tried"), false, now);
            }
            Ok(Suggested { to, tried }) => {
                self.desk.try_out(to, self.state.knobs, now);
                self.say(format!("the best of {tried} settings tried, not applied yet"), false, now);
            }
            Err(why) => self.say(format!("no suggestion: {why}"), true, now),
        }
    }

    /// What is due without a key; whether the picture changes.
    pub(super) fn tick(&mut self, now: Instant) -> (Option<Order>, bool) {
        let gone = self.note.take_if(|note| note.until <= now).is_some();
        let clock = self.clock();
        if !self.state.foresight || self.lost.is_some() {
            return (None, gone);
        }
        let look = self.aftermath.as_mut().and_then(|aftermath| aftermath.tick(now));
        let is_seen = self.page == Page::Overview;
        let foresee = || is_seen.then(|| self.desk.tick(self.state.knobs, now, clock)).flatten();
        let order = look.or_else(foresee);
        (order, gone)
    }

    /// Why this user may change nothing.
    pub(super) fn is_barred(&self) -> Option<String> {
        if self.lost.is_some() {
            return Some("the gate is not there".to_owned());
        }
        Some(format!("{} may only read: give another token to change something", self.reader()?))
    }

    /// The user's name, if the user may only read.
    pub(super) fn reader(&self) -> Option<&str> {
        let operator = self.state.operator.as_ref().filter(|operator| !operator.may_change)?;
        Some(&operator.name)
    }

    pub(super) fn newest(&self) -> Option<&Sample> {
        self.samples.back()
    }

    /// Classes as of late.
    pub(super) fn lately(&self) -> Vec<Lately> {
        lately(&self.state, &self.names, &recent(self.samples.iter()))
    }

    /// What is refused per second of late; in shadow mode, what would be.
    pub(super) fn refused(&self) -> f64 {
        refused(&recent(self.samples.iter()))
    }

    /// The gate's clock: its last word on the time.
    pub(super) fn clock(&self) -> f64 {
        let sample = self.newest().map_or(0.0, |sample| sample.at);
        self.state.clock.unwrap_or_default().max(sample)
    }
}
