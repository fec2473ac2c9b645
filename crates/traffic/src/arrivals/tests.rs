use statrs::distribution::{ContinuousCDF, Gamma, LogNormal};
use stats::{Deviations, goodness, order};
use units::{Rate, Span, Time};

use super::{Arrivals, Process};
use crate::Profile;

/// Fails when the sample is not from the continuous distribution `cdf`: the test of Kolmogorov
/// and Smirnov at the level of 0.1 % (asymptotic critical value 1.95), for samples of a
/// thousand and more from a fixed seed.
#[track_caller]
pub(super) fn assert_distributed(sample: &[f64], cdf: impl Fn(f64) -> f64) {
    assert!(sample.len() >= 1000, "too small a sample for the asymptotic value: {}", sample.len());
    let distance = goodness::kolmogorov_smirnov(&order::rising(sample.iter().copied()), cdf);
    let scaled = distance * (sample.len() as f64).sqrt();
    assert!(scaled < 1.95, "D sqrt(n) is {scaled}, n {}", sample.len());
}

#[test]
fn a_sample_of_another_distribution_is_found_out() {
    let uniform: Vec<f64> = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0).collect();
    assert_distributed(&uniform, |x| x);
    assert!(std::panic::catch_unwind(|| assert_distributed(&uniform, |x| (2.0 * x).min(1.0))).is_err());
}

fn mean_and_cv(sample: &[f64]) -> (f64, f64) {
    let deviations = Deviations::of(sample);
    (deviations.mean(), deviations.cv())
}

fn rate(per_second: f64) -> Rate {
    Rate::per_second(per_second).unwrap()
}

fn arrivals(process: Process, profile: &Profile, seed: u64) -> Arrivals {
    Arrivals::new(process, profile, 1.0, seed, 0)
}

/// Gaps in units of their mean.
fn gaps(process: &str, count: usize) -> Vec<f64> {
    let profile = Profile::constant(rate(100.0));
    let mut before = Time::ZERO;
    arrivals(process.parse().unwrap(), &profile, 42)
        .take(count)
        .map(|time| {
            let gap = time.since(before).as_secs_f64() * 100.0;
            before = time;
            gap
        })
        .collect()
}

#[test]
fn constant_arrivals_do_not_drift() {
    let profile = Profile::constant(rate(3.0));
    let millionth = arrivals(Process::Constant, &profile, 1).nth(3_000_000);
    assert_eq!(millionth, Some(Time::from_nanos(1_000_000_000_000_000)));
}

#[test]
fn gaps_follow_their_distributions() {
    let hyperexponential = |cv: f64| {
        // Balanced means: p / lambda1 = (1 - p) / lambda2.
        let p = (1.0 + ((cv * cv - 1.0) / (cv * cv + 1.0)).sqrt()) / 2.0;
        move |x: f64| 1.0 - p * (-2.0 * p * x).exp() - (1.0 - p) * (-2.0 * (1.0 - p) * x).exp()
    };
    let gamma = |cv: f64| Gamma::new(1.0 / (cv * cv), 1.0 / (cv * cv)).unwrap();
    let lognormal = |cv: f64| {
        let variance = (1.0 + cv * cv).ln();
        LogNormal::new(-variance / 2.0, variance.sqrt()).unwrap()
    };
    const N: usize = 20_000;
    assert_distributed(&gaps("poisson", N), |x| 1.0 - (-x).exp());
    assert_distributed(&gaps("h2:1", N), |x| 1.0 - (-x).exp());
    for cv in [1.5, 4.0, 10.0] {
        assert_distributed(&gaps(&format!("h2:{cv}"), N), hyperexponential(cv));
    }
    for cv in [0.1, 0.5, 1.0, 2.0] {
        assert_distributed(&gaps(&format!("gamma:{cv}"), N), |x| gamma(cv).cdf(x));
        assert_distributed(&gaps(&format!("lognormal:{cv}"), N), |x| lognormal(cv).cdf(x));
    }
}

#[test]
fn gaps_have_the_mean_and_the_variation_that_was_asked_for() {
    for (process, expected) in [
        ("poisson", 1.0),
        ("h2:1", 1.0),
        ("h2:2", 2.0),
        ("h2:5", 5.0),
        ("gamma:0.2", 0.2),
        ("gamma:3", 3.0),
        ("lognormal:0.2", 0.2),
        ("lognormal:1.5", 1.5),
    ] {
        let (mean, cv) = mean_and_cv(&gaps(process, 200_000));
        assert!((mean - 1.0).abs() < 4.0 * expected / 200_000_f64.sqrt(), "{process}: mean {mean}");
        assert!((cv / expected - 1.0).abs() < 0.05, "{process}: coefficient of variation {cv}");
    }
}

#[test]
fn gaps_do_not_depend_on_the_gap_before() {
    for process in ["poisson", "h2:3", "gamma:0.5", "lognormal:1"] {
        let gaps = gaps(process, 100_000);
        let (mean, cv) = mean_and_cv(&gaps);
        let covariance =
            gaps.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / gaps.len() as f64;
        let correlation = covariance / (mean * cv).powi(2);
        assert!(correlation.abs() < 0.013, "{process}: {correlation}");
    }
}

#[test]
fn seed_and_stream_alone_decide() {
    let profile = Profile::constant(rate(10.0));
    for process in ["poisson", "h2:4", "gamma:0.5", "lognormal:2"] {
        let process = process.parse().unwrap();
        let take = |seed, stream| -> Vec<Time> {
            Arrivals::new(process, &profile, 1.0, seed, stream).take(20).collect()
        };
        assert_eq!(take(1, 0), take(1, 0));
        assert_ne!(take(1, 0), take(2, 0));
        assert_ne!(take(1, 0), take(1, 1));
    }
}

