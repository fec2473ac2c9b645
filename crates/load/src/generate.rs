//! Who starts what, and when: by a schedule, or when the one before has ended.

use std::cell::RefCell;
use std::rc::Rc;

use record::SessionOutcome;
use tokio::task::{spawn_local, yield_now};
use traffic::{Arrival, Mix, Schedule};
use units::{Span, Time};

use crate::engine::Engine;
use crate::fetch::{Client, fetch};
use crate::session::{Pauses, session};

/// Arrivals that are started in one go when several are due; then the others get their turn.
const BATCH: u32 = 32;

/// How long the generator waits when too much is under way.
const WHEN_FULL: Span = Span::from_millis(1);

/// A client of a closed loop that cannot connect tries again after this, so that a server that
/// is down does not cost a processor.
const AFTER_FAILURE: Span = Span::from_millis(10);

/// Starts what the schedule wants, for ever: load is kept up while what began in the window is
/// followed to its end, or its last sessions would meet an emptier server than its first.
pub(crate) async fn open_loop(engine: Rc<Engine>, schedule: Schedule) {
    let shared = Rc::new(Client::new(&engine, 0, None));
    let mut batch = 0;
    for arrival in schedule {
        if arrival.time.as_nanos() >= engine.window.to_ns && !engine.is_issued() {
            engine.set_issued();
        }
        if engine.clock.now() < arrival.time {
            engine.alarms.until(arrival.time).await;
            batch = 0;
        }
        batch += 1;
        if batch % BATCH == 0 {
            yield_now().await;
        }
        while engine.is_full() {
            engine.alarms.until(engine.clock.now() + WHEN_FULL).await;
        }
        spawn_local(arrive(Rc::clone(&engine), Rc::clone(&shared), arrival));
    }
    engine.set_issued();
}

async fn arrive(engine: Rc<Engine>, shared: Rc<Client>, Arrival { time, class }: Arrival) {
    let _followed = engine.follow(time);
    engine.record_lag(time);
    if engine.plan.has_sessions {
        session(engine, class, time, Pauses::Made).await;
    } else if let Some(page) = engine.plan.pages.first() {
        // What became of it is in the record.
        let _ = fetch(&engine, &shared, &page.page, time).await;
    }
}

/// Starts `clients` that go on as long as the run does.
pub(crate) fn closed_loop(engine: &Rc<Engine>, clients: u32) {
    let shares = engine.plan.classes.iter().map(|class| class.share).collect();
    let mix = Rc::new(RefCell::new(Mix::new(shares)));
    for _ in 0..clients {
        spawn_local(again_and_again(Rc::clone(engine), Rc::clone(&mix)));
    }
    engine.set_issued();
}

async fn again_and_again(engine: Rc<Engine>, mix: Rc<RefCell<Mix>>) {
    let client = Client::new(&engine, 0, None);
    loop {
        let now = engine.clock.now();
        let outcome = once(&engine, &client, &mix, now).await;
        if outcome == SessionOutcome::Error {
            engine.alarms.until(engine.clock.now() + AFTER_FAILURE).await;
        }
    }
}

async fn once(engine: &Rc<Engine>, client: &Client, mix: &RefCell<Mix>, now: Time) -> SessionOutcome {
    let _followed = engine.follow(now);
    if engine.plan.has_sessions {
        let class = mix.borrow_mut().deal();
        return session(Rc::clone(engine), class, now, Pauses::Skipped).await;
    }
    match engine.plan.pages.first() {
        Some(page) => fetch(engine, client, &page.page, now).await.err().unwrap_or(SessionOutcome::Completed),
        None => SessionOutcome::Error,
    }
}
