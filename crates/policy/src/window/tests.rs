//! Servers of several kinds: what a window finds in front of them, and what it costs to look for it.

use alloc::vec::Vec;

use units::{Ratio, Span, Time};

use super::places::Places;
use super::server_model::{Demand, Server, ServerModel};
use super::setting::Window;

fn adaptive(initial: u32) -> Window {
    Window::Adaptive { initial, min: 1, max: 256 }
}

const KINDS: [Server; 7] = [
    Server::Loop,
    Server::Sharing(1),
    Server::Sharing(2),
    Server::Sharing(8),
    Server::Workers(4),
    Server::Workers(16),
    Server::Workers(64),
];

const DEMANDS: [Demand; 3] = [Demand::Equal, Demand::Exponential, Demand::Mixed];

/// Whether a window is about as large as it should be.
fn is_near(size: u32, knee: u32) -> bool {
    10 * size >= 7 * knee && f64::from(size) <= 1.6 * f64::from(knee) + 0.5
}

#[test]
fn it_finds_how_much_a_server_can_do_at_once() {
    for server in KINDS {
        for demand in [Demand::Equal, Demand::Exponential, Demand::Mixed, Demand::FewHeavy] {
            for initial in [1, 8, 100] {
                let mut model = ServerModel::new(adaptive(initial), server, demand, 7);
                model.run(12_000);
                let found = model.run(8_000);
                let knee = f64::from(server.knee());
                let share = found.rate * model.mean / knee;
                let least = if matches!(demand, Demand::FewHeavy) { 0.75 } else { 0.85 };
                assert!(share > least, "{server:?} {demand:?} from {initial}: {share} of what it can do");
                // Where one in ten takes ten times as long as the others all together, it takes
                // longer than this to come down to a few places.
                let left = if matches!(demand, Demand::FewHeavy) { initial } else { 0 };
                let most = 1.5 * knee + f64::from(left) + 1.0;
                assert!(found.size < most, "{server:?} {demand:?} from {initial}: {}", found.size);
            }
        }
    }
}

#[test]
fn more_requests_that_are_no_more_work_need_no_more_places() {
    for knee in [1, 8] {
        for seed in 0..4 {
            let mut model = ServerModel::new(adaptive(8), Server::Sharing(knee), Demand::Lightening, seed);
            model.run(12_000);
            let found = model.run(8_000);
            let most = 1.5 * f64::from(knee) + 2.0;
            assert!(found.size < most, "{knee} processors, seed {seed}: {}", found.size);
        }
    }
}

/// Requests that are soon done, so that no client feels whether a few more are beside them.
#[test]
fn what_many_share_is_worth_places() {
    for besides in [0.5, 1.2, 3.0] {
        for demand in DEMANDS {
            let mut model = ServerModel::new(adaptive(8), Server::Waking(besides), demand, 7);
            model.mean = 0.0001;
            model.run(16_000);
            let found = model.run(40_000);
            let share = found.rate * model.mean;
            assert!(share > 0.8, "{besides} {demand:?}: {share} of what it can do, with {}", found.size);
            assert!(found.size < 8.0 * (1.0 + besides), "{besides} {demand:?}: {}", found.size);
        }
    }
}

#[test]
fn servers_that_gain_nothing_are_not_given_more_because_requests_are_short() {
    for server in KINDS.into_iter().filter(|server| server.knee() <= 16) {
        for demand in DEMANDS {
            let mut model = ServerModel::new(adaptive(8), server, demand, 7);
            model.mean = 0.0003;
            model.run(40_000);
            let found = model.run(40_000);
            let knee = f64::from(server.knee());
            let share = found.rate * model.mean / knee;
            assert!(share > 0.85, "{server:?} {demand:?}: {share} of what it can do with {}", found.size);
            assert!(found.size < 1.6 * knee + 1.0, "{server:?} {demand:?}: {}", found.size);
        }
    }
}

/// Where requests are just short enough that it is seen, a size is found and kept.
#[test]
fn it_does_not_go_to_and_fro_between_two_sizes() {
    for mean in [0.00015, 0.0003, 0.0006] {
        let mut model = ServerModel::new(adaptive(8), Server::Waking(3.0), Demand::Exponential, 7);
        model.mean = mean;
        model.run(60_000);
        let (mut moves, mut before) = (0, model.places.search.found());
        for _ in 0..200 {
            model.run(200);
            let found = model.places.search.found();
            moves += u32::from(found != before);
            before = found;
        }
        assert!(moves <= 20, "{mean}: {moves} moves in 200 looks, now {before}");
    }
}

#[test]
fn a_size_that_too_few_clients_fill_is_not_tried_for_ever() {
    for demand in DEMANDS {
        let mut model = ServerModel::new(adaptive(3), Server::Waking(1.2), demand, 7);
        (model.mean, model.clients) = (0.0001, 10);
        model.run(20_000);
        let found = model.run(20_000);
        assert!(found.rate * model.mean > 0.76, "{demand:?}: {found:?}");
    }
}

