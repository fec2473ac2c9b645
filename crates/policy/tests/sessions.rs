//! Admission of sessions: who goes first inside a class, and who waits at its door.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use policy::{Admission, Arrival, Config, Decision, Kind, KnownSession, Mode, SessionHint};
use units::{ClassId, SessionId, Span};

mod scene;
use scene::Scene;

const BASIC: ClassId = ClassId(1);

/// Of the sessions that are learnt from.
const REQUESTS: u64 = 6;

fn scene() -> Scene {
    scene_with(|_| {})
}

/// In which sessions were seen, one after the other, that all ended after [`REQUESTS`], and then came a crowd.
fn scene_with(change: impl FnOnce(&mut Config)) -> Scene {
    let mut scene = Scene::new(|config| {
        config.admission = Admission::Sessions;
        change(config);
    });
    for session in 1000..1100 {
        serve(&mut scene, 0..1, new(session));
        for _ in 1..REQUESTS {
            scene.wait(Span::from_secs(2));
            serve(&mut scene, 0..1, of_session(session));
        }
    }
    // While the server is held up, which then does what has become of them in the end.
    for number in 100..200 {
        scene.arrive_as(number, new(number));
        scene.cycles();
        scene.wait(Span::from_millis(300));
    }
    for number in 100..200 {
        scene.finish(number);
    }
    scene.wait(Span::from_secs(1));
    scene.decided();
    scene
}

fn of_session(id: u64) -> Arrival {
    let session = SessionHint::Known(KnownSession::active(SessionId(id), BASIC));
    Arrival { session, client: id, kind: Kind::default() }
}

fn new(client: u64) -> Arrival {
    Arrival { session: SessionHint::New, client, kind: Kind::default() }
}

/// Requests `numbers` come one after the other, each served at once.
fn serve(scene: &mut Scene, numbers: std::ops::Range<u64>, arrival: Arrival) {
    for number in numbers {
        scene.arrive_as(number, arrival);
        scene.cycles();
        scene.finish(number);
    }
    scene.dispatched();
}

/// The order in which those come out of the server that wait, in a time in which some sessions may begin.
fn order(scene: &mut Scene, mut inside: u64) -> Vec<u64> {
    let mut order = Vec::new();
    loop {
        scene.finish(inside);
        scene.cycles();
        let mut dispatched = scene.dispatched();
        for _ in 0..20 {
            if dispatched.is_empty() {
                scene.wait(Span::from_millis(100));
                dispatched = scene.dispatched();
            }
        }
        match dispatched[..] {
            [next] => inside = next,
            _ => return order,
        }
        order.push(inside);
    }
}

#[test]
fn the_session_that_has_come_farthest_goes_first_and_at_the_door_the_newest() {
    let mut scene = scene();
    serve(&mut scene, 0..1, of_session(1));
    serve(&mut scene, 10..14, of_session(2));
    serve(&mut scene, 20..22, of_session(3));
    scene.arrive_as(100, of_session(1));
    scene.cycles();
    assert_eq!(scene.dispatched(), [100]);
    for (number, arrival) in
        [(101, new(11)), (102, of_session(3)), (103, new(12)), (104, of_session(2)), (105, of_session(9))]
    {
        scene.arrive_as(number, arrival);
        scene.cycles();
    }
    // One may begin by now, the newest; then those under way.
    assert_eq!(order(&mut scene, 100), [103, 104, 102, 105, 101]);
}

#[test]
fn who_waits_at_the_door_without_prospect_is_told_before_it_would_give_up() {
    let mut scene = scene();
    scene.arrive_as(0, of_session(1));
    scene.cycles();
    for number in 1..=40 {
        scene.arrive_as(number, new(number));
        scene.cycles();
    }
    let patience = scene.policy().class_snapshots().nth(1).expect("a class").patience;
    // Of the time that clients are thought to wait, what favour leaves.
    scene.wait(patience.mul_f64(0.27));
    let early = scene.decided();
    assert!(early.iter().all(|(_, decision, _)| *decision == Decision::Dispatch), "{patience}: {early:?}");
    // Who is still there then waits for longer than was thought.
    scene.wait(patience.mul_f64(0.2));
    let refused = scene.decided().iter().filter(|(_, decision, _)| *decision != Decision::Dispatch).count();
    assert_eq!(refused, 40);
}

#[test]
fn at_a_full_door_the_oldest_gives_way() {
    let mut scene = scene_with(|config| config.limits.class_queues = 3);
    scene.arrive_as(0, of_session(1));
    scene.cycles();
    for number in 1..=5 {
        scene.arrive_as(number, new(number));
        scene.cycles();
    }
    let refused: Vec<u64> = scene
        .decided()
        .into_iter()
        .filter(|(_, decision, _)| *decision != Decision::Dispatch)
        .map(|(number, ..)| number)
        .collect();
    assert_eq!(refused, [1, 2]);
    assert_eq!(order(&mut scene, 0).first(), Some(&5));
}

