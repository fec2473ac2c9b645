//! [`Mix`]: which class comes next where arrivals have no schedule of their own.

use units::ClassId;

/// Deals out classes in proportion to their shares: after every deal each class has come
/// within one of its due. In a closed loop chance would only add noise to the capacity found.
#[derive(Debug, Clone)]
pub struct Mix {
    shares: Vec<f64>,
    /// What each class is owed, in arrivals.
    owed: Vec<f64>,
}

impl Mix {
    /// Classes with these shares, which sum to 1; there is at least one.
    pub fn new(shares: Vec<f64>) -> Self {
        let owed = vec![0.0; shares.len()];
        Self { shares, owed }
    }

    /// The class of the next arrival.
    pub fn deal(&mut self) -> ClassId {
        for (owed, share) in self.owed.iter_mut().zip(&self.shares) {
            *owed += share;
        }
        let most = self.owed.iter_mut().zip(0..).max_by(|(a, _), (b, _)| a.total_cmp(b));
        match most {
            Some((owed, class)) => {
                *owed -= 1.0;
                ClassId(class)
            }
            None => ClassId(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_come_by_their_shares() {
        let mut mix = Mix::new(vec![0.2, 0.5, 0.3]);
        let mut count = [0; 3];
        for dealt in 1..=1000 {
            count[mix.deal().index()] += 1;
            for (count, share) in count.iter().zip([0.2, 0.5, 0.3]) {
                assert!((f64::from(*count) - share * f64::from(dealt)).abs() <= 1.0);
            }
        }
        assert_eq!(count, [200, 500, 300]);
    }
}
