//! What is said of other knobs, of loads of which it is known what would be.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use policy::{Class, Config, Kind, Knobs, Mode, SessionLimits, Window};
use sim::forecast::{Fate, ForecastError, Front, Request, Setting, Until, forecast, outcome};
use units::{Ratio, Span, Time};

const SECONDS: u64 = 60;
const PAGE: Span = Span::from_millis(10);
const PAUSE: Span = Span::from_millis(400);
const PAGES: u64 = 3;

fn front() -> Front {
    let classes = vec![Class::default(); 2];
    Front {
        classes: vec!["premium".to_owned(), "basic".to_owned()],
        policy: Config { classes, window: Window::Fixed(2), ..Config::default() },
        limits: SessionLimits::default(),
        longest_retry_after: Span::from_secs(10),
        // What is made up here is not what would have come about.
        steady_since: at(1000 * SECONDS),
    }
}

static NEVER: AtomicBool = AtomicBool::new(false);
const UNTIL_IT_IS_KNOWN: Until<'static> = Until { enough: &NEVER, stop: &NEVER };

fn knobs(differentiation: f64, favour: f64) -> Knobs {
    Knobs { differentiation: Ratio::new(differentiation).unwrap(), favour: Ratio::new(favour).unwrap() }
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_secs(1000) + Span::from_millis(millis)
}

/// A session from `begin` on, of which the page `refused` is refused, with everything that was seen of it. Two requests share the server at any
/// time.
fn session(number: u64, class: usize, begin: Time, refused: Option<u64>) -> Vec<Request> {
    let (mut requests, mut arrived) = (Vec::new(), begin);
    for page in 0..PAGES {
        let fate = if refused == Some(page) { Fate::Refused } else { Fate::Served };
        let is_served = fate == Fate::Served;
        let served = if is_served { PAGE * 2 } else { Span::ZERO };
        requests.push(Request {
            arrived,
            session: (page > 0 || is_served).then_some(number),
            began: page == 0,
            kind: Kind::of("GET", "/page"),
            class: Some(class),
            waited: Span::from_millis(1),
            served,
            share: if is_served { PAGE } else { Span::ZERO },
            fate,
            weight: 1.0,
        });
        if !is_served {
            return requests;
        }
        arrived = arrived + Span::from_millis(1) + served + PAUSE;
    }
    requests
}

/// For a minute, `premium` and `basic` sessions a second, of which one in three is served, of a server that can do 33.
fn load(premium: u64, basic: u64) -> Vec<Request> {
    let each = |class, rate: u64| {
        (0..SECONDS * rate).flat_map(move |number| {
            let refused = match (class, number % 3) {
                (0, _) | (_, 0) => None,
                (_, 1) => Some(0),
                // Those who are refused on the way would have gone on.
                _ => Some(1),
            };
            session(2 * number + class as u64, class, at(number * 1000 / rate), refused)
        })
    };
    let mut all: Vec<Request> = each(0, premium).chain(each(1, basic)).collect();
    all.sort_by_key(|request| request.arrived);
    all
}

fn told(requests: &[Request]) -> (&[Request], Time, Time) {
    (requests, at(0), at(1000 * SECONDS))
}

#[test]
fn the_important_are_served_first_or_classes_share_alike_as_the_knob_says() {
    let requests = load(25, 90);
    let wanted = [knobs(0.9, 0.5), knobs(0.0, 0.5)];
    let found = forecast(&front(), told(&requests), &wanted, UNTIL_IT_IS_KNOWN).unwrap();
    let load = &found.load.classes;
    assert!((load[0].starts - 25.0).abs() < 0.6 && (load[1].starts - 90.0).abs() < 2.0, "{load:?}");
    for class in load {
        assert!((class.requests - 3.0).abs() < 1e-9, "also of those who were refused on the way: {class:?}");
        assert!((class.pause - PAUSE.as_secs_f64()).abs() < 1e-3, "{class:?}");
    }
    let [strict, alike] = &found.settings[..] else { panic!("{found:?}") };
    assert!(strict.classes[0].completion.mean > 0.95, "{strict:?}");
    // Half of the server is 17 sessions a second.
    assert!((14.0..21.0).contains(&alike.classes[0].completed.mean), "{alike:?}");
    for setting in &found.settings {
        // A session takes 30 ms of the processor.
        assert!((28.0..35.0).contains(&setting.throughput.mean), "{setting:?}");
        assert!(setting.throughput.ci[0] < setting.throughput.mean && setting.utilization.mean > 0.9);
    }
}

