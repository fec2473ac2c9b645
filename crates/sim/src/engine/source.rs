//! [`Source`]: who sends requests.

use std::sync::Arc;

use rand::Rng;
use rand_distr::Distribution;

use super::job::Job;
use super::request::{Besides, Request};
use crate::draw::{Arrivals, Demands, Gaps, Observed, Random, Role, Seed};
use crate::model::{DYNAMIC, Model, STATIC};
use crate::subject::Surge;

/// What an answer is to who sent the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It was waited for.
    Wanted,
    /// He had given up, and the request is not sent again, or it is.
    TooLate { is_lost: bool },
}

/// Who sends requests.
pub(crate) trait Source<R: Request> {
    /// When the next request comes; infinity while no client is going to send one.
    fn next(&self) -> f64;

    /// That request; who sends it has sent it now.
    fn take(&mut self) -> R;

    /// Whether a request is sent for the first time.
    fn is_new(&self, _: &R) -> bool {
        true
    }

    /// A request was answered, so that who sent it can go on.
    fn answered(&mut self, now: f64, request: &R) -> Answer;

    /// A request was rejected; gives whether it will be sent again.
    fn rejected(&mut self, now: f64, request: &R) -> bool;
}

/// Draws what requests are and what they need.
#[derive(Debug, Clone)]
pub(crate) struct Draw {
    /// Shares added up, and mean demands in seconds.
    classes: Box<[(f64, f64)]>,
    /// The law of demands of all classes, or of each.
    laws: Laws,
    class: Random,
    service: Random,
    besides: Besides,
    kinds: Option<Kinds>,
}

/// Of which class each request of a log is, over and over.
#[derive(Debug, Clone)]
struct Kinds {
    /// Whether they are dynamic.
    dynamic: Arc<[bool]>,
    /// What static and dynamic ones are here.
    classes: [u32; 2],
    next: usize,
}

impl Kinds {
    fn of(model: &Model) -> Option<Self> {
        let Arrivals::Observed(Observed { dynamic: Some(dynamic), .. }) = &model.arrivals else {
            return None;
        };
        let index = |name| model.classes.iter().position(|class| class.name == name).unwrap_or(0) as u32;
        Some(Self { dynamic: Arc::clone(dynamic), classes: [STATIC, DYNAMIC].map(index), next: 0 })
    }

    fn draw(&mut self) -> u32 {
        let is_dynamic = self.dynamic.get(self.next).copied().unwrap_or(false);
        self.next = if self.next + 1 < self.dynamic.len() { self.next + 1 } else { 0 };
        self.classes[usize::from(is_dynamic)]
    }
}

/// Of so many, comparing with all of them is faster than looking for the right one.
const FEW_CLASSES: usize = 8;

#[derive(Debug, Clone)]
enum Laws {
    One(Demands),
    Each(Box<[Demands]>),
}

impl Laws {
    #[inline]
    fn of(&self, class: usize) -> &Demands {
        match self {
            Self::One(law) => law,
            Self::Each(laws) => &laws[class],
        }
    }
}

impl Draw {
    pub(crate) fn new(model: &Model, seed: Seed) -> Self {
        let classes = &model.classes;
        let laws = match model.only_law() {
            Some(law) => Laws::One(Demands::of(law)),
            None => Laws::Each(classes.iter().map(|class| model.demands_of(class)).collect()),
        };
        let total: f64 = classes.iter().map(|class| class.share).sum();
        let mut sum = 0.0;
        let classes = classes.iter().map(|class| {
            sum += class.share / total;
            (sum, class.demand)
        });
        let (class, service) = (seed.stream(Role::Classes), seed.stream(Role::Service));
        let besides = Besides::new(Demands::of(model.service), seed);
        Self { classes: classes.collect(), laws, class, service, besides, kinds: Kinds::of(model) }
    }

