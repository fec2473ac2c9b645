//! What a driver holds, and for how long.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use policy::{
    Arrival, Config, Decision, Driver, Handler, Kind, Limits, Mode, Policy, Reason, SessionHint, Stream,
    Waits, Window,
};
use units::{ClassId, RequestId, Span, Time};

const NOW: Time = Time::from_nanos(1);

/// Longer than a server is silent that is still taken to work.
const LATER: Time = Time::from_nanos(150_000_000);

/// Decisions about requests by name. One that begins with `p` is premium.
#[derive(Default)]
struct Decisions(Vec<(&'static str, Decision)>);

impl Handler<&'static str> for Decisions {
    fn classify(&mut self, name: &mut &'static str) -> ClassId {
        ClassId(u8::from(!name.starts_with('p')))
    }

    fn decided(&mut self, _: Time, _: RequestId, name: &mut &'static str, decision: Decision, _: Waits) {
        self.0.push((*name, decision));
    }
}

struct Gate {
    driver: Driver<&'static str>,
    decisions: Decisions,
}

impl Gate {
    /// One place in the server, and room for one request that waits.
    fn new() -> Self {
        Self::with(Limits { acceptor_queue: 1, ..Limits::default() }, Mode::Enforce)
    }

    /// One place in the server.
    fn with(limits: Limits, mode: Mode) -> Self {
        let config = Config { limits, mode, window: Window::Fixed(1), ..Config::default() };
        let driver = Driver::new(Policy::new(config).expect("sound"));
        Self { driver, decisions: Decisions::default() }
    }

    fn arrive(&mut self, name: &'static str) -> RequestId {
        let arrival = Arrival { session: SessionHint::New, client: 1, kind: Kind::default() };
        self.driver.arrive(NOW, arrival, name, &mut self.decisions)
    }

    /// One of this kind that is let in.
    fn begin(&mut self, now: Time, kind: usize) -> RequestId {
        // Numbers in paths make no kinds.
        let kind = Kind::of("GET", ["/pages", "/streams", "/events", "/images"][kind]);
        let arrival = Arrival { session: SessionHint::New, client: 1, kind };
        let id = self.driver.arrive(now, arrival, "one", &mut self.decisions);
        self.driver.turn(now, 7, &mut self.decisions);
        id
    }

    fn responds(&mut self, now: Time, id: RequestId) {
        self.driver.responds(now, id, Stream::Unknown, &mut self.decisions);
    }

    /// The client has taken what has come, and no more follows.
    fn is_silent(&mut self, now: Time, id: RequestId) {
        self.responds(now, id);
        self.driver.is_silent(id);
    }

    fn uploaded(&mut self, now: Time, id: RequestId) {
        self.driver.uploaded(now, id, &mut self.decisions);
    }

    /// Requests inside the server, and those that it has without a place.
    fn places(&mut self, now: Time) -> (u32, u32) {
        self.driver.release_quiet(now, &mut self.decisions);
        let snapshot = self.driver.policy().snapshot();
        (snapshot.in_service, snapshot.streaming)
    }

    fn finish(&mut self, id: RequestId) -> Option<&'static str> {
        self.driver.finish(NOW, id, &mut self.decisions)
    }

    fn abort(&mut self, id: RequestId) -> Option<&'static str> {
        self.driver.abort(NOW, id, &mut self.decisions)
    }

    fn turn(&mut self) -> Time {
        self.driver.turn(NOW, 7, &mut self.decisions)
    }

    /// Requests held by the policy and by the driver.
    fn held(&self) -> (usize, usize) {
        (self.driver.policy().held(), self.driver.iter().count())
    }
}

#[test]
fn an_id_that_is_no_longer_held_is_ignored() {
    let mut gate = Gate::new();
    let first = gate.arrive("first");
    assert_eq!(gate.turn(), Time::NEVER);
    assert_eq!(gate.decisions.0, [("first", Decision::Dispatch)]);
    assert_eq!(gate.finish(first), Some("first"));
    let second = gate.arrive("second");
    assert_ne!(first, second, "also where the payload takes the room of the first");
    assert_eq!((gate.finish(first), gate.abort(first), gate.driver.get(first)), (None, None, None));
    assert_eq!((gate.driver.get(second), gate.held()), (Some(&"second"), (1, 1)));
    assert_eq!(gate.driver.policy().snapshot().unknown_ids, 0);
}