#[test]
fn a_prediction_is_the_same_each_time_and_can_be_stopped() {
    let requests = load(5, 20);
    let ask = |stopped| {
        let wanted = [knobs(0.5, 0.5)];
        let stop = &AtomicBool::new(stopped);
        forecast(&front(), told(&requests), &wanted, Until { enough: stop, stop })
    };
    let whole = ask(false).unwrap();
    assert_eq!(whole, ask(false).unwrap());
    assert!(whole.settings[0].throughput.ci.iter().all(|end| end.is_finite()), "{whole:?}");
    assert!(ask(true).unwrap_err().to_string().contains("too busy"), "nothing is made up");
}

#[test]
fn what_there_is_no_time_for_is_left_out() {
    let requests = load(5, 20);
    let wanted: Vec<Knobs> = (0..6).map(|place| knobs(f64::from(place) / 5.0, 0.5)).collect();
    let stop = AtomicBool::new(false);
    let ask = || forecast(&front(), told(&requests), &wanted, Until { enough: &stop, stop: &stop });
    let began = Instant::now();
    let whole = ask().unwrap();
    assert_eq!(whole.settings.len(), wanted.len());
    let pause = began.elapsed() / 3;
    let some = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(pause);
            stop.store(true, Ordering::Relaxed);
        });
        ask()
    });
    match some {
        Ok(found) => {
            let of = |settings: &[Setting]| -> Vec<Knobs> { settings.iter().map(|one| one.knobs).collect() };
            let known = of(&found.settings);
            assert_eq!(known, of(&whole.settings)[..known.len()], "the first that were asked for");
            let left_out = found.remarks.iter().any(|remark| remark.contains("had no time"));
            assert_eq!(left_out, known.len() < wanted.len(), "{:?}", found.remarks);
        }
        // It may have been stopped at the first on a machine that was busier then.
        Err(why) => assert_eq!(why, ForecastError::TooBusy),
    }
}

#[test]
fn where_it_can_be_seen_what_a_prediction_is_off_by_its_intervals_hold_that() {
    let requests = load(25, 90);
    let wanted = [front().policy.knobs, knobs(0.0, 0.5)];
    let ask = |steady_since| {
        let front = Front { steady_since, ..front() };
        forecast(&front, told(&requests), &wanted, UNTIL_IT_IS_KNOWN).unwrap()
    };
    // All that were seen waited for a millisecond: nothing that users who come when they like could be served like.
    let (trusting, checked) = (ask(at(1000 * SECONDS)), ask(at(0)));
    assert_eq!((&checked.settings, &trusting.check), (&trusting.settings, &None), "figures stay as they are");
    let check = checked.check.as_ref().unwrap();
    let of = |setting: &Setting| check.widened(1, &setting.classes[1]);
    let in_shadow = Front { policy: Config { mode: Mode::Shadow, ..front().policy }, ..front() };
    let in_shadow = Front { steady_since: at(0), ..in_shadow };
    let unlike = forecast(&in_shadow, told(&requests), &wanted[..1], UNTIL_IT_IS_KNOWN).unwrap();
    assert_eq!(unlike.check, None, "what came about was not decided by the policy");
    for setting in &checked.settings {
        let (raw, wide) = (&setting.classes[1], of(setting));
        assert_eq!((wide.p95.mean, wide.completed.mean), (raw.p95.mean, raw.completed.mean));
        assert!(wide.p95.ci[0] < raw.p95.ci[0], "{raw:?}, {wide:?}");
    }
    let remark = checked.remarks.iter().find(|remark| remark.starts_with("as the knobs are"));
    assert!(
        remark.is_some_and(|remark| remark.contains("basic: ") && remark.contains("within 21.0 ms")),
        "{remark:?}"
    );
    let measured = of(&checked.settings[0]).p95.ci[0];
    assert!((measured - 0.021).abs() < 1e-6, "{measured}");
    assert!(!trusting.remarks.iter().any(|remark| remark.starts_with("as the knobs are")), "{trusting:?}");
}

