//! Open loop: what the schedule wants begins when it says, whatever became of what began before.

use std::rc::Rc;

use units::{ClassId, Span, Time};

use crate::client::context::ThreadContext;
use crate::client::session::{Pauses, session};
use crate::engine::share::Share;
use crate::measure::progress::Followed;
use crate::schedule::pool::WorkerPool;
use crate::schedule::source::Source;

/// Arrivals that are started in one go when several are due; then other tasks get their turn.
const BATCH: u32 = 32;

/// How long the generator waits when too much is under way.
const WHEN_FULL: Span = Span::from_millis(1);

/// Something that the schedule wants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planned {
    pub(crate) time: Time,
    pub(crate) class: ClassId,
    /// What, where the schedule says that too.
    pub(crate) object: Option<u32>,
}

impl From<traffic::Arrival> for Planned {
    fn from(traffic::Arrival { time, class }: traffic::Arrival) -> Self {
        Self { time, class, object: None }
    }
}

/// What a thread starts of a schedule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) share: Share,
    /// Requests that stand alone, under way at once at most; `None` for as many as are due.
    pub(crate) connections: Option<u32>,
}

/// Starts this thread's part of the schedule, for ever: load is kept up while what began in
/// the window is followed to its end, or its last sessions would meet an emptier server than
/// its first.
pub(crate) async fn open_loop(
    thread: Rc<ThreadContext>,
    source: Rc<Source>,
    schedule: impl Iterator<Item = Planned>,
    part: Part,
) {
    let pool = WorkerPool::new(&thread, part.connections);
    let mut batch = 0;
    for planned in schedule.skip(part.share.number as usize).step_by(part.share.of as usize) {
        if !thread.progress.has_more() {
            break;
        }
        if planned.time.as_nanos() >= thread.progress.window.to_ns && !thread.progress.is_issued() {
            thread.progress.set_issued();
        }
        if thread.now() < planned.time && thread.reactor.refresh() < planned.time {
            thread.until(planned.time).await;
            batch = 0;
        }
        batch += 1;
        if batch % BATCH == 0 {
            thread.until(thread.now()).await;
        }
        while thread.progress.is_full() {
            thread.until(thread.now() + WHEN_FULL).await;
        }
        // Not before it begins: otherwise all would seem to have ended.
        thread.progress.take();
        if thread.plan.has_sessions {
            // Followed from here on: the run may be about to end, and the task has not had its turn.
            let followed = thread.progress.follow(planned.time);
            thread.spawner.spawn(arrive(Rc::clone(&thread), planned, followed));
        } else {
            pool.give(planned.object.unwrap_or_else(|| source.draw(&thread)), planned.time);
        }
    }
    thread.progress.set_issued();
}

async fn arrive(thread: Rc<ThreadContext>, planned: Planned, _followed: Followed) {
    thread.arrived(planned.time);
    // What became of it is in the record.
    let _ = session(Rc::clone(&thread), planned.class, planned.time, Pauses::Made).await;
}
