//! [`Spare`]: what the server could have served besides.

use super::mean::Mean;

/// Requests that could have been in places that were empty: as many in each as in those that were used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spare {
    /// Requests served in a period.
    served: Mean,
    /// The part of the places that was used.
    used: Mean,
}

impl Spare {
    /// Of fewer places it is not known what all would do.
    const MIN_USED: f64 = 0.02;

    /// A period is over in which so many requests were served, and that part of the places was used.
    pub(crate) fn end_period(&mut self, served: f64, used: f64) {
        self.served.learn(served);
        self.used.learn(used);
    }

    /// Periods are `longer` times as long from now on.
    pub(crate) fn rescale(&mut self, longer: f64) {
        self.served.rescale(longer);
    }

    /// Requests in a period that it could serve in all its places, if it is known what a part of them does.
    pub(crate) fn capacity(self) -> Option<f64> {
        (self.used.get() >= Self::MIN_USED).then(|| self.served.get() / self.used.get())
    }

    /// In a period, on average.
    pub(crate) fn requests(self) -> f64 {
        self.served.get() * (1.0 / self.used.get().max(Self::MIN_USED) - 1.0).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty_could_do_as_much_as_what_is_used() {
        let mut spare = Spare::default();
        (0..500).for_each(|_| spare.end_period(30.0, 0.6));
        assert!((spare.requests() - 20.0).abs() < 0.1, "{}", spare.requests());
        assert!(spare.capacity().is_some_and(|all| (all - 50.0).abs() < 0.1), "{spare:?}");
        assert_eq!(Spare::default().capacity(), None);
        (0..500).for_each(|_| spare.end_period(50.0, 1.0));
        assert!(spare.requests() < 0.1, "{}", spare.requests());
    }
}