#[test]
fn without_knobs_it_suggests_some_that_serve_the_important_and_as_many_as_can_be() {
    let requests = load(25, 90);
    let applied = knobs(0.0, 0.5);
    let front = Front { policy: Config { knobs: applied, ..front().policy }, ..front() };
    let found = forecast(&front, told(&requests), &[], UNTIL_IT_IS_KNOWN).unwrap();
    assert_eq!((found.settings.len(), found.settings[0].knobs), (9, applied));
    let of = |knobs: Knobs| found.settings.iter().find(|setting| setting.knobs == knobs).unwrap();
    let (suggested, now) = (of(found.suggested.unwrap()), of(applied));
    let [better, worse] = [suggested, now].map(|setting| setting.classes[0].completion);
    assert!(better.mean > 0.99 && worse.mean < 0.9, "{suggested:?}");
    assert!(better.chance[0] > worse.chance[1], "that is told from chance: {better:?}, {worse:?}");
    let most = found.settings.iter().map(|setting| setting.throughput.mean).fold(0.0, f64::max);
    assert!(suggested.throughput.mean * 1.02 >= most, "{suggested:?}");
}

#[test]
fn of_little_nothing_is_said() {
    let none = forecast(&front(), (&[], at(0), at(0)), &[knobs(0.5, 0.5)], UNTIL_IT_IS_KNOWN).unwrap_err();
    assert!(matches!(none, ForecastError::TooLittle { sessions: 0, seconds: 0, completed: 0 }), "{none}");
    let requests: Vec<Request> =
        load(10, 90).into_iter().filter(|request| request.arrived < at(5000)).collect();
    let early = forecast(&front(), (&requests, at(0), at(5000)), &[knobs(0.5, 0.5)], UNTIL_IT_IS_KNOWN);
    assert!(early.unwrap_err().to_string().contains("in 5 s"));
}

#[test]
fn of_sessions_of_any_length_it_is_known_when_they_end() {
    for pages in [63, 64, 65, 100] {
        let session = |number: u64| {
            (0..pages).map(move |page| Request {
                arrived: at(250 * number) + Span::from_millis(100) * page,
                session: Some(number),
                began: page == 0,
                kind: Kind::of("GET", "/page"),
                class: Some(0),
                waited: Span::ZERO,
                served: PAGE / 10,
                share: PAGE / 10,
                fate: Fate::Served,
                weight: 1.0,
            })
        };
        let requests: Vec<Request> = (0..160).flat_map(session).collect();
        let found = forecast(&front(), told(&requests), &[knobs(0.5, 0.5)], UNTIL_IT_IS_KNOWN).unwrap();
        let length = found.load.classes[0].requests;
        assert!((length / pages as f64 - 1.0).abs() < 0.35, "{length} of {pages}");
    }
}

#[test]
fn who_was_refused_and_came_back_is_served_in_the_end() {
    let mut requests = load(10, 90);
    for request in &mut requests {
        // They wait in line, under the name of the session that begins in the end.
        if request.fate == Fate::Refused && request.began {
            request.session = Some(1 << 40 | request.arrived.as_nanos());
            request.waited = Span::from_millis(1);
        }
    }
    let again: Vec<Request> = requests
        .iter()
        .filter(|request| request.fate == Fate::Refused && request.began)
        .map(|refused| Request {
            arrived: refused.arrived + Span::from_secs(2),
            began: false,
            served: PAGE,
            share: PAGE,
            fate: Fate::Served,
            ..*refused
        })
        .collect();
    requests.extend(again);
    let seen = outcome(&requests, 2, at(1000 * SECONDS), at(0));
    let completion = seen.classes[1].completion.unwrap();
    assert!((0.6..0.72).contains(&completion), "a third was refused on the way: {completion}");
}

#[test]
fn what_came_of_sessions_is_told_of_those_that_have_ended() {
    let requests = load(10, 90);
    let seen = outcome(&requests, 2, at(1000 * SECONDS), at(20_000));
    assert_eq!(seen.from, at(20_000));
    assert!(seen.to > at(50_000) && seen.to < at(1000 * SECONDS - 1000), "{seen:?}");
    let [premium, basic] = &seen.classes[..] else { panic!("{seen:?}") };
    assert!((premium.starts - 10.0).abs() < 0.3 && premium.completion == Some(1.0), "{premium:?}");
    assert!((basic.completed - 30.0).abs() < 0.6, "{basic:?}");
    assert_eq!(premium.p95, Some(Span::from_millis(21)));
    let nothing = outcome(&requests, 2, at(1000 * SECONDS), at(1000 * SECONDS));
    assert_eq!((nothing.classes[0].completion, nothing.classes[0].completed), (None, 0.0));
}
