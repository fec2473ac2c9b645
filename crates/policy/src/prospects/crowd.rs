//! [`Crowd`]: how many more sessions begin than can be finished.

use alloc::vec;
use alloc::vec::Vec;

use units::ClassId;

use super::mean::Mean;

/// Sessions that begin, beside those that what the server can do would be enough for: of all classes together. Counted by class, one that has its
/// share and little more would go back and forth while the others are far beyond theirs.
#[derive(Debug, Clone)]
pub(crate) struct Crowd {
    classes: Vec<Beginnings>,
    is_dense: bool,
}

/// Sessions of one class.
#[derive(Debug, Clone, Copy, Default)]
struct Beginnings {
    /// That have begun since the last period.
    came: u32,
    /// That begin in a period.
    rate: Mean,
    /// That begin in one of the last few.
    lately: Mean,
    /// Whether it is known how long they are, and they would have more than the class could.
    are_many: bool,
}

/// What a class would have of the server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Wish {
    /// So many requests for each session that begins, of a class that could have so many in a period.
    Each(f64, f64),
    /// So many requests in a period: how long its sessions are is not known, or does not matter.
    InAll(f64),
}

impl Crowd {
    /// From so many times as many on the crowd is dense, and below so many it is no longer.
    const DENSE: f64 = 1.5;
    const THIN: f64 = 1.4;
    /// It is about bursts: of so many periods.
    const MEMORY: f64 = 8.0;

    /// Of so many classes.
    pub(crate) fn new(classes: usize) -> Self {
        Self { classes: vec![Beginnings::default(); classes], is_dense: false }
    }

    /// A session of a class begins, or would.
    pub(crate) fn came(&mut self, class: ClassId) {
        self.classes[class.index()].came += 1;
    }

    /// A period is over; in each, `reach` requests can be served besides those of sessions that are lost, and of each class so much is wished for.
    /// Whether that makes another kind of crowd of any class.
    pub(crate) fn end_period(&mut self, reach: f64, wish: impl Fn(ClassId) -> Wish) -> bool {
        let mut wanted = 0.0;
        let mut is_another = false;
        let was_dense = self.is_dense;
        for (class, beginnings) in (0..).map(ClassId).zip(&mut self.classes) {
            let came = f64::from(core::mem::take(&mut beginnings.came));
            beginnings.rate.learn(came);
            let lately = beginnings.lately.learn_over(Self::MEMORY, came);
            let wish = wish(class);
            let are_many =
                matches!(wish, Wish::Each(requests, most) if beginnings.rate.get() * requests > most);
            is_another |= was_dense && are_many != beginnings.are_many;
            beginnings.are_many = are_many;
            wanted += match wish {
                Wish::Each(requests, _) => lately * requests.max(1.0),
                Wish::InAll(requests) => requests,
            };
        }
        self.is_dense = wanted > reach * if was_dense { Self::THIN } else { Self::DENSE };
        is_another || self.is_dense != was_dense
    }

    /// Sessions of a class that begin in a period, lately.
    pub(crate) fn rate(&self, class: ClassId) -> f64 {
        self.classes[class.index()].rate.get()
    }

    /// Periods are `longer` times as long from now on.
    pub(crate) fn rescale(&mut self, longer: f64) {
        for class in &mut self.classes {
            class.rate.rescale(longer);
            class.lately.rescale(longer);
        }
    }

    /// Whether it is known that more begin than can be finished, and that many of those are of this class, so that it matters which
    /// do. Where all can be finished, more are if all wait a little: a burst is spread over all the pages of those that are under way.
    pub(crate) fn is_dense(&self, class: ClassId) -> bool {
        self.is_dense && self.classes[class.index()].are_many
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: [ClassId; 2] = [ClassId(0), ClassId(1)];

    /// After so many periods in which so many come of each class, for five requests each, of a server that does fifty in a period.
    fn after(crowd: &mut Crowd, periods: u32, came: [u32; 2]) -> [bool; 2] {
        for _ in 0..periods {
            for (class, came) in CLASSES.into_iter().zip(came) {
                (0..came).for_each(|_| crowd.came(class));
            }
            crowd.end_period(50.0, |_| Wish::Each(5.0, 4.0));
        }
        CLASSES.map(|class| crowd.is_dense(class))
    }

    #[test]
    fn it_is_dense_where_many_cannot_be_finished_and_stays_so_for_a_while() {
        let mut crowd = Crowd::new(2);
        assert_eq!(after(&mut crowd, 100, [1, 12]), [false; 2], "ten sessions a period can be finished");
        assert_eq!(after(&mut crowd, 40, [1, 29]), [true; 2], "of whatever class they are");
        assert_eq!(after(&mut crowd, 200, [12, 2]), [true; 2]);
        assert_eq!(after(&mut crowd, 200, [1, 11]), [false; 2]);
    }

    #[test]
    fn of_a_class_of_which_lengths_are_not_known_none_is_chosen() {
        let mut crowd = Crowd::new(2);
        after(&mut crowd, 100, [1, 29]);
        let wish = |class| if class == CLASSES[0] { Wish::InAll(40.0) } else { Wish::Each(5.0, 4.0) };
        crowd.end_period(50.0, wish);
        assert_eq!(CLASSES.map(|class| crowd.is_dense(class)), [false, true]);
        let changes = (0..200).filter(|_| crowd.end_period(50.0, wish)).count();
        assert_eq!(changes, 1, "what it does is known, and the others have left");
    }
}
