//! What the stages do, one small scene each.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod scene;

use policy::{
    Arrival, Class, Config, Deadlines, Decision, Kind, Knobs, Limits, LookAhead, Policy, Reason, SessionHint,
    Waits, Window,
};
use scene::{BASIC, PREMIUM, Scene, differentiation};
use units::{Ratio, Span};

#[test]
fn favour_says_how_long_requests_are_held_back() {
    let refused = |favour: f64| {
        let mut scene = Scene::new(|config| {
            config.knobs = Knobs { favour: Ratio::clamped(favour), ..differentiation(1.0) };
            config.limits.deadlines = Deadlines::all(Span::from_secs(1));
        });
        (0..20).for_each(|id| scene.arrive(id, BASIC));
        scene.cycles();
        assert!(scene.policy().snapshot().lengths.discard > 10);
        scene.wait(Span::from_millis(300));
        scene.refused()
    };
    let fast = refused(0.0);
    assert!(fast.len() > 10 && fast.iter().all(|(_, reason)| *reason == Reason::Admission), "{fast:?}");
    assert_eq!(refused(1.0), [], "with most sessions in mind they wait on");
}

#[test]
fn in_lasting_overload_sessions_that_have_begun_go_first() {
    for (overload, first) in [(false, 100), (true, 101)] {
        let mut scene = Scene::new(|config| config.knobs = differentiation(0.0));
        if overload {
            // A queue that stays longer than its target for some seconds.
            (0..12).for_each(|id| scene.arrive(id, BASIC));
            (0..12).for_each(|_| scene.cycles());
            scene.wait(Span::from_secs(6));
            (0..12).for_each(|id| scene.finish(id));
            scene.dispatched();
        }
        scene.arrive(99, BASIC);
        scene.cycles();
        for (id, session) in [(100, SessionHint::New), (101, BASIC), (102, BASIC)] {
            scene.arrive(id, session);
            scene.cycles();
        }
        [99, 100, 101].into_iter().for_each(|id| scene.finish(id));
        let served = scene.dispatched();
        assert_eq!(served[..2], [99, first], "overload: {overload}, {served:?}");
    }
}

#[test]
fn the_queue_is_no_longer_than_clients_have_patience() {
    let mut scene = Scene::new(|config| config.limits.deadlines = Deadlines::all(Span::from_secs(100)));
    let target = |scene: &Scene| scene.policy().class_snapshots().map(|class| class.target).last();
    let mut id = 0;
    // Ten requests a second are served, and four times as many come.
    let mut overload = |scene: &mut Scene, patience: Option<u64>| {
        for _ in 0..1000 {
            (0..4).for_each(|more| scene.arrive(id + more, BASIC));
            scene.cycles();
            scene.wait(Span::from_millis(100));
            if let Some(served) = scene.dispatched().last() {
                scene.finish(*served);
            }
            if let Some(earlier) = patience.and_then(|patience| id.checked_sub(patience)) {
                (0..4).for_each(|more| scene.abort(earlier + more));
            }
            id += 4;
        }
    };
    overload(&mut scene, None);
    let patient = target(&scene);
    overload(&mut scene, Some(80));
    let hurried = target(&scene);
    assert!(patient > Some(300.0) && hurried < Some(20.0), "{patient:?} {hurried:?}");
}

#[test]
fn the_look_ahead_finds_the_important() {
    for (k, first) in [(1, 0), (12, 10)] {
        let mut scene = Scene::new(|config| {
            config.look_ahead = LookAhead::Fixed(k);
            config.limits.burst = 1;
        });
        (0..10).for_each(|id| scene.arrive(id, BASIC));
        scene.arrive(10, PREMIUM);
        scene.cycle();
        assert_eq!(scene.dispatched(), [first], "look-ahead of {k}");
    }
}

#[test]
fn a_full_acceptor_queue_makes_room_for_the_important() {
    let mut scene = Scene::new(|config| config.limits.acceptor_queue = 2);
    for (id, session) in [(1, SessionHint::New), (2, BASIC), (3, PREMIUM), (4, PREMIUM), (5, PREMIUM)] {
        scene.arrive(id, session);
    }
    let displaced = [(1, Reason::Displaced), (2, Reason::Displaced), (5, Reason::AcceptorFull)];
    assert_eq!(scene.refused(), displaced);
}