#[test]
fn no_rate_no_arrivals() {
    for profile in [Profile::constant(rate(0.0)), Profile::steps([])] {
        assert_eq!(arrivals(Process::Poisson, &profile, 1).next(), None);
        assert_eq!(arrivals(Process::Constant, &profile, 1).next(), None);
    }
}

#[test]
fn constant_arrivals_follow_a_profile_to_the_nanosecond() {
    let second = Span::from_secs(1);
    let profile =
        Profile::steps([(second, rate(0.0)), (second, rate(2.0)), (second, rate(0.0)), (second, rate(4.0))]);
    let times: Vec<u64> =
        arrivals(Process::Constant, &profile, 1).take(5).map(|time| time.as_nanos() / 1_000_000).collect();
    // The last step goes on after its second.
    assert_eq!(times, [1000, 1500, 3000, 3250, 3500]);
    assert_eq!(
        arrivals(Process::Constant, &profile, 1).nth(102),
        Some(Time::ZERO + second * 28),
        "2 in the second second, 100 from the third on"
    );
    let halved: Vec<u64> = Arrivals::new(Process::Constant, &profile, 0.5, 1, 0)
        .take(3)
        .map(|time| time.as_nanos() / 1_000_000)
        .collect();
    assert_eq!(halved, [1000, 3000, 3500]);
}

#[test]
fn a_profile_that_ends_at_zero_ends() {
    let profile = Profile::steps([(Span::from_secs(2), rate(10.0)), (Span::ZERO, rate(0.0))]);
    let times: Vec<Time> = arrivals(Process::Constant, &profile, 1).collect();
    assert_eq!(times.len(), 20);
    assert_eq!(times.last(), Some(&(Time::ZERO + Span::from_millis(1900))));
}

#[test]
fn each_step_has_its_rate_and_gaps_their_shape_across_the_edges() {
    // Steps so short that most gaps cross an edge.
    let steps = (0..100_000).map(|step| {
        let per_second = if step % 2 == 0 { 50.0 } else { 200.0 };
        (Span::from_millis(20), rate(per_second))
    });
    let profile = Profile::steps(steps);
    for process in ["poisson", "gamma:0.5"] {
        let times: Vec<f64> = arrivals(process.parse().unwrap(), &profile, 5)
            .map(|time| time.as_nanos() as f64 / 1e6)
            .take_while(|time| *time < 2_000_000.0)
            .collect();
        let slow = times.iter().filter(|time| ((**time / 20.0) as u64).is_multiple_of(2)).count() as f64;
        let fast = times.len() as f64 - slow;
        assert!((slow / 50_000.0 - 1.0).abs() < 0.02, "{process}: {slow} in the slow steps");
        assert!((fast / 200_000.0 - 1.0).abs() < 0.02, "{process}: {fast} in the fast steps");
        // Back through the integral of the rate: gaps of mean 1, distributed as ever.
        let integral = |time: f64| {
            let pair = (time / 40.0).floor();
            let rest = time - 40.0 * pair;
            5.0 * pair + 0.05 * rest.min(20.0) + 0.2 * (rest - 20.0).max(0.0)
        };
        let gaps: Vec<f64> = times.windows(2).map(|pair| integral(pair[1]) - integral(pair[0])).collect();
        let sample = &gaps[..20_000];
        match process {
            "poisson" => assert_distributed(sample, |x| 1.0 - (-x).exp()),
            _ => assert_distributed(sample, |x| {
                let x = 4.0 * x;
                1.0 - (-x).exp() * (1.0 + x + x * x / 2.0 + x * x * x / 6.0)
            }),
        }
    }
}

#[test]
fn processes_are_read_and_shown() {
    for text in ["constant", "poisson", "h2:1", "h2:4.5", "gamma:0.25", "lognormal:2"] {
        let process: Process = text.parse().unwrap();
        assert_eq!(process.to_string(), text);
    }
    assert_eq!("h2:4".parse(), Process::hyperexponential(4.0));
    for (text, error) in [
        (
            "poison",
            "no such arrival process: \"poison\"; expected constant, poisson, h2:CV, gamma:CV or lognormal:CV; \
             did you mean \"poisson\"?",
        ),
        (
            "gauss:3",
            "no such arrival process: \"gauss\"; expected constant, poisson, h2:CV, gamma:CV or lognormal:CV",
        ),
        ("h2", "h2 needs a coefficient of variation, as in h2:2"),
        ("poisson:1", "poisson takes no coefficient of variation; leave out \":1\""),
        ("h2:0.5", "the coefficient of variation of h2 must be a number from 1 to 100, not 0.5"),
        ("h2:four", "the coefficient of variation of h2 must be a number from 1 to 100, not \"four\""),
        ("gamma:0", "the coefficient of variation of gamma must be a number above 0, up to 100, not 0"),
        (
            "lognormal:NaN",
            "the coefficient of variation of lognormal must be a number above 0, up to 100, not NaN",
        ),
    ] {
        assert_eq!(text.parse::<Process>().unwrap_err().to_string(), error);
    }
}

#[test]
fn gaps_are_numbers_for_every_variation_that_is_allowed() {
    for process in ["h2:1", "h2:100", "gamma:0.000001", "gamma:100", "lognormal:0.000001", "lognormal:100"] {
        let gaps = gaps(process, 10_000);
        assert!(gaps.iter().all(|gap| gap.is_finite()), "{process}");
        assert!(gaps.iter().sum::<f64>() > 0.0, "{process}");
    }
}
