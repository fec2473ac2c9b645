//! The universal scalability law (Gunther, "A General Theory of Computational Scalability Based on Rational
//! Functions", 2008): X(N) = λN / (1 + σ(N - 1) + κN(N - 1)).

use record::search::Scalability;
use stats::regression;

/// Fits the law to pairs of clients and requests per second; nothing for fewer than three of them, or where
/// it describes none. N/X is linear in its parameters; those that come out below nothing are nothing.
pub(crate) fn fit(points: &[(f64, f64)]) -> Option<Scalability> {
    if points.len() < 3 || points.iter().any(|(_, rate)| *rate <= 0.0) {
        return None;
    }
    // Relative errors count, so each equation is divided by its N/X.
    let solve = |terms: &[fn(f64) -> f64]| {
        let row = |(clients, rate): &(f64, f64)| -> Vec<f64> {
            terms.iter().map(|term| term(*clients) * rate / clients).collect()
        };
        regression::coefficients_of_one(&points.iter().map(row).collect::<Vec<_>>())
    };
    let [one, contention, coherence]: [fn(f64) -> f64; 3] = [|_| 1.0, |n| n - 1.0, |n| n * (n - 1.0)];
    let whole = solve(&[one, contention, coherence])?;
    let [a, b, c] = if whole[2] < 0.0 {
        let found = solve(&[one, contention])?;
        [found[0], found[1], 0.0]
    } else if whole[1] < 0.0 {
        let found = solve(&[one, coherence])?;
        [found[0], 0.0, found[1]]
    } else {
        [whole[0], whole[1], whole[2]]
    };
    let is_law = a > 0.0 && b >= 0.0 && c >= 0.0;
    is_law.then(|| Scalability { alone: 1.0 / a, contention: b / a, coherence: c / a })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_is_found_in_what_it_made() {
        let law = Scalability { alone: 1000.0, contention: 0.03, coherence: 0.0005 };
        let points = [1.0, 4.0, 16.0, 64.0, 256.0].map(|clients| (clients, law.rate(clients)));
        let found = fit(&points).unwrap();
        assert!((found.alone / law.alone - 1.0).abs() < 1e-6, "{found:?}");
        assert!((found.contention / law.contention - 1.0).abs() < 1e-6, "{found:?}");
        assert!((found.coherence / law.coherence - 1.0).abs() < 1e-6, "{found:?}");
        assert!((found.peak().unwrap() - (0.97_f64 / 0.0005).sqrt()).abs() < 1e-3);
    }

    #[test]
    fn parameters_are_never_below_nothing() {
        // A little better than linear at first: no law of this kind, so the nearest one.
        let found = fit(&[(1.0, 100.0), (2.0, 205.0), (4.0, 400.0), (8.0, 790.0)]).unwrap();
        assert!(found.contention >= 0.0 && found.coherence >= 0.0, "{found:?}");
        assert_eq!(fit(&[(1.0, 100.0), (2.0, 200.0)]), None);
        assert_eq!(fit(&[(1.0, 0.0), (2.0, 0.0), (4.0, 0.0)]), None);
    }
}
