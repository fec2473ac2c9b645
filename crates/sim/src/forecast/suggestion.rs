//! [`suggested`]: where to put the knobs, if the most important are to be served well and as many as can be besides.

use policy::Knobs;
use units::Ratio;

use super::setting::{ClassForecast, Setting};

/// How much worse than the best of those that were tried still counts as just as good.
#[derive(Debug, Clone, Copy)]
enum Slack {
    /// By so much.
    Plus(f64),
    /// By so many times.
    Times(f64),
}

/// Of sessions that are lost, of all of a class.
const LOST: Slack = Slack::Plus(0.005);
/// Of sessions per second. All settings meet the same users, so that they differ by less than a hundredth by chance.
const COMPLETED: Slack = Slack::Times(1.02);
/// Of response times.
const RESPONSE: Slack = Slack::Times(1.2);

/// Settings over both knobs, those that are suggested most first: where there is no time for all, they are known. How long the others wait
/// is tried where the first class goes first: elsewhere it would not be enough for that class.
pub(super) fn places(classes: usize, applied: Knobs) -> Vec<Knobs> {
    let at = |differentiation: f64, favour: f64| Knobs {
        differentiation: Ratio::clamped(differentiation),
        favour: Ratio::clamped(favour),
    };
    // One class is before no other.
    let all = if classes > 1 {
        [(0.9, 0.0), (1.0, 0.0), (0.9, 0.5), (0.8, 0.0), (0.5, 0.0), (0.9, 0.25), (1.0, 0.5), (1.0, 0.25)]
            .map(|(differentiation, favour)| at(differentiation, favour))
            .to_vec()
    } else {
        [0.0, 0.5, 0.25, 0.75].map(|favour| at(applied.differentiation.as_f64(), favour)).to_vec()
    };
    [applied].into_iter().chain(all.into_iter().filter(|place| *place != applied)).collect()
}

/// The setting that loses the fewest sessions of the most important class and answers it soonest, among those the one that completes the
/// most sessions in all, and among those the one that is best for the other classes. What is as good as that stays as it is applied;
/// otherwise it is the one that puts the least before others. `None` without any.
pub(super) fn suggested(settings: &[Setting], applied: Knobs) -> Option<Knobs> {
    let mut left: Vec<&Setting> = settings.iter().collect();
    let classes = left.first()?.classes.len();
    let mut keep = |cost: &dyn Fn(&Setting) -> f64, slack: Slack| {
        let known = |setting: &Setting| Some(cost(setting)).filter(|cost| !cost.is_nan());
        let Some(best) = left.iter().filter_map(|setting| known(setting)).min_by(f64::total_cmp) else {
            return;
        };
        let most = match slack {
            Slack::Plus(more) => best + more,
            Slack::Times(more) => best * more,
        };
        // Without an answer there is no response time either; that does not count as fast.
        left.retain(|setting| known(setting).is_some_and(|cost| cost <= most));
    };
    let of = |class: usize, figure: fn(&ClassForecast) -> f64| {
        move |setting: &Setting| setting.classes.get(class).map_or(f64::NAN, figure)
    };
    for class in 0..classes {
        keep(&of(class, |class| 1.0 - class.completion.mean), LOST);
        keep(&of(class, |class| class.p95.mean), RESPONSE);
        if class == 0 {
            // As seconds for each session, of which fewer are better.
            keep(&|setting| 1.0 / setting.throughput.mean, COMPLETED);
        }
    }
    let stays = left.iter().find(|setting| setting.knobs == applied);
    let place = |setting: &Setting| (setting.knobs.differentiation.as_f64(), setting.knobs.favour.as_f64());
    let least = left.iter().copied().reduce(|one, other| if place(other) < place(one) { other } else { one });
    stays.copied().or(least).map(|setting| setting.knobs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::Predicted;

    fn knobs(differentiation: f64, favour: f64) -> Knobs {
        Knobs { differentiation: Ratio::clamped(differentiation), favour: Ratio::clamped(favour) }
    }

    /// Of premium and basic: the share that is completed, and the response time.
    fn setting(at: Knobs, throughput: f64, premium: (f64, f64), basic: (f64, f64)) -> Setting {
        let known = |mean| Predicted { mean, ci: [mean; 2], chance: [mean; 2] };
        let class = |name: &str, (completion, p95)| ClassForecast {
            name: name.to_owned(),
            completed: known(completion),
            completion: known(completion),
            p50: known(p95),
            p95: known(p95),
        };
        Setting {
            knobs: at,
            classes: vec![class("premium", premium), class("basic", basic)],
            throughput: known(throughput),
            utilization: known(1.0),
        }
    }

    const ALIKE: (f64, f64) = (0.3, 3.0);
    const SHORT: (f64, f64) = (0.15, 0.5);
    const LONG: (f64, f64) = (0.15, 2.5);

    #[test]
    fn who_matters_most_first_then_the_most_sessions_then_short_waits() {
        let at_first = knobs(0.0, 0.0);
        let settings = [
            setting(at_first, 52.0, ALIKE, ALIKE),
            setting(knobs(0.5, 0.0), 52.0, (1.0, 0.19), SHORT),
            setting(knobs(0.9, 0.0), 52.0, (1.0, 0.031), SHORT),
            setting(knobs(0.9, 0.5), 52.3, (1.0, 0.031), LONG),
            setting(knobs(1.0, 0.0), 51.8, (0.998, 0.028), SHORT),
        ];
        assert_eq!(suggested(&settings, at_first), Some(knobs(0.9, 0.0)), "the least that does it");
        let mut more = settings.clone();
        more[3].throughput.mean = 55.0;
        assert_eq!(suggested(&more, at_first), Some(knobs(0.9, 0.5)), "more sessions outweigh their waits");
        assert_eq!(suggested(&settings[..2], at_first), Some(knobs(0.5, 0.0)));
    }

    #[test]
    fn what_is_as_good_as_any_stays() {
        let settings = [
            setting(knobs(0.9, 0.0), 52.0, (1.0, 0.031), SHORT),
            setting(knobs(1.0, 0.0), 51.8, (0.998, 0.028), SHORT),
        ];
        assert_eq!(suggested(&settings, knobs(1.0, 0.0)), Some(knobs(1.0, 0.0)));
        assert_eq!(suggested(&[], knobs(1.0, 0.0)), None);
    }

    #[test]
    fn a_setting_that_answers_nobody_is_not_fast() {
        let settings = [
            setting(knobs(0.9, 0.0), 10.0, (1.0, 0.031), (0.001, f64::NAN)),
            setting(knobs(0.9, 0.5), 10.0, (1.0, 0.031), (0.002, 2.0)),
        ];
        assert_eq!(suggested(&settings, knobs(0.0, 0.0)), Some(knobs(0.9, 0.5)));
    }

    #[test]
    fn with_one_class_only_the_waits_are_tried() {
        let applied = knobs(0.3, 0.7);
        assert!(places(1, applied).iter().all(|place| place.differentiation == applied.differentiation));
        assert_eq!((places(1, applied).len(), places(2, applied).len()), (5, 9));
    }
}
