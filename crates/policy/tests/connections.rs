//! Which connections are closed, and which are left alone.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use policy::connections::{Awaited, ConnectionId, ConnectionLimits, Connections, Order, Phase};
use units::{ClassId, Span, Time};

const START: Time = Time::from_nanos(1);

/// Connections of one address that are spared for being new.
const MANY: usize = 32;

fn after(millis: u64) -> Time {
    START + Span::from_millis(millis)
}

fn limits(connections: usize) -> ConnectionLimits {
    ConnectionLimits { connections, ..ConnectionLimits::default() }
}

fn connections() -> Connections<()> {
    Connections::new(limits(1000))
}

fn connect(connections: &mut Connections<()>, owner: u64) -> ConnectionId {
    connections.connect(START, owner, |_| ())
}

/// Which have been told to close since the last call.
fn closed(connections: &mut Connections<()>) -> Vec<ConnectionId> {
    orders(connections).into_iter().filter(|(_, order)| *order == Order::Close).map(|(id, _)| id).collect()
}

fn orders(connections: &mut Connections<()>) -> Vec<(ConnectionId, Order)> {
    std::iter::from_fn(|| connections.next_order()).collect()
}

#[test]
fn a_crowd_from_one_address_makes_room_for_itself_first() {
    let mut table = connections();
    let crowd: Vec<_> = (0..MANY + 8).map(|_| connect(&mut table, 1)).collect();
    let modest = connect(&mut table, 2);
    crowd.iter().for_each(|id| table.enter(*id, Phase::Head, START));
    table.enter(modest, Phase::Head, START);
    table.make_room(after(1), crowd.len() + 1);
    let closed = closed(&mut table);
    assert_eq!(closed.len(), 8, "all are new: of one address those that are too many");
    assert!(!closed.contains(&modest));
}

#[test]
fn less_important_and_slower_clients_go_first() {
    let mut table = connections();
    let [premium, basic, unknown, slower] = [1, 2, 3, 4].map(|owner| connect(&mut table, owner));
    for (id, class) in [(premium, Some(ClassId(0))), (basic, Some(ClassId(1)))] {
        table.dispatched(id, class);
    }
    table.enter(slower, Phase::Head, START);
    for id in [premium, basic, unknown] {
        table.enter(id, Phase::Head, after(10));
    }
    let mut order = Vec::new();
    for _ in 0..4 {
        table.make_room(after(2000), 1);
        for id in closed(&mut table) {
            order.push(id);
            table.close(id);
        }
    }
    assert_eq!(order, [slower, unknown, basic, premium]);
}

#[test]
fn heads_and_bodies_are_spared_for_a_moment() {
    let mut table = connections();
    let [head, body, idle, served] = [1, 2, 3, 4].map(|owner| connect(&mut table, owner));
    table.enter(head, Phase::Head, START);
    table.enter(body, Phase::Busy, START);
    table.waits(body, Awaited::Upload, START);
    table.enter(served, Phase::Busy, START);
    table.enter(idle, Phase::Busy, START);
    table.answered(idle, START);
    table.make_room(after(400), 4);
    assert_eq!(closed(&mut table), [idle]);
    table.make_room(after(600), 4);
    assert_eq!(closed(&mut table), [head]);
    table.make_room(after(2100), 4);
    assert_eq!(closed(&mut table), [body], "what is served is left alone");
}

#[test]
fn the_end_of_a_response_on_its_way_is_not_cut_off() {
    for phase in [Phase::Idle, Phase::Lingering, Phase::Head] {
        let mut table = connections();
        let id = connect(&mut table, 1);
        table.enter(id, Phase::Busy, START);
        table.waits(id, Awaited::Taking, START);
        table.enter(id, phase, START);
        table.make_room(after(1900), 1);
        assert_eq!(orders(&mut table), [], "{phase:?}: for lack of room");
        // Some of it is taken now and then, for longer than a connection may idle, linger or have half a head.
        for second in 1..200 {
            table.moved(id, Awaited::Taking, 5000);
            table.waits(id, Awaited::Taking, after(1000 * second));
            table.sweep(after(1000 * second));
            table.make_room_in_server(after(1000 * second), 1);
        }
        assert_eq!(orders(&mut table), [], "{phase:?}: for its age");
        table.finish(after(200_000));
        assert_eq!(orders(&mut table), [(id, Order::Finish)], "{phase:?}: at the end");
        table.make_room(after(202_100), 1);
        assert_eq!(closed(&mut table), [id], "{phase:?}: it has taken nothing for two seconds");
    }
}

