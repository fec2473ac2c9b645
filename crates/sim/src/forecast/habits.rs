//! [`Habits`]: how the users of a class go on after each answer, and when they leave.

use policy::Kind;
use rand::Rng as _;
use units::Span;

use super::demand::Server;
use super::request::Fate;
use super::sessions::{Session, Sessions, State};
use crate::draw::Random;
use crate::sessions::WayPage;

/// How the users of a class go on.
///
/// Users are followed for as long as they were served. How many leave after their first answer, after their second and
/// so on is known also where some were refused on the way, who would have gone on (Kaplan and Meier 1958); what they ask for next, after
/// which pause and at what cost, is as somebody did who was as far.
#[derive(Debug, Default)]
pub(super) struct Habits {
    steps: Vec<Step>,
}

/// The requests that were as far into their sessions.
#[derive(Debug, Clone, Default)]
struct Step {
    /// What was asked for, with the pause before it: none where the answer before was still to come.
    seen: Vec<(Option<Span>, Kind, f64)>,
    left: f64,
    went_on: f64,
}

impl Habits {
    /// What is further into a session counts as so far.
    const LONGEST: usize = 64;
    /// No session that is made up is longer.
    const MOST: usize = 500;

    /// Those of a class; `counts` says how often each of the sessions counts.
    pub(super) fn of(sessions: &Sessions, class: usize, server: Server, counts: &[f64]) -> Self {
        let mut habits = Self::default();
        let of_class = sessions.all.iter().zip(counts);
        for (session, count) in
            of_class.filter(|(session, count)| session.class == Some(class) && **count > 0.0)
        {
            let state = sessions.state(session);
            habits.add(session, state, server, *count);
        }
        habits
    }

    fn add(&mut self, session: &Session, state: State, server: Server, count: f64) {
        let pauses = [None].into_iter().chain(session.pauses());
        for (place, (request, pause)) in session.requests.iter().zip(pauses).enumerate() {
            if request.fate != Fate::Served {
                return;
            }
            let is_last = place + 1 == session.requests.len();
            let place = place.min(Self::LONGEST - 1);
            if self.steps.len() <= place {
                self.steps.resize(place + 1, Step::default());
            }
            let step = &mut self.steps[place];
            for _ in 0..count.round() as u32 {
                step.seen.push((pause, request.kind, server.demand(request)));
            }
            match (is_last, state) {
                (false, _) => step.went_on += count,
                (true, State::Completed) => step.left += count,
                (true, _) => {}
            }
        }
    }

    /// Whether anybody was served.
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// A session as one of them could have it.
    pub(super) fn way(&self, random: &mut Random) -> Vec<WayPage> {
        let mut pages: Vec<WayPage> = Vec::new();
        for place in 0..Self::MOST {
            let Some(step) =
                self.steps.get(place.min(Self::LONGEST - 1)).filter(|step| !step.seen.is_empty())
            else {
                return pages;
            };
            let (pause, kind, demand) = step.seen[random.random_range(..step.seen.len())];
            match (pages.last_mut(), pause) {
                (Some(page), None) => page.embedded.push((kind, demand)),
                (last, pause) => {
                    if let (Some(last), Some(pause)) = (last, pause) {
                        last.pause = pause;
                    }
                    pages.push(WayPage { first: (kind, demand), embedded: Vec::new(), pause: Span::ZERO });
                }
            }
            let leaves = step.left / (step.left + step.went_on);
            // Of whom it is not known whether they go on, they do not.
            if leaves.is_nan() || random.random::<f64>() < leaves {
                return pages;
            }
        }
        pages
    }
}