#[test]
fn under_pressure_the_important_take_the_place_of_others() {
    let mut scene = Scene::new(|_| {});
    scene.arrive(1, BASIC);
    scene.set_pressure(0.99);
    scene.arrive(2, PREMIUM);
    scene.arrive(3, PREMIUM);
    assert_eq!(scene.refused(), [(1, Reason::Displaced), (3, Reason::Pressure)]);
}

#[test]
fn a_client_over_its_share_displaces_nobody() {
    let mut scene = Scene::new(|config| {
        config.limits.acceptor_queue = 2;
        config.limits.client_share = Ratio::clamped(0.5);
    });
    scene.arrive(1, PREMIUM);
    scene.arrive_as(2, Arrival { session: BASIC, client: 7, kind: Kind::default() });
    scene.arrive(3, PREMIUM);
    assert_eq!(scene.refused(), [(3, Reason::ClientShare)]);
}

#[test]
fn nobody_waits_in_vain_while_the_server_is_idle() {
    let mut scene = Scene::new(|config| config.window = Window::Fixed(2));
    (0..12).for_each(|id| scene.arrive(id, SessionHint::New));
    (0..12).for_each(|_| scene.cycles());
    let mut inside = scene.dispatched();
    for round in 0..12 {
        assert!(!inside.is_empty(), "idle in round {round} with {} held", scene.policy().held());
        scene.now += Span::from_millis(5);
        let done = inside.remove(0);
        scene.finish(done);
        inside.extend(scene.dispatched());
    }
    assert_eq!((scene.policy().held(), scene.refused().len()), (0, 0));
}

#[test]
fn the_held_back_are_refused_after_their_periods() {
    let mut scene = Scene::new(|config| {
        config.classes = vec![Class::default(), Class { target_queue: Some(1), ..Class::default() }];
        config.limits.discard_periods = 3;
        config.knobs = differentiation(0.0);
    });
    (0..20).for_each(|id| scene.arrive(id, BASIC));
    scene.cycles();
    let held_back = scene.policy().snapshot().lengths.discard;
    assert!(held_back > 10, "{held_back}");
    scene.wait(Span::from_millis(2 * 250));
    assert_eq!(scene.refused(), [], "after two periods");
    scene.wait(Span::from_millis(2 * 250));
    assert!(scene.refused().iter().all(|(_, reason)| *reason == Reason::Admission));
    assert!(scene.refused().len() > 5, "after three: {:?}", scene.refused());
}

#[test]
fn who_has_gone_is_not_refused_as_well() {
    let mut scene = Scene::new(|config| config.limits.deadlines = Deadlines::all(Span::from_secs(1)));
    scene.arrive(1, BASIC);
    scene.now += Span::from_secs(1);
    scene.abort(1);
    assert_eq!(scene.refused(), []);
    assert_eq!((scene.policy().held(), scene.policy().snapshot().unknown_ids), (0, 0));
}

#[test]
fn shadow_mode_counts_a_client_that_left_while_it_would_have_waited() {
    let mut scene = Scene::new(|config| config.mode = policy::Mode::Shadow);
    for id in 0..3 {
        scene.arrive(id, BASIC);
    }
    scene.cycles();
    assert_eq!(scene.dispatched(), [0, 1, 2], "all let through");
    scene.abort(1);
    scene.finish(1);
    scene.finish(0);
    let snapshot = scene.policy().snapshot();
    assert_eq!((snapshot.in_service, scene.policy().held()), (1, 1), "number 2 has its virtual place");
}

#[test]
fn contradictions_are_refused_with_a_reason() {
    #[track_caller]
    fn check(change: impl FnOnce(&mut Config), expected: &str) {
        let mut config = Config::default();
        change(&mut config);
        let error = Policy::new(config).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(expected));
    }
    check(|c| c.classes.clear(), "0 classes; between 1 and 32 are possible");
    check(|c| c.limits.acceptor_queue = 0, "the acceptor queue is 0; it must be at least 1");
    check(|c| c.classes[1].target_queue = Some(0), "a target queue is 0; it must be at least 1");
    check(
        |c| c.classes[0].weight = Some(1e9),
        "weight 1000000000 of class 0; a weight must lie between 0.001 and 1000000",
    );
    check(
        |c| c.window = Window::Adaptive { initial: 8, min: 1, max: 4_000_000_000 },
        "the queues hold 4000087742 requests in all; at most 16777216 are possible",
    );
    check(
        |c| c.limits = Limits { deadlines: Deadlines::all(Span::ZERO), ..c.limits },
        "the deadline in the acceptor queue is 0; it must be at least 1",
    );
}