/// Users wait for the pages, not for their images, however many those are.
#[test]
fn the_long_among_many_short_ones_are_felt() {
    let sizes = [Demand::Equal, Demand::FewHeavy].map(|demand| {
        let mut model = ServerModel::new(adaptive(8), Server::Waking(1.2), demand, 7);
        model.mean = 0.0015;
        model.run(20_000);
        model.run(20_000).size
    });
    assert!(sizes[1] < 8.0, "{sizes:?}");
}

#[test]
fn it_is_found_soon() {
    for server in KINDS {
        for demand in DEMANDS {
            let mut needed: Vec<u32> = (0..5)
                .map(|seed| {
                    let mut model = ServerModel::new(adaptive(8), server, demand, seed);
                    let mut requests = 0;
                    while !is_near(model.places.search.found(), server.knee()) && requests < 3000 {
                        model.run(20);
                        requests += 20;
                    }
                    requests
                })
                .collect();
            needed.sort_unstable();
            let most = if server.knee() == 64 { 1500 } else { 900 };
            assert!(needed[2] <= most, "{server:?} {demand:?}: {needed:?}");
        }
    }
}

/// What trying costs, and what it costs to be a place or two off.
#[test]
fn what_was_found_is_kept() {
    for server in [Server::Loop, Server::Sharing(2), Server::Workers(4), Server::Workers(16)] {
        for demand in DEMANDS {
            let fixed = ServerModel::new(Window::Fixed(server.knee()), server, demand, 1).run(20_000);
            let (mut loss, mut excess, mut away) = (0.0, 0.0, 0);
            for seed in 0..4 {
                let mut model = ServerModel::new(adaptive(8), server, demand, seed);
                model.run(6000);
                for _ in 0..20 {
                    let kept = model.run(300);
                    loss += (1.0 - kept.rate / fixed.rate) / 80.0;
                    excess += (kept.inside / fixed.inside - 1.0) / 80.0;
                    away += u32::from(!is_near(model.places.search.found(), server.knee()));
                }
            }
            assert!(loss < 0.08, "{server:?} {demand:?}: {loss} of throughput");
            assert!(excess < 0.3, "{server:?} {demand:?}: {excess} of the time inside");
            assert!(away <= 8, "{server:?} {demand:?}: away {away} times of 80");
        }
    }
}

#[test]
fn a_server_that_can_do_more_or_less_is_followed() {
    for demand in DEMANDS {
        for seed in 0..3 {
            let mut model = ServerModel::new(adaptive(8), Server::Workers(4), demand, seed);
            model.run(8000);
            for workers in [16, 2, 8] {
                model.server = Server::Workers(workers);
                let mut requests = 0;
                while !is_near(model.places.search.found(), workers) {
                    model.run(20);
                    requests += 20;
                    let size = model.places.search.found();
                    assert!(requests < 6000, "{demand:?} {seed}: {size} for {workers}");
                }
                model.run(2000);
            }
        }
    }
}

#[test]
fn a_server_that_has_enough_is_not_driven() {
    for (server, share) in [
        (Server::Workers(4), 0.5),
        (Server::Workers(4), 0.95),
        (Server::Workers(16), 0.3),
        (Server::Sharing(1), 0.5),
        (Server::Sharing(1), 0.9),
    ] {
        for seed in 0..3 {
            let mut model = ServerModel::new(adaptive(8), server, Demand::Exponential, seed);
            let knee = f64::from(server.knee());
            model.offered = Some(share * knee / model.mean);
            for _ in 0..100 {
                model.run(100);
                let size = model.places.search.found();
                assert!(f64::from(size) >= share * knee, "{server:?} {share} {seed}: {size}");
                assert!(size <= 16, "{server:?} {share} {seed}: {size}");
            }
        }
    }
}

#[test]
fn a_server_that_is_not_busy_says_how_many_places_it_will_need() {
    for demand in DEMANDS {
        for seed in 0..3 {
            let mut model = ServerModel::new(adaptive(8), Server::Sharing(1), demand, seed);
            model.offered = Some(0.5 / model.mean);
            let calm = model.run(6000);
            assert!(calm.size > 5.0, "{demand:?} {seed}: {calm:?} while all find a place");
            model.offered = None;
            let busy = model.run(100);
            assert!(busy.size < 4.0, "{demand:?} {seed}: {busy:?} from the beginning on");
            model.offered = Some(0.5 / model.mean);
            model.run(1000);
            let again = model.places.search.found();
            assert!(again >= 5, "{demand:?} {seed}: {again}");
            // There is no sign that a server needs few of which as much is finished as is inside.
            let mut model = ServerModel::new(adaptive(8), Server::Workers(64), demand, seed);
            model.offered = Some(4.0 / model.mean);
            model.run(6000);
            model.offered = None;
            model.run(100);
            let size = model.places.search.found();
            assert!(size >= 6, "{demand:?} {seed}: {size}");
        }
    }
}

