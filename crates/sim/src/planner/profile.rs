//! [`Profile`]: rates over time.

use std::str::FromStr;

use units::{Rate, Span};

/// Rates over time, one after the other, again and again.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Requests per second, and for how long. At least one.
    pub steps: Vec<(f64, Span)>,
}

/// A text that is not a profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no profile; give rates with the time for which each lasts, and commas between them, as in 100:8h,900:4h,300:12h"
)]
pub struct ProfileError(String);

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let error = || ProfileError(text.to_owned());
        let step = |step: &str| {
            let (rate, lasts) = step.split_once(':').ok_or_else(error)?;
            let rate: Rate = rate.trim().parse().map_err(|_| error())?;
            let lasts: Span = lasts.trim().parse().map_err(|_| error())?;
            if lasts.is_zero() || rate.as_f64() <= 0.0 { Err(error()) } else { Ok((rate.as_f64(), lasts)) }
        };
        Ok(Self { steps: text.split(',').map(step).collect::<Result<_, _>>()? })
    }
}

impl Profile {
    pub(super) fn highest(&self) -> f64 {
        self.steps.iter().fold(0.0, |most, (rate, _)| most.max(*rate))
    }

    /// The highest rate from the beginning of each step until it is over and `delay` longer: what servers have to be
    /// there for that were asked for by then. Shape: one for each step.
    pub(super) fn ahead(&self, delay: Span) -> Vec<f64> {
        let count = self.steps.len();
        let ahead = |first: usize| {
            let (mut highest, mut left) = (self.steps[first].0, delay);
            // Once around at most.
            for step in 1..count {
                if left.is_zero() {
                    break;
                }
                let (rate, lasts) = self.steps[(first + step) % count];
                highest = highest.max(rate);
                left = left.saturating_sub(lasts);
            }
            highest
        };
        (0..count).map(ahead).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_asked_for_before_they_are_needed() {
        let profile: Profile = "100:8h,900:4h,300:12h".parse().unwrap();
        assert_eq!(profile.ahead(Span::ZERO), [100.0, 900.0, 300.0]);
        assert_eq!(profile.ahead(Span::from_secs(300)), [900.0, 900.0, 300.0]);
        assert_eq!(profile.ahead(Span::from_secs(9 * 3600)), [900.0, 900.0, 900.0]);
        for wrong in ["", "100", "100:0s", "0:1h", "x:1h", "100:1h,"] {
            assert!(wrong.parse::<Profile>().is_err(), "{wrong}");
        }
    }
}
