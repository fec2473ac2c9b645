//! Who takes a place in the server, and who one on top of the window.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod scene;

use std::collections::VecDeque;

use policy::{Deadlines, Kind, Window};
use scene::{BASIC, PREMIUM, Scene, differentiation};
use units::{Span, Time};

#[test]
fn the_important_take_an_express_place() {
    let mut scene = Scene::new(|_| {});
    scene.arrive(1, BASIC);
    scene.cycles();
    for (id, session) in [(2, BASIC), (3, PREMIUM), (4, PREMIUM)] {
        scene.arrive(id, session);
        scene.cycles();
    }
    assert_eq!(scene.dispatched(), [1, 3], "one place for all, one on top for premium");
    scene.finish(1);
    assert_eq!(scene.dispatched(), [], "premium requests alone are no more than the window");
    scene.finish(3);
    assert_eq!(scene.dispatched(), [4]);
    scene.finish(4);
    assert_eq!(scene.dispatched(), [2]);
}

/// Two kinds of request, of which the policy has learnt that one costs ten times as much as the other.
fn page_and_image(scene: &mut Scene) -> [Kind; 2] {
    let (page, image) = (Kind::of("GET", "/account"), Kind::of("GET", "/logo.png"));
    for (id, kind, cost) in [(1, page, 20), (2, image, 2)] {
        scene.arrive_for(id, PREMIUM, kind);
        scene.cycles();
        scene.wait(Span::from_millis(cost));
        scene.finish(id);
    }
    assert_eq!(scene.dispatched(), [1, 2]);
    [page, image]
}

#[test]
fn short_important_requests_do_not_wait_for_long_ones() {
    let mut scene = Scene::new(|config| config.knobs = differentiation(1.0));
    let [page, image] = page_and_image(&mut scene);
    for (id, kind) in [(3, page), (4, page), (5, image), (6, image), (7, image)] {
        scene.arrive_for(id, PREMIUM, kind);
        scene.cycles();
    }
    assert_eq!(scene.dispatched(), [3, 5], "one page at a time, and beside it what is short");
    scene.finish(5);
    assert_eq!(scene.dispatched(), [6]);
    scene.finish(3);
    assert_eq!(scene.dispatched(), [4], "it is the other page's turn, whatever goes beside it");
    scene.arrive_for(8, BASIC, image);
    scene.cycles();
    scene.finish(6);
    assert_eq!(scene.dispatched(), [7]);
    scene.finish(7);
    assert_eq!(scene.dispatched(), [], "the express place is not for what matters less");
    scene.finish(4);
    assert_eq!(scene.dispatched(), [8]);
}

#[test]
fn what_is_short_keeps_nobody_from_their_turn() {
    let mut scene = Scene::new(|config| {
        config.knobs = differentiation(1.0);
        config.window = Window::Fixed(4);
    });
    let [page, image] = page_and_image(&mut scene);
    let pages = (3..8).map(|id| (id, page));
    for (id, kind) in pages.chain((8..11).map(|id| (id, image))) {
        scene.arrive_for(id, PREMIUM, kind);
        scene.cycles();
    }
    assert_eq!(scene.dispatched(), [3, 4, 5, 6, 8, 9], "a full window of pages, and images on top");
    scene.finish(3);
    assert_eq!(scene.dispatched(), [7], "the place of a page is for the next page");
    scene.finish(8);
    assert_eq!(scene.dispatched(), [10]);
}

/// Nothing larger than the window that was found can be tried here, only smaller ones.
#[test]
fn a_small_window_is_not_tried_on_the_important() {
    let mut scene = Scene::new(|config| {
        config.knobs = differentiation(1.0);
        config.window = Window::Adaptive { initial: 4, min: 3, max: 4 };
    });
    let mut inside = VecDeque::new();
    let mut were_tried = 0;
    for id in 0..2000 {
        scene.arrive(id, PREMIUM);
        scene.cycles();
        inside.extend(scene.dispatched());
        were_tried += u32::from(scene.policy().snapshot().window < 4);
        if id >= 3 {
            assert_eq!(inside.len(), 4, "there are no more than the server can do at once");
            scene.now += Span::from_millis(10);
            inside.pop_front().into_iter().for_each(|id| scene.finish(id));
        }
    }
    assert!(were_tried > 0, "a smaller window is tried now and then");
}

/// The size that the window comes to in front of so many workers, each with 40 ms of work, when there are
/// always more important requests than it can take.
fn found(workers: usize, initial: u32) -> f64 {
    let mut scene = Scene::new(|config| {
        config.knobs = differentiation(0.9);
        config.window = Window::Adaptive { initial, min: 1, max: 256 };
        config.limits.deadlines = Deadlines::all(Span::from_secs(3600));
        config.classes[0].target_queue = Some(400);
    });
    // When each is done; what is beyond the workers begins when another ends.
    let mut inside: VecDeque<Time> = VecDeque::new();
    let (mut ids, mut sizes) = (VecDeque::new(), 0);
    (0..300).for_each(|id| scene.arrive(id, PREMIUM));
    let mut rng = fastrand::Rng::with_seed(3);
    for id in 300..12_300 {
        scene.arrive(id, PREMIUM);
        scene.cycles();
        for id in scene.dispatched() {
            let free = inside.len().checked_sub(workers).and_then(|before| inside.get(before).copied());
            let begins = free.unwrap_or(scene.now).max(scene.now);
            let done = begins + Span::from_millis(40).mul_f64(0.5 + rng.f64());
            let place = inside.partition_point(|other| *other <= done);
            inside.insert(place, done);
            ids.insert(place, id);
        }
        let (Some(done), Some(id)) = (inside.pop_front(), ids.pop_front()) else { continue };
        scene.now = scene.now.max(done);
        scene.finish(id);
        sizes += if id > 8_300 { scene.policy().snapshot().window } else { 0 };
    }
    f64::from(sizes) / 4_000.0
}

#[test]
fn the_window_is_found_when_all_are_important() {
    for (workers, initial) in [(1, 8), (4, 16), (16, 4), (16, 64), (64, 16)] {
        let size = found(workers, initial) / workers as f64;
        assert!((0.7..1.8).contains(&size), "{workers} workers from {initial}: {size} of them");
    }
}

#[test]
fn without_important_requests_the_whole_window_is_used() {
    for window in [1, 2, 4, 16] {
        let mut scene = Scene::new(|config| config.window = Window::Fixed(window));
        (0..40).for_each(|id| scene.arrive(id, BASIC));
        (0..40).for_each(|_| scene.cycles());
        assert_eq!(scene.dispatched().len(), window as usize);
    }
}

#[test]
fn admitted_work_is_not_left_to_spoil_behind_a_long_one() {
    let mut scene = Scene::new(|config| config.limits.deadlines = Deadlines::all(Span::from_secs(1)));
    scene.arrive(1, PREMIUM);
    scene.cycles();
    scene.arrive(2, BASIC);
    scene.cycles();
    assert_eq!(scene.dispatched(), [1]);
    scene.wait(Span::from_secs(2));
    assert_eq!(scene.dispatched(), [2], "before its deadline, while number 1 goes on");
    assert_eq!(scene.refused(), []);
}
