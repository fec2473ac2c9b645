//! [`Beginnings`]: how many of those that begin a session come back.

use units::{Span, Time};

/// How many of those that begin come back. What they are called is not known before they do, so it is a matter of numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Beginnings {
    /// Who began, in parts of the time in which one may come back, the latest first.
    lately: [f32; Self::PARTS],
    /// When the latest part ends.
    until: Time,
    began: f32,
    came_back: f32,
}

impl Beginnings {
    const PARTS: usize = 4;
    /// Of so many the older ones count half.
    const REMEMBERED: f32 = 256.0;
    /// So many have to begin before anything is made of it.
    const ENOUGH: f32 = 16.0;
    /// So many times as many are remembered as may still come back.
    const LONGER: f32 = 16.0;

    /// One begins.
    pub(super) fn began(&mut self) {
        self.lately[0] += 1.0;
    }

    /// One is back.
    pub(super) fn came_back(&mut self) {
        self.came_back += 1.0;
    }

    /// It is `now`; who is not back after `end` does not come back.
    pub(super) fn advance(&mut self, now: Time, end: Span) {
        if now < self.until {
            return;
        }
        self.until = now + end / Self::PARTS as u64;
        self.began += self.lately[Self::PARTS - 1];
        self.lately.rotate_right(1);
        self.lately[0] = 0.0;
        if self.began.max(self.came_back) > Self::REMEMBERED.max(Self::LONGER * self.may_come_back()) {
            for count in self.lately.iter_mut().chain([&mut self.began, &mut self.came_back]) {
                *count /= 2.0;
            }
        }
    }

    fn may_come_back(&self) -> f32 {
        self.lately.iter().sum()
    }

    /// The share that does not come back.
    pub(super) fn hazard(&self) -> f32 {
        // Of those who may still come back about half have done so.
        let began = self.began + self.may_come_back() / 2.0;
        if self.began < Self::ENOUGH { 0.0 } else { (1.0 - self.came_back / began).max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_many_begin_at_a_time_does_not_matter() {
        for (each, end) in [(1, 200), (10, 200), (1000, 200), (1000, 5000)] {
            let (mut beginnings, mut number) = (Beginnings::default(), 0);
            for period in 0..800 {
                let now = Time::ZERO + Span::from_millis(250) * period;
                // More come in some than in others, and one in five does not come back.
                for _ in 0..each * (1 + period % 8) {
                    beginnings.began();
                    number += 1;
                    if number % 5 > 0 {
                        beginnings.came_back();
                    }
                }
                beginnings.advance(now, Span::from_millis(end));
            }
            let hazard = beginnings.hazard();
            assert!((0.1..0.3).contains(&hazard), "{hazard} with {each} and {end} ms");
        }
    }
}