#[test]
fn a_larger_window_is_filled_at_once_and_a_smaller_one_empties() {
    let mut scene = Scene::new(|config| config.knobs = differentiation(0.0));
    (0..8).for_each(|id| scene.arrive(id, BASIC));
    (0..8).for_each(|_| scene.cycles());
    assert_eq!(scene.dispatched(), [0]);
    scene.change(|config| config.window = Window::Fixed(4));
    assert_eq!(scene.dispatched(), [1, 2, 3]);
    scene.change(|config| config.window = Window::Fixed(2));
    scene.finish(0);
    scene.finish(1);
    assert_eq!(scene.dispatched(), [], "still as many inside as there may be");
    scene.finish(2);
    assert_eq!(scene.dispatched(), [4]);
}

#[test]
fn a_queue_longer_than_its_new_bound_drains() {
    let mut scene = Scene::new(|config| config.classes[1].target_queue = Some(50));
    (0..20).for_each(|id| scene.arrive(id, BASIC));
    (0..20).for_each(|_| scene.cycles());
    scene.change(|config| config.limits.class_queues = 5);
    assert!(scene.refused().is_empty());
    (0..20).for_each(|id| scene.finish(id));
    assert_eq!(scene.dispatched().len(), 20);
    assert!(scene.refused().is_empty());
}

#[test]
fn a_shorter_deadline_holds_for_those_who_wait() {
    let mut scene = Scene::new(|config| config.knobs = differentiation(0.0));
    (0..3).for_each(|id| scene.arrive(id, BASIC));
    scene.cycles();
    scene.wait(Span::from_secs(2));
    scene.change(|config| config.limits.deadlines = Deadlines::all(Span::from_secs(1)));
    scene.cycle();
    assert_eq!(scene.refused(), [(1, Reason::Deadline), (2, Reason::Deadline)]);
}

#[test]
fn what_an_adaptive_window_has_found_is_kept_within_its_bounds() {
    let adaptive = |initial, max| Window::Adaptive { initial, min: 1, max };
    let mut scene = Scene::new(|config| config.window = adaptive(40, 64));
    scene.change(|config| config.window = adaptive(8, 64));
    assert_eq!(scene.policy().snapshot().window, 40);
    scene.change(|config| config.window = adaptive(8, 16));
    assert!(scene.policy().snapshot().window <= 16);
}

#[test]
fn other_classes_and_nonsense_change_nothing() {
    let mut scene = Scene::new(|_| {});
    let before = scene.policy().config().clone();
    for wrong in [
        Config { classes: vec![Class::default(); 3], ..before.clone() },
        Config { window: Window::Fixed(0), ..before.clone() },
    ] {
        assert!(scene.reconfigure(wrong).is_err());
        assert_eq!(scene.policy().config(), &before);
    }
}

#[test]
fn a_decision_comes_with_the_waits_before_it() {
    let mut scene = Scene::new(|config| config.limits.deadlines = Deadlines::all(Span::from_secs(3)));
    let waited = |scene: &mut Scene| {
        scene.cycle();
        scene.decided()
    };
    for number in [1, 2] {
        scene.arrive(number, BASIC);
    }
    let seconds = Span::from_secs;
    scene.now += seconds(1);
    let first = waited(&mut scene);
    let waits = Waits { acceptor: seconds(1), ..Waits::default() };
    assert_eq!(first, [(1, Decision::Dispatch, waits)]);
    waited(&mut scene);
    scene.now += seconds(4);
    let second = waited(&mut scene);
    let waits = Waits { acceptor: seconds(1), class: seconds(4), ..Waits::default() };
    assert_eq!(second, [(2, Decision::Refuse(Reason::Deadline), waits)]);
    assert_eq!(waits.total(), seconds(5));
}
