//! [`Crowd`]: how many more sessions begin than can be finished.

use super::mean::Mean;

/// Sessions that begin in a class, beside those that what the server can do for it would be enough for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Crowd {
    /// Since the last period.
    came: u32,
    /// In a period.
    rate: Mean,
    is_dense: bool,
}

impl Crowd {
    /// From so many times as many on the crowd is dense, and below so many it is no longer.
    const DENSE: f64 = 1.4;
    const THIN: f64 = 1.2;

    /// A session begins.
    pub(crate) fn came(&mut self) {
        self.came += 1;
    }

    /// A period is over; in each, `reach` requests of the class are served on average, or could be: those of classes that matter
    /// less would have to wait. A session has `requests`, if that is known and matters.
    pub(crate) fn end_period(&mut self, reach: f64, requests: Option<f64>) {
        self.rate.learn(f64::from(core::mem::take(&mut self.came)));
        self.is_dense = requests.is_some_and(|requests| {
            let enough_for = reach / requests.max(1.0);
            self.rate.get() > enough_for * if self.is_dense { Self::THIN } else { Self::DENSE }
        });
    }

    /// Sessions that begin in a period, lately.
    pub(crate) fn rate(&self) -> f64 {
        self.rate.get()
    }

    /// Periods are `longer` times as long from now on.
    pub(crate) fn rescale(&mut self, longer: f64) {
        self.rate.rescale(longer);
    }

    /// Whether it is known that most of those who begin cannot be finished, so that it matters which. Where it is few, more are finished
    /// if all wait a little: a burst is spread over all the pages of those that are under way.
    pub(crate) fn is_dense(&self) -> bool {
        self.is_dense
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(crowd: &mut Crowd, periods: u32, came: u32) -> bool {
        for _ in 0..periods {
            (0..came).for_each(|_| crowd.came());
            crowd.end_period(50.0, Some(5.0));
        }
        crowd.is_dense()
    }

    #[test]
    fn it_is_dense_where_most_cannot_be_finished_and_stays_so_for_a_while() {
        let mut crowd = Crowd::default();
        assert!(!after(&mut crowd, 100, 13), "ten sessions a period can be finished");
        assert!(after(&mut crowd, 40, 30));
        assert!(after(&mut crowd, 200, 15));
        assert!(!after(&mut crowd, 200, 11));
        crowd.end_period(50.0, None);
        assert!(!crowd.is_dense(), "nothing is known any more");
    }
}