#[test]
fn a_server_that_becomes_slower_is_not_taken_for_one_that_does_less_at_once() {
    for demand in DEMANDS {
        for slower in [1.5, 3.0, 10.0] {
            let mut model = ServerModel::new(adaptive(8), Server::Workers(64), demand, 7);
            model.offered = Some(4.0 / model.mean);
            model.run(3000);
            model.mean *= slower;
            let slow = model.run(4000);
            let least = f64::from(model.server.knee()).min(4.0 * slower) / 2.0;
            assert!(slow.size >= least, "{demand:?}, {slower} times slower: {slow:?}");
            model.mean /= slower;
            model.run(4000);
            assert!(model.places.search.found() >= 4, "{demand:?} {slower}");
        }
    }
}

#[test]
fn downloads_that_take_more_places_than_are_tried_hold_nobody_up() {
    let mut places = Places::new(Window::Adaptive { initial: 8, min: 1, max: 10 });
    let mut now = Time::ZERO;
    (0..6).for_each(|_| places.take(now));
    let mut last = now;
    for _ in 0..20_000 {
        let others = places.free(0);
        let dispatched = now;
        (0..others).for_each(|_| places.take(now));
        now += Span::from_millis(10);
        (0..others).for_each(|_| places.give_back(now, dispatched, 1.0));
        places.watch(now);
        last = if others > 0 { now } else { last };
        assert!(now.since(last) < Span::from_secs(10), "no request is let in, of {}", places.size());
    }
}

#[test]
fn what_is_on_its_way_does_not_leave_the_server_idle() {
    for (server, demand) in [
        (Server::Loop, Demand::Equal),
        (Server::Loop, Demand::Exponential),
        (Server::Sharing(1), Demand::Exponential),
    ] {
        for apart in [0.5, 1.0, 3.0] {
            let mut model = ServerModel::new(adaptive(8), server, demand, 7);
            model.apart = 0.01 * apart;
            model.run(10_000);
            let found = model.run(10_000);
            assert!(found.rate > 82.0, "{server:?} {demand:?} {apart}: {found:?}");
            assert!(found.size < 3.0 * (1.0 + apart), "{server:?} {demand:?} {apart}: {found:?}");
        }
    }
}

#[test]
fn it_does_not_collapse_when_the_work_changes() {
    for demand in [Demand::Equal, Demand::Exponential, Demand::Mixed] {
        let mut model = ServerModel::new(adaptive(8), Server::Workers(16), demand, 7);
        model.run(30_000);
        for round in 0..40 {
            // For times that have nothing to do with the length of trials.
            model.mean = if round % 2 == 0 { 0.2 } else { 0.01 };
            for _ in 0..7 {
                model.run(100);
                let size = model.places.search.found();
                assert!((8..=64).contains(&size), "{demand:?}: {size} in round {round}");
            }
        }
    }
}

#[test]
fn one_size_is_left_alone() {
    let mut model =
        ServerModel::new(Window::Adaptive { initial: 5, min: 5, max: 5 }, Server::Loop, Demand::Equal, 7);
    model.run(1000);
    assert_eq!(model.places.size(), 5);
}

#[test]
fn bounds_are_kept() {
    for (server, bound) in [(Server::Loop, 3), (Server::Workers(100), 11)] {
        let window = Window::Adaptive { initial: 6, min: 3, max: 11 };
        let mut model = ServerModel::new(window, server, Demand::Exponential, 7);
        model.run(10_000);
        let found = model.run(10_000).size;
        assert!((3.0..=11.0).contains(&found), "{server:?}: {found}");
        assert!((found - f64::from(bound)).abs() < 2.0, "{server:?}: {found}");
    }
}

#[test]
fn an_idle_server_teaches_nothing() {
    let mut places = Places::new(adaptive(8));
    let mut now = Time::ZERO;
    for _ in 0..10_000 {
        places.take(now);
        let dispatched = now;
        now += Span::from_millis(10);
        places.give_back(now, dispatched, 1.0);
    }
    assert_eq!(places.size(), 8);
}

#[test]
fn a_window_is_for_the_servers_that_are_there() {
    let half = Ratio::clamped(0.5);
    let mut fixed = Places::new(Window::Fixed(9));
    fixed.set_capacity(Time::ZERO, half);
    assert_eq!(fixed.size(), 5);
    fixed.set_capacity(Time::ZERO, Ratio::ZERO);
    assert_eq!(fixed.size(), 1);
    fixed.set_capacity(Time::ZERO, Ratio::ONE);
    assert_eq!(fixed.size(), 9);
    let mut places = Places::new(Window::Adaptive { initial: 16, min: 2, max: 64 });
    for (share, size) in [(half, 8), (Ratio::clamped(0.25), 4), (Ratio::ONE, 16)] {
        places.set_capacity(Time::ZERO, share);
        assert_eq!(places.size(), size);
    }
    places.set_capacity(Time::ZERO, Ratio::clamped(0.01));
    assert_eq!(places.size(), 2);
}
