//! Stage 7, the order in which classes fill the server's free places.
//!
//! Start-time fair queueing (Goyal, Vin, Cheng: SIGCOMM 1996) with a cost of one per request.
//! A class that was idle gets no credit for it.

use alloc::vec::Vec;

use units::ClassId;

use crate::config::Class;
use crate::knobs::Knobs;

/// A class that waits, with the request that it would have served.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready<R> {
    pub(crate) class: ClassId,
    pub(crate) request: R,
    /// Whether a place is open to it, not counting those for more important classes.
    pub(crate) open: bool,
}

/// Virtual time that one request of the heaviest class takes. Weights differ by at most 1e9, so a
/// tag of 128 bits outlasts any run.
const UNIT: f64 = (1u64 << 20) as f64;

#[derive(Debug, Clone, Copy, Default)]
struct Flow {
    /// Virtual time that one request of the class takes.
    stride: u128,
    /// Start tag of the class's next request.
    start: u128,
}

#[derive(Debug)]
pub(crate) struct Scheduler {
    flows: Vec<Flow>,
    /// Start tag of the last dispatched request.
    now: u128,
    strict: bool,
}

impl Scheduler {
    pub(crate) fn new(classes: &[Class], knobs: Knobs) -> Self {
        let mut scheduler = Self { flows: Vec::new(), now: 0, strict: false };
        scheduler.flows.resize(classes.len(), Flow::default());
        scheduler.retune(classes, knobs);
        scheduler
    }

    /// Takes new weights; what was dispatched before stays charged as it was.
    pub(crate) fn retune(&mut self, classes: &[Class], knobs: Knobs) {
        self.strict = knobs.strict() && classes.iter().all(|class| class.weight.is_none());
        let last = classes.len() - 1;
        let weight = |index: usize| classes[index].weight.unwrap_or_else(|| knobs.weight(last - index));
        let heaviest = (0..classes.len()).map(weight).fold(f64::MIN_POSITIVE, f64::max);
        for (index, flow) in self.flows.iter_mut().enumerate() {
            flow.stride = (UNIT * heaviest / weight(index)) as u128;
        }
    }

    /// A request came to a class that had none waiting.
    pub(crate) fn woke(&mut self, class: ClassId) {
        let flow = &mut self.flows[class.index()];
        flow.start = flow.start.max(self.now);
    }

    /// The class to serve next among those that wait, given from most to least important.
    ///
    /// A class that is owed a whole request, because the others moved on while no place was open
    /// to it, may take one that is for them only: it waits, but the weights see that it is served.
    pub(crate) fn pick<R>(&self, waiting: impl Iterator<Item = Ready<R>>) -> Option<Ready<R>> {
        let mut ready = waiting.filter(|ready| ready.open || (!self.strict && self.is_owed(ready.class)));
        if self.strict {
            ready.next()
        } else {
            ready.min_by_key(|ready| (self.flows[ready.class.index()].start, ready.class))
        }
    }

    /// The part that a class gets of what is served of it and of all from `above` on down, while all of them wait.
    pub(crate) fn share_beside(&self, class: ClassId, above: ClassId) -> f64 {
        if self.strict {
            return 0.0;
        }
        let weight = |flow: &Flow| 1.0 / (flow.stride as f64).max(1.0);
        let all: f64 = self.flows.iter().skip(above.index()).map(weight).sum();
        self.flows.get(class.index()).map_or(0.0, weight) / all
    }

    /// Charges one dispatched request to its class.
    pub(crate) fn charge(&mut self, class: ClassId) {
        let flow = &mut self.flows[class.index()];
        self.now = self.now.max(flow.start);
        flow.start = flow.start.saturating_add(flow.stride);
    }

    fn is_owed(&self, class: ClassId) -> bool {
        let flow = self.flows[class.index()];
        flow.start.saturating_add(flow.stride) <= self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use units::Ratio;

    fn ready(class: u8, open: bool) -> Ready<()> {
        Ready { class: ClassId(class), request: (), open }
    }

    fn dispatched(differentiation: f64, classes: &[Class], rounds: usize) -> Vec<usize> {
        let knobs = Knobs { differentiation: Ratio::clamped(differentiation), ..Knobs::default() };
        let mut scheduler = Scheduler::new(classes, knobs);
        let mut counts = vec![0; classes.len()];
        for _ in 0..rounds {
            let all = (0..classes.len() as u8).map(|class| ready(class, true));
            let class = scheduler.pick(all).expect("all are ready").class;
            scheduler.charge(class);
            counts[class.index()] += 1;
        }
        counts
    }

    #[test]
    fn weights_are_honoured() {
        let two = [Class::default(); 2];
        assert_eq!(dispatched(0.0, &two, 100), [50, 50]);
        assert_eq!(dispatched(0.9, &two, 1100), [1000, 100]);
        assert_eq!(dispatched(1.0, &two, 100), [100, 0]);
        let own = [
            Class { weight: Some(3.0), ..Class::default() },
            Class { weight: Some(1.0), ..Class::default() },
        ];
        assert_eq!(dispatched(0.9, &own, 400), [300, 100]);
    }

    #[test]
    fn shares_follow_from_weights() {
        let share = |differentiation, above| {
            let knobs = Knobs { differentiation: Ratio::clamped(differentiation), ..Knobs::default() };
            Scheduler::new(&[Class::default(); 3], knobs).share_beside(ClassId(2), ClassId(above))
        };
        for (differentiation, above, expected) in
            [(0.9, 0, 1.0 / 111.0), (0.9, 1, 1.0 / 11.0), (0.0, 0, 1.0 / 3.0), (1.0, 0, 0.0)]
        {
            let share = share(differentiation, above);
            assert!((share - expected).abs() < 1e-5, "{share}, {expected} expected");
        }
    }

    #[test]
    fn an_idle_class_saves_no_credit() {
        let mut scheduler = Scheduler::new(
            &[Class::default(); 2],
            Knobs { differentiation: Ratio::ZERO, ..Knobs::default() },
        );
        for _ in 0..50 {
            scheduler.charge(ClassId(1));
        }
        scheduler.woke(ClassId(0));
        let mut first_ten = vec![0; 2];
        for _ in 0..10 {
            let both = [ready(0, true), ready(1, true)];
            let class = scheduler.pick(both.into_iter()).expect("both are ready").class;
            scheduler.charge(class);
            first_ten[class.index()] += 1;
        }
        assert!(first_ten[0] <= 6, "{first_ten:?}: not the fifty it missed");
    }

    #[test]
    fn a_class_without_an_open_place_gets_its_weight() {
        let mut scheduler = Scheduler::new(&[Class::default(); 2], Knobs::default());
        let mut counts = vec![0; 2];
        for _ in 0..1100 {
            let waiting = [ready(0, true), ready(1, false)];
            let class = scheduler.pick(waiting.into_iter()).expect("one is open").class;
            scheduler.charge(class);
            counts[class.index()] += 1;
        }
        assert!((95..=100).contains(&counts[1]), "{counts:?}");
    }
}
