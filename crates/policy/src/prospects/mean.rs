//! [`Mean`]: what a period is like, on average.

/// The mean of something over the periods of late.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mean(f64);

impl Mean {
    /// As many periods it takes to be sure of a change.
    const MEMORY: f64 = 32.0;

    /// A period is over, in which it was `value`; gives the mean.
    pub(crate) fn learn(&mut self, value: f64) -> f64 {
        self.learn_over(Self::MEMORY, value)
    }

    /// So it is where so many periods are enough to be sure of a change.
    pub(crate) fn learn_over(&mut self, periods: f64, value: f64) -> f64 {
        self.0 += (value - self.0) / periods;
        self.0
    }

    pub(crate) fn get(self) -> f64 {
        self.0
    }

    /// Periods are `longer` times as long from now on, and as much more is in each.
    pub(crate) fn rescale(&mut self, longer: f64) {
        self.0 *= longer;
    }
}
