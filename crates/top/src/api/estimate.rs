//! [`Estimate`]: a figure, and how well it is known.

use serde::{Deserialize, Deserializer};

/// Standard normal deviate of 95 %.
const Z: f64 = 1.96;

/// With its 95 % interval.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(crate) struct Estimate {
    pub(crate) mean: Option<f64>,
    /// Without an end where nothing is known.
    ci: Option<[Option<f64>; 2]>,
    /// Of a prediction, by which those of one answer are compared.
    #[serde(default)]
    chance: Option<[Option<f64>; 2]>,
}

/// What is null is not known.
pub(super) fn or_unknown<'de, D: Deserializer<'de>>(from: D) -> Result<Estimate, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

impl Estimate {
    /// The interval, if it has two ends.
    pub(crate) fn interval(self) -> Option<[f64; 2]> {
        let [low, high] = self.ci?;
        Some([low?, high?])
    }

    /// The intervals by which it is compared with another, if both have one.
    pub(crate) fn beside(self, other: Self) -> Option<[[f64; 2]; 2]> {
        let by_chance = |one: Self| {
            let [low, high] = one.chance?;
            Some([low?, high?])
        };
        let of = |interval: &dyn Fn(Self) -> Option<[f64; 2]>| Some([interval(self)?, interval(other)?]);
        of(&by_chance).or_else(|| of(&Self::interval))
    }

    /// As it is compared with those of other answers.
    pub(super) fn alone(self) -> Self {
        Self { chance: None, ..self }
    }

    /// What was measured, without an interval.
    pub(super) fn bare(mean: Option<f64>) -> Self {
        Self { mean, ..Self::default() }
    }

    /// A rate of `count` in so many seconds; 1/s. The count is taken for a Poisson one (square-root approximation).
    pub(super) fn rate(count: f64, seconds: f64) -> Self {
        if seconds <= 0.0 {
            return Self::default();
        }
        let low = (count.max(0.0).sqrt() - Z / 2.0).max(0.0).powi(2);
        let high = ((count.max(0.0) + 1.0).sqrt() + Z / 2.0).powi(2);
        Self {
            mean: Some(count / seconds),
            ci: Some([Some(low / seconds), Some(high / seconds)]),
            chance: None,
        }
    }

    /// A share of `count`, with the interval of Wilson (1927).
    pub(super) fn share(share: f64, count: f64) -> Self {
        if count < 1.0 {
            return Self::default();
        }
        let square = Z * Z / count;
        let centre = (share + square / 2.0) / (1.0 + square);
        let spread = (share * (1.0 - share)).max(0.0) / count + square / (4.0 * count);
        let half = Z / (1.0 + square) * spread.sqrt();
        let ends = [(centre - half).max(0.0), (centre + half).min(1.0)];
        Self { mean: Some(share), ci: Some(ends.map(Some)), chance: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_counts_and_shares() {
        let rounded =
            |estimate: Estimate| estimate.interval().map(|ends| ends.map(|end| (end * 1e3).round()));
        assert_eq!(rounded(Estimate::rate(100.0, 10.0)), Some([8136.0, 12_166.0]));
        assert_eq!(rounded(Estimate::rate(0.0, 10.0)), Some([0.0, 392.0]));
        assert_eq!(rounded(Estimate::share(0.5, 100.0)), Some([404.0, 596.0]));
        assert_eq!(rounded(Estimate::share(1.0, 100.0)), Some([963.0, 1000.0]));
        assert_eq!((rounded(Estimate::share(1.0, 0.0)), rounded(Estimate::rate(1.0, 0.0))), (None, None));
    }

    #[test]
    fn predictions_are_compared_by_chance() {
        let of = |text: &str| -> Estimate { serde_json::from_str(text).unwrap() };
        let prediction = of(r#"{"mean": 2.0, "ci": [1.0, 9.0], "chance": [1.5, 2.5]}"#);
        assert_eq!(prediction.beside(prediction), Some([[1.5, 2.5]; 2]));
        let measured = of(r#"{"mean": 2.0, "ci": [1.9, 2.1]}"#);
        assert_eq!(
            prediction.beside(measured),
            Some([[1.0, 9.0], [1.9, 2.1]]),
            "by all that it may be off by"
        );
        assert_eq!(prediction.beside(Estimate::bare(Some(2.0))), None);
    }
}