#[test]
fn who_may_still_be_sending_is_spared_for_a_moment_after_a_response() {
    let mut table = connections();
    let [quiet, lingering, multiplexed] = [1, 2, 3].map(|owner| connect(&mut table, owner));
    table.multiplex(multiplexed);
    for id in [quiet, lingering, multiplexed] {
        table.enter(id, Phase::Busy, START);
        table.answered(id, START);
    }
    table.enter(lingering, Phase::Lingering, START);
    table.make_room(after(200), 3);
    assert_eq!(orders(&mut table), [(quiet, Order::Close), (multiplexed, Order::Finish)]);
    table.close(quiet);
    table.make_room(after(300), 1);
    assert_eq!(orders(&mut table), [], "one leaves already");
    table.make_room(after(500), 3);
    assert_eq!(closed(&mut table), [multiplexed, lingering]);
}

#[test]
fn clients_that_ask_again_and_again_make_room_too() {
    let mut table = connections();
    let busy = connect(&mut table, 1);
    table.multiplex(busy);
    for turn in 0..10 {
        table.enter(busy, Phase::Busy, after(100 * turn));
        table.answered(busy, after(100 * turn + 10));
        table.make_room(after(100 * turn + 20), 1);
    }
    assert_eq!(orders(&mut table), [(busy, Order::Finish), (busy, Order::Close)]);
}

#[test]
fn a_byte_now_and_then_is_no_progress_where_room_is_short() {
    let mut table = connections();
    let [trickle, steady, stopped] = [1, 2, 3].map(|owner| connect(&mut table, owner));
    for id in [trickle, steady, stopped] {
        table.enter(id, Phase::Busy, START);
        table.waits(id, Awaited::Taking, START);
    }
    for second in 1..=40 {
        for (id, bytes) in [(trickle, 10), (steady, 5000)] {
            table.moved(id, Awaited::Taking, bytes);
            table.waits(id, Awaited::Taking, after(1000 * second));
        }
    }
    table.sweep(after(41_000));
    assert_eq!(closed(&mut table), [stopped], "who goes on, however slowly, is not given up");
    table.close(stopped);
    table.make_room(after(41_000), 1);
    assert_eq!(closed(&mut table), [trickle]);
}

#[test]
fn while_others_wait_a_place_is_not_held_for_long() {
    let mut table = connections();
    let id = connect(&mut table, 1);
    table.enter(id, Phase::Busy, START);
    table.dispatched(id, None);
    table.waits(id, Awaited::Taking, START);
    table.sweep(after(6000));
    assert_eq!(closed(&mut table), []);
    assert_eq!(table.make_room_in_server(after(1900), 1), 0, "not before it has had time");
    assert_eq!(table.make_room_in_server(after(6000), 0), 0, "not where no place is wanted");
    assert_eq!(table.make_room_in_server(after(6000), 2), 1);
    assert_eq!(closed(&mut table), [id]);
}

#[test]
fn a_connection_is_as_slow_as_its_quickest_stream() {
    let mut table = connections();
    let [stuck, half] = [1, 2].map(|owner| connect(&mut table, owner));
    for id in [stuck, half] {
        table.multiplex(id);
    }
    let open = |table: &mut Connections<()>, id| table.open_stream(START, id, |_| ()).unwrap();
    let [waits, too, other, _busy] = [stuck, stuck, half, half].map(|id| open(&mut table, id));
    for stream in [waits, too, other] {
        table.waits(stream, Awaited::Upload, START);
    }
    assert_eq!(table.slow(after(2001)), 1);
    table.make_room(after(2001), 2);
    assert_eq!(closed(&mut table), [stuck]);
}

#[test]
fn a_stream_outlives_its_connection_and_touches_no_other() {
    let mut table = connections();
    let gone = connect(&mut table, 1);
    table.multiplex(gone);
    let stream = table.open_stream(START, gone, |_| ()).unwrap();
    assert_eq!(table.close(gone), Some(()));
    let next = connect(&mut table, 2);
    table.dispatched(stream, Some(ClassId(0)));
    assert_eq!(table.class(next), ClassId(u8::MAX));
    assert_eq!(table.close_stream(START, stream, true), Some(()));
    assert_eq!((table.open(), table.streams(), table.phase(next)), (1, 0, Phase::New));
    assert_eq!((table.phase(gone), table.close(gone)), (Phase::Lingering, None));
}

