//! [`Predicted`]: a figure of a setting, and where it may be.

use stats::MeanEstimate;

/// A figure of a setting of the knobs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// The mean; not a number where nothing was seen of it.
    pub mean: f64,
    /// From where to where the figure of some minutes would be in 95 of 100 cases, by chance and by what is not known of the load.
    pub ci: [f64; 2],
    /// What tells it from the same figure of another setting: all settings meet the same users, and what differs with these is left out. The
    /// intervals of two settings have something in common where their difference may be chance.
    pub chance: [f64; 2],
}

impl Predicted {
    /// Of each setting its mean over the replications; not a number where nothing was seen.
    ///
    /// `chance` is the interval of a mean of what is left of each value when the mean of its replication over all settings is taken
    /// away (Morey 2008, Confidence intervals from normalized data: A correction to Cousineau 2005), shorter by the root of two, so that two of
    /// them touch about where a test of the pairs says 95 %, of two settings just there (Goldstein and Healy 1995, The graphical presentation of a collection of means).
    pub(super) fn of_all(values: &[Vec<f64>]) -> Vec<Self> {
        let is_known = |values: &&Vec<f64>| !values.is_empty() && !values.iter().any(|value| value.is_nan());
        let compared: Vec<&Vec<f64>> = values.iter().filter(is_known).collect();
        let replications = compared.iter().map(|values| values.len()).max().unwrap_or_default();
        let common: Vec<f64> = (0..replications)
            .map(|number| mean(compared.iter().filter_map(|values| values.get(number)).copied()))
            .collect();
        let number = compared.len() as f64;
        values
            .iter()
            .map(|values| {
                let own = Self::alone(values);
                if number < 2.0 || !is_known(&values) {
                    return own;
                }
                let rest = MeanEstimate::of(values.iter().zip(&common).map(|(value, common)| value - common));
                let shorter = (number / (number - 1.0) / 2.0).sqrt();
                let chance = rest.ci.map(|end| own.mean + (end - rest.mean) * shorter);
                Self { chance, ..own }
            })
            .collect()
    }

    /// Where another replication would be: not where their mean is.
    fn alone(values: &[f64]) -> Self {
        let known: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        let of_mean = MeanEstimate::of(known.iter().copied());
        let wider = (known.len() as f64 + 1.0).sqrt();
        let ci = of_mean.ci.map(|end| of_mean.mean + (end - of_mean.mean) * wider);
        Self { mean: of_mean.mean, ci, chance: ci }
    }

    /// Another interval of where it may be.
    pub(super) fn within(self, ci: [f64; 2]) -> Self {
        Self { ci, ..self }
    }

    /// It is not less than nothing.
    pub(super) fn rate(self) -> Self {
        let ends = |interval: [f64; 2]| interval.map(|end| end.max(0.0));
        Self { ci: ends(self.ci), chance: ends(self.chance), ..self }
    }

    /// It goes up to 1 only.
    pub(super) fn share(self) -> Self {
        let ends = |interval: [f64; 2]| interval.map(|end| end.clamp(0.0, 1.0));
        Self { ci: ends(self.ci), chance: ends(self.chance), ..self }
    }

    /// Of its logarithm: some times as long is as likely as that part of it, so the mean is the geometric one.
    pub(super) fn time(self) -> Self {
        Self { mean: self.mean.exp(), ci: self.ci.map(f64::exp), chance: self.chance.map(f64::exp) }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, number) = values.fold((0.0, 0.0), |(sum, number), value| (sum + value, number + 1.0));
    sum / number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&[f64]]) -> Vec<Predicted> {
        Predicted::of_all(&values.iter().map(|values| values.to_vec()).collect::<Vec<_>>())
    }

    fn are_apart(a: &Predicted, b: &Predicted) -> bool {
        a.chance[1] < b.chance[0] || b.chance[1] < a.chance[0]
    }

    #[test]
    fn what_all_settings_have_in_common_does_not_hide_how_they_differ() {
        let all = of(&[&[10.0, 30.0, 50.0], &[11.1, 31.0, 50.9]]);
        assert!(all[0].ci[1] > all[1].ci[0], "each may be anywhere: {all:?}");
        assert!(are_apart(&all[0], &all[1]), "{all:?}");
    }

    #[test]
    fn two_settings_are_apart_where_the_difference_of_their_pairs_is_not_zero() {
        // Mean 1, standard deviation 1, so 2.48 of either side is not zero with three: 4.303 / 3^0.5.
        let half = 4.303 / f64::sqrt(3.0);
        for (difference, expected) in [(half * 0.99, false), (half * 1.01, true)] {
            let later: Vec<f64> =
                [10.0, 30.0, 50.0].iter().zip([-1.0, 0.0, 1.0]).map(|(a, b)| a + b + difference).collect();
            let all = of(&[&[10.0, 30.0, 50.0], &later]);
            assert_eq!(are_apart(&all[0], &all[1]), expected, "{all:?}");
        }
    }

    #[test]
    fn a_setting_of_which_nothing_is_known_is_left_out() {
        let all = of(&[&[10.0, 30.0], &[], &[f64::NAN, f64::NAN]]);
        assert_eq!(all[0].mean, 20.0);
        assert!(all[1].mean.is_nan() && all[2].mean.is_nan(), "{all:?}");
        let alone = of(&[&[10.0, 30.0]]);
        assert_eq!(alone[0].chance, alone[0].ci);
        let two = of(&[&[10.0, 30.0], &[11.0, 32.0]]);
        let three = of(&[&[10.0, 30.0], &[11.0, 32.0], &[f64::NAN, 7.0]]);
        assert_eq!(three[..2], two, "what has no figure changes nothing for the others");
        assert_eq!(three[2].chance.map(f64::is_finite), three[2].ci.map(f64::is_finite));
    }
}