#[test]
fn what_is_refused_is_held_until_its_client_has_been_told() {
    let mut gate = Gate::new();
    let [_, refused] = ["first", "second"].map(|name| gate.arrive(name));
    assert_eq!(gate.decisions.0, [("second", Decision::Refuse(Reason::AcceptorFull))]);
    assert_eq!(gate.held(), (1, 2));
    assert_eq!(gate.finish(refused), Some("second"));
    assert_eq!(gate.held(), (1, 1));
}

#[test]
fn the_server_goes_on_with_what_it_has_begun() {
    let mut gate = Gate::new();
    let inside = gate.arrive("inside");
    gate.turn();
    let waiting = gate.arrive("waiting");
    assert_eq!((gate.abort(waiting), gate.abort(inside)), (Some("waiting"), None));
    assert_eq!(gate.held(), (1, 1));
    assert_eq!(gate.finish(inside), Some("inside"));
    assert_eq!(gate.held(), (0, 0));
}

#[test]
fn a_request_that_waits_is_withdrawn_when_it_ends() {
    let mut gate = Gate::new();
    let waiting = gate.arrive("waiting");
    assert_eq!(gate.finish(waiting), Some("waiting"));
    gate.turn();
    assert_eq!((gate.held(), gate.decisions.0.len()), ((0, 0), 0));
    assert_eq!(gate.driver.policy().snapshot().unclassified.aborted, 1);
}

#[test]
fn a_response_that_pauses_gives_its_place_to_who_waits() {
    let mut gate = Gate::new();
    let stream = gate.begin(NOW, 1);
    gate.responds(NOW, stream);
    let waiting = gate.begin(NOW, 2);
    assert_eq!((gate.places(NOW), gate.decisions.0.len()), ((1, 0), 1));
    let wake = gate.driver.next_wake(NOW);
    assert!(wake <= LATER, "nothing need happen for it: {wake:?}");
    gate.driver.turn(wake, 7, &mut gate.decisions);
    assert_eq!((gate.places(LATER), gate.decisions.0.len()), ((1, 1), 2));
    assert_eq!(gate.finish(waiting), Some("one"));
    gate.responds(LATER, stream);
    assert_eq!(gate.places(LATER), (0, 1), "a piece more takes no place again");
    assert_eq!((gate.abort(stream), gate.places(LATER)), (None, (0, 1)));
    assert_eq!((gate.finish(stream), gate.places(LATER), gate.held()), (Some("one"), (0, 0), (0, 0)));
    assert_eq!(gate.driver.policy().snapshot().unknown_ids, 0);
}

#[test]
fn a_response_that_comes_on_keeps_its_place() {
    let mut gate = Gate::new();
    let page = gate.begin(NOW, 1);
    let mut now = NOW;
    for _ in 0..20 {
        gate.responds(now, page);
        now += Span::from_millis(60);
        assert_eq!(gate.places(now), (1, 0));
    }
    assert_eq!(gate.finish(page), Some("one"));
    let next = gate.begin(now, 1);
    gate.responds(now, next);
    assert_eq!(gate.places(now), (1, 0));
}

#[test]
fn of_what_has_streamed_once_the_next_has_no_place_from_the_first_piece_on() {
    let mut gate = Gate::new();
    let first = gate.begin(NOW, 1);
    gate.is_silent(NOW, first);
    assert_eq!(gate.places(LATER), (0, 1));
    let second = gate.begin(LATER, 1);
    assert_eq!(gate.places(LATER), (1, 1));
    gate.responds(LATER, second);
    assert_eq!(gate.places(LATER), (0, 2));
    let events = gate.begin(LATER, 2);
    gate.driver.responds(LATER, events, Stream::Events, &mut gate.decisions);
    assert_eq!(gate.places(LATER), (0, 3));
    // This one comes whole and at once: the next keeps its place.
    gate.driver.finish(LATER, second, &mut gate.decisions);
    let third = gate.begin(LATER, 1);
    gate.responds(LATER, third);
    assert_eq!(gate.places(LATER), (1, 2));
}