#[test]
fn a_client_that_takes_back_what_it_asks_for_is_closed() {
    let mut table = connections();
    let id = connect(&mut table, 1);
    table.multiplex(id);
    for _ in 0..=200 {
        let stream = table.open_stream(START, id, |_| ()).unwrap();
        assert_eq!(closed(&mut table), []);
        table.close_stream(START, stream, true);
    }
    assert_eq!(closed(&mut table), [id]);
}

#[test]
fn there_are_no_more_streams_than_may_be() {
    let mut table = Connections::new(ConnectionLimits { streams: 2, ..limits(1000) });
    let id = connect(&mut table, 1);
    let streams = [(); 3].map(|()| table.open_stream(START, id, |_| ()).is_some());
    assert_eq!((streams, table.refused_streams()), ([true, true, false], 1));
}

#[test]
fn timeouts_hold_for_heads_and_for_what_is_idle() {
    let mut table = connections();
    let [head, idle, multiplexed] = [1, 2, 3].map(|owner| connect(&mut table, owner));
    table.multiplex(multiplexed);
    table.enter(multiplexed, Phase::Idle, START);
    table.enter(head, Phase::Head, START);
    table.sweep(after(10_001));
    assert_eq!(orders(&mut table), [(head, Order::Timeout)]);
    table.sweep(after(15_001));
    assert_eq!(orders(&mut table), [(idle, Order::Close), (multiplexed, Order::Finish)]);
    table.sweep(after(17_500));
    assert_eq!(orders(&mut table), [(multiplexed, Order::Close)], "it was asked to go, and has not");
}

#[test]
fn at_the_end_requests_in_hand_are_finished() {
    let mut table = connections();
    let [busy, half] = [1, 2].map(|owner| connect(&mut table, owner));
    table.enter(busy, Phase::Busy, START);
    table.enter(half, Phase::Head, START);
    table.finish(after(1));
    assert_eq!(orders(&mut table), [(busy, Order::Finish), (half, Order::Finish)]);
    table.finish(after(1000));
    assert_eq!(orders(&mut table), [(half, Order::Close)]);
    let tunnel = connect(&mut table, 3);
    table.enter(tunnel, Phase::Tunnel, START);
    table.close_all_but_tunnels(after(2000));
    assert_eq!(orders(&mut table), [(busy, Order::Close)], "tunnels end by themselves");
}

#[test]
fn slow_and_idle_clients_are_not_counted_as_pressure() {
    let mut table = Connections::new(limits(10));
    let ids: Vec<_> = (0..8).map(|owner| connect(&mut table, owner)).collect();
    assert_eq!(table.used(START, 1).as_f64(), 0.1, "but for one to the upstream");
    ids.iter().for_each(|id| table.enter(*id, Phase::Busy, START));
    assert_eq!(table.used(after(1), 1).as_f64(), 0.9);
    ids[..4].iter().for_each(|id| table.waits(*id, Awaited::Taking, START));
    assert_eq!(table.used(after(10), 1).as_f64(), 0.5);
    assert_eq!(table.changed_pressure(after(10), 1).map(|used| used.as_f64()), Some(0.5));
    assert_eq!(table.changed_pressure(after(10), 1), None);
}

#[test]
fn memory_is_a_resource_as_well() {
    let mut table = Connections::<()>::new(ConnectionLimits { memory: Some(1000), ..limits(10) });
    table.set_memory(900);
    assert_eq!(table.used(START, 0).as_f64(), 0.9);
}

#[test]
fn room_is_made_before_it_is_needed() {
    let mut table = Connections::new(limits(100));
    let ids: Vec<_> = (0..80).map(|owner| connect(&mut table, owner)).collect();
    ids.iter().for_each(|id| table.enter(*id, Phase::Head, START));
    assert!(table.has_room(after(600), 0));
    assert_eq!(closed(&mut table), []);
    table.relieve(after(600), 1);
    assert_eq!(closed(&mut table).len(), 6);
    assert!(!table.has_room(after(600), 20));
    assert_eq!(closed(&mut table).len(), 0, "a fiftieth of them, which have been told already");
}
