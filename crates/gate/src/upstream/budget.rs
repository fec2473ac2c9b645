//! [`Budget`]: how many requests may be sent a second time.
//!
//! A server in trouble that gets every request twice is in more trouble. So retries are bounded
//! by a share of the requests of the last seconds, and by a few per second for times with little
//! traffic, as in Finagle's retry budgets.

use std::cell::Cell;

use units::{Span, Time};

use gate_config::settings::upstream::Retry;

/// Seconds that are looked back.
const SECONDS: usize = 10;

/// How many requests may be sent a second time.
#[derive(Debug)]
pub(crate) struct Budget {
    rules: Cell<Retry>,
    seconds: [Cell<Second>; SECONDS],
    /// The one that is counted in, and when it began.
    current: Cell<usize>,
    began: Cell<Time>,
    granted: Cell<u64>,
    denied: Cell<u64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Second {
    requests: u32,
    retries: u32,
}

impl Budget {
    pub(crate) fn new(rules: Retry) -> Self {
        Self {
            rules: Cell::new(rules),
            seconds: Default::default(),
            current: Cell::new(0),
            began: Cell::new(Time::ZERO),
            granted: Cell::new(0),
            denied: Cell::new(0),
        }
    }

    pub(crate) fn change(&self, rules: Retry) {
        self.rules.set(rules);
    }

    /// Counts a request.
    #[inline]
    pub(crate) fn request(&self, now: Time) {
        let second = self.second(now);
        let counts = second.get();
        second.set(Second { requests: counts.requests.saturating_add(1), ..counts });
    }

    /// Whether one may be sent again; if so, that is counted.
    pub(crate) fn retry(&self, now: Time) -> bool {
        let second = self.second(now);
        let (requests, retries) = self.seconds.iter().map(Cell::get).fold((0_u64, 0_u64), |sums, second| {
            (sums.0 + u64::from(second.requests), sums.1 + u64::from(second.retries))
        });
        let rules = self.rules.get();
        let most = requests as f64 * rules.share.as_f64() + f64::from(rules.least) * SECONDS as f64;
        let granted = ((retries + 1) as f64) <= most;
        let count = if granted { &self.granted } else { &self.denied };
        count.set(count.get() + 1);
        if granted {
            let counts = second.get();
            second.set(Second { retries: counts.retries + 1, ..counts });
        }
        granted
    }

    /// Retries made, and retries that were not for want of budget.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.granted.get(), self.denied.get())
    }

    #[inline]
    fn second(&self, now: Time) -> &Cell<Second> {
        const LENGTH: Span = Span::from_secs(1);
        if now.since(self.began.get()) >= LENGTH {
            self.forget(now);
        }
        &self.seconds[self.current.get()]
    }

    /// Clears what is older than the seconds looked back, and begins another.
    fn forget(&self, now: Time) {
        let passed = now.since(self.began.get()).as_secs_f64() as usize;
        for _ in 0..passed.min(SECONDS) {
            self.current.set((self.current.get() + 1) % SECONDS);
            self.seconds[self.current.get()].take();
        }
        self.began.set(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Ratio;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    fn granted(budget: &Budget, now: Time, tries: usize) -> usize {
        (0..tries).filter(|_| budget.retry(now)).count()
    }

    #[test]
    fn a_share_of_the_requests_and_a_few_besides() {
        let budget = Budget::new(Retry { share: Ratio::clamped(0.1), least: 3 });
        assert_eq!(granted(&budget, at(100), 1000), 30);
        for _ in 0..500 {
            budget.request(at(101));
        }
        assert_eq!(granted(&budget, at(101), 1000), 50);
        assert_eq!(granted(&budget, at(105), 1000), 0);
        // The first thirty are forgotten, then the fifty with their requests.
        assert_eq!(granted(&budget, at(110), 1000), 30);
        assert_eq!(granted(&budget, at(115), 1000), 0);
        assert_eq!(granted(&budget, at(1000), 1000), 30);
        assert_eq!(budget.counts(), (140, 5860));
    }

    #[test]
    fn none_when_none_are_wanted() {
        let budget = Budget::new(Retry { share: Ratio::ZERO, least: 0 });
        budget.request(at(1));
        assert!(!budget.retry(at(1)));
    }
}