#[test]
fn who_is_back_sooner_than_he_was_told_waits_behind_who_comes_first() {
    for (retry_after, expected) in [(Span::from_secs(5), [12, 5, 4, 3, 11]), (Span::ZERO, [11, 12, 5, 4, 3])]
    {
        let mut scene = scene_with(|config| {
            config.limits.class_queues = 3;
            config.retry_after = retry_after;
        });
        scene.arrive_as(0, of_session(900));
        scene.cycles();
        for number in 1..=5 {
            scene.arrive_as(number, new(number));
            scene.cycles();
        }
        assert_eq!(scene.refused().iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2]);
        scene.change(|config| config.limits.class_queues = 100);
        scene.decided();
        for (number, client) in [(12, 50), (11, 1)] {
            scene.arrive_as(number, new(client));
            scene.cycles();
        }
        assert_eq!(order(&mut scene, 0), expected, "told to stay away for {retry_after}");
    }
}

#[test]
fn who_is_back_early_is_not_kept_from_an_idle_server_and_keeps_no_session_from_it() {
    let mut scene = scene_with(|config| config.limits.class_queues = 1);
    scene.arrive_as(0, of_session(900));
    scene.cycles();
    for number in 1..=100 {
        scene.arrive_as(number, new(number));
        scene.cycles();
    }
    assert!(scene.refused().len() >= 99, "{:?}", scene.refused());
    scene.change(|config| config.limits.class_queues = 1000);
    scene.decided();
    for number in 1..=100 {
        scene.arrive_as(1000 + number, new(number));
        scene.cycles();
    }
    // More than a session has at once.
    for number in 2000..2020 {
        scene.arrive_as(number, of_session(500));
        scene.cycles();
    }
    scene.finish(0);
    let (mut begun, mut of_the_session) = (Vec::new(), 0);
    for step in 1..=240 {
        for number in scene.dispatched() {
            scene.finish(number);
            if number < 2000 { begun.push(number) } else { of_the_session += 1 }
        }
        scene.cycles();
        scene.wait(Span::from_millis(25));
        if step == 40 {
            assert_eq!(of_the_session, 20, "in a second, whoever waits to begin");
            assert!((3..30).contains(&begun.len()), "in a second: {begun:?}");
        }
    }
    // The others were told that they wait too long.
    assert!(begun.len() > 25, "{} of 100 in six seconds: {begun:?}", begun.len());
}

#[test]
fn in_shadow_mode_nobody_is_back_early() {
    let mut scene = scene_with(|config| config.limits.class_queues = 1);
    scene.change(|config| config.mode = Mode::Shadow);
    for number in 1..=10 {
        scene.arrive_as(number, new(number));
        scene.cycles();
    }
    scene.change(|config| {
        config.mode = Mode::Enforce;
        config.limits.class_queues = 100;
    });
    (1..=10).for_each(|number| scene.finish(number));
    scene.arrive_as(0, of_session(1));
    scene.cycles();
    scene.decided();
    for (number, client) in [(12, 50), (11, 2)] {
        scene.arrive_as(number, new(client));
        scene.cycles();
    }
    assert_eq!(order(&mut scene, 0), [11, 12]);
}

#[test]
fn a_crowd_at_the_door_does_not_come_in_at_once_and_is_not_kept_from_an_idle_server() {
    let mut scene = scene();
    let mut begun = Vec::new();
    // Pages cost nothing and no visitor comes back, so that a place is always free.
    for number in 1..=400 {
        scene.arrive_as(number, new(number));
        scene.cycles();
        scene.wait(Span::from_millis(25));
        for number in scene.dispatched() {
            scene.finish(number);
            begun.push(number);
        }
        if number == 40 {
            assert!((5..20).contains(&begun.len()), "in a second: {begun:?}");
        }
    }
    assert!(begun.len() > 200, "{} of 400 in ten seconds: {begun:?}", begun.len());
}

#[test]
fn few_important_sessions_are_no_crowd() {
    let mut scene = scene();
    // Basic ones fill the server; of premium, which has more than the server could do for basic, one comes at times, and then several.
    let premium = ClassId(0);
    let of_premium = |id: u64| Arrival {
        session: SessionHint::Known(KnownSession::active(SessionId(id), premium)),
        client: id,
        kind: Kind::default(),
    };
    for session in 0..60 {
        for request in 0..REQUESTS {
            let number = 10_000 + 10 * session + request;
            scene.arrive_as(number, of_premium(50_000 + session));
            scene.cycles();
            scene.wait(Span::from_millis(200));
            scene.finish(number);
        }
        scene.wait(Span::from_secs(if session % 10 == 9 { 20 } else { 1 }));
        assert!(
            !scene.policy().class_snapshots().next().expect("a class").admits_sessions,
            "session {session}"
        );
    }
}