    /// The next request is the one that comes after a gap of the log.
    fn begin_after(&mut self, gap: usize) {
        self.kinds.iter_mut().for_each(|kinds| kinds.next = gap);
    }

    /// Class and demand of many requests: the same that [`Self::request`] would draw one by one.
    fn fill(&mut self, classes: &mut [u32], demands: &mut [f64]) {
        let last = self.classes.len() - 1;
        let upto = &self.classes[..last];
        for class in classes.iter_mut() {
            let chance: f64 = self.class.random();
            *class = if upto.len() <= FEW_CLASSES {
                upto.iter().map(|(upto, _)| u32::from(chance >= *upto)).sum()
            } else {
                upto.partition_point(|(upto, _)| chance >= *upto) as u32
            };
        }
        if let Some(kinds) = &mut self.kinds {
            classes.fill_with(|| kinds.draw());
        }
        match &self.laws {
            Laws::One(law) => law.fill(demands, &mut self.service),
            Laws::Each(laws) => {
                for (demand, class) in demands.iter_mut().zip(classes.iter()) {
                    *demand = laws[*class as usize].sample(&mut self.service);
                }
            }
        }
        for (demand, class) in demands.iter_mut().zip(classes.iter()) {
            *demand *= self.classes[*class as usize].1;
        }
    }

    #[inline]
    pub(crate) fn request<R: Request>(&mut self, arrived: f64, whose: u32) -> R {
        let chance: f64 = self.class.random();
        let last = self.classes.len() - 1;
        let class = self.classes[..last].partition_point(|(upto, _)| chance >= *upto);
        let demand = self.classes[class].1 * self.laws.of(class).sample(&mut self.service);
        R::new(Job { arrived, demand, class: class as u32, whose }, &mut self.besides)
    }
}

/// Requests that come whatever becomes of those before.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    gaps: Gaps,
    draw: Draw,
    next: f64,
    drawn: Drawn,
    surge: Option<Surge>,
}

/// Requests to come: a loop that only draws random numbers is faster than draws in between.
#[derive(Debug, Clone)]
struct Drawn {
    gaps: [f64; DRAWN],
    classes: [u32; DRAWN],
    demands: [f64; DRAWN],
    used: usize,
}

const DRAWN: usize = 64;

impl Open {
    pub(crate) fn new(mut gaps: Gaps, mut draw: Draw) -> Self {
        draw.begin_after(gaps.place());
        let next = gaps.draw();
        let drawn = Drawn { gaps: [0.0; DRAWN], classes: [0; DRAWN], demands: [0.0; DRAWN], used: DRAWN };
        Self { gaps, draw, next, drawn, surge: None }
    }

    /// With a time in which more come, and an end.
    pub(crate) fn with(self, surge: Surge) -> Self {
        Self { next: surge.after(0.0, self.next), surge: Some(surge), ..self }
    }

    #[inline(never)]
    fn fill(&mut self) {
        self.gaps.fill(&mut self.drawn.gaps);
        self.draw.fill(&mut self.drawn.classes, &mut self.drawn.demands);
        self.drawn.used = 0;
    }
}

impl<R: Request> Source<R> for Open {
    #[inline]
    fn next(&self) -> f64 {
        self.next
    }

    #[inline]
    fn take(&mut self) -> R {
        if self.drawn.used >= DRAWN {
            self.fill();
        }
        let Drawn { gaps, classes, demands, used } = &mut self.drawn;
        let job = Job { arrived: self.next, demand: demands[*used], class: classes[*used], whose: 0 };
        self.next = match self.surge {
            None => self.next + gaps[*used],
            Some(surge) => surge.after(self.next, gaps[*used]),
        };
        *used += 1;
        R::new(job, &mut self.draw.besides)
    }

    #[inline]
    fn answered(&mut self, _: f64, _: &R) -> Answer {
        Answer::Wanted
    }

    #[inline]
    fn rejected(&mut self, _: f64, _: &R) -> bool {
        false
    }
}