#[test]
fn what_a_client_does_not_take_says_nothing_of_what_the_next_does() {
    let mut gate = Gate::new();
    let slow = gate.begin(NOW, 1);
    gate.responds(NOW, slow);
    assert_eq!(gate.places(LATER), (0, 1));
    let quick = gate.begin(LATER, 1);
    gate.responds(LATER, quick);
    assert_eq!(gate.places(LATER), (1, 1), "the server works for it");
}

#[test]
fn an_upload_that_takes_long_has_a_place_again_when_it_is_there() {
    let mut gate = Gate::new();
    let upload = gate.begin(NOW, 1);
    gate.driver.uploads(NOW, upload);
    assert_eq!(gate.places(LATER), (0, 1));
    let other = gate.begin(LATER, 2);
    gate.uploaded(LATER, upload);
    assert_eq!(gate.places(LATER), (2, 0), "the server works on both");
    assert_eq!(
        (gate.finish(upload), gate.finish(other), gate.places(LATER)),
        (Some("one"), Some("one"), (0, 0))
    );
    let quick = gate.begin(LATER, 1);
    gate.driver.uploads(LATER, quick);
    gate.uploaded(LATER, quick);
    assert_eq!(gate.places(LATER + Span::from_secs(1)), (1, 0), "it has come in time");
}

#[test]
fn no_more_go_on_without_a_place_than_may() {
    let mut gate = Gate::with(Limits { streaming: 1, ..Limits::default() }, Mode::Enforce);
    let first = gate.begin(NOW, 1);
    gate.responds(NOW, first);
    assert_eq!(gate.places(LATER), (0, 1));
    let second = gate.begin(LATER, 1);
    gate.responds(LATER, second);
    let later = LATER + Span::from_secs(1);
    assert_eq!((gate.places(later), gate.driver.shortage(later)), ((1, 1), 0), "nobody waits for its place");
    gate.begin(later, 2);
    assert_eq!(gate.driver.shortage(later), 1);
    assert_eq!(gate.driver.stuck(later, Span::from_secs(1)).count(), 1);
    assert_eq!(gate.driver.stuck(later, Span::from_secs(2)).count(), 0);
    gate.responds(later, second);
    assert_eq!(gate.driver.shortage(later), 0, "it goes on");
    gate.finish(first);
    assert_eq!(
        gate.places(later + Span::from_secs(1)),
        (1, 1),
        "a place among them is taken as soon as there is one"
    );
    assert_eq!((gate.driver.shortage(later), gate.driver.policy().snapshot().unknown_ids), (0, 0));
    let mut small = Gate::with(Limits::default(), Mode::Enforce);
    small.driver.set_max_streaming(0);
    let third = small.begin(NOW, 1);
    small.responds(NOW, third);
    assert_eq!(small.places(LATER), (1, 0), "the process has no room for it");
}

#[test]
fn what_would_keep_its_place_is_turned_away_where_that_is_known() {
    let mut gate = Gate::with(Limits { streaming: 1, ..Limits::default() }, Mode::Enforce);
    let first = gate.begin(NOW, 1);
    gate.is_silent(NOW, first);
    assert_eq!(gate.places(LATER), (0, 1));
    for (kind, stream, known) in [
        (1, Stream::Unknown, true),
        (1, Stream::Unknown, true),
        (2, Stream::Events, true),
        (3, Stream::Unknown, false),
    ] {
        let id = gate.begin(LATER, kind);
        assert_eq!(gate.driver.turns_away(LATER, id, stream, &mut gate.decisions), known, "{kind}");
        assert_eq!(gate.driver.shortage(LATER), usize::from(known));
        gate.driver.finish(LATER, id, &mut gate.decisions);
    }
    gate.driver.finish(LATER, first, &mut gate.decisions);
    let next = gate.begin(LATER, 1);
    assert!(!gate.driver.turns_away(LATER, next, Stream::Events, &mut gate.decisions));
}

#[test]
fn in_shadow_mode_a_stream_is_not_counted_as_inside_for_ever() {
    let mut gate = Gate::with(Limits::default(), Mode::Shadow);
    let [first, second] = [1, 2].map(|kind| gate.begin(NOW, kind));
    for id in [first, second] {
        gate.responds(NOW, id);
    }
    assert_eq!(gate.places(LATER), (0, 2), "the one inside and the one that would wait");
    for id in [first, second] {
        gate.finish(id);
    }
    assert_eq!((gate.places(LATER), gate.held()), ((0, 0), (0, 0)));
}
