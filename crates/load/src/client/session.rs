//! [`session`]: one user, from page to page.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};
use record::{SessionOutcome, SessionRow};
use traffic::Thinking;
use units::{ClassId, Span, Time};

use crate::client::context::ThreadContext;
use crate::client::fetch::{Client, Failed, fetch_stubbornly};

/// What a user does between two pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pauses {
    /// Reads, as long as the workload says.
    Made,
    /// Goes on at once: to find what a server carries, clients must not leave it idle.
    Skipped,
}

/// Follows the workload's script as a user of `class` who was due at `intended`, until it is
/// done or a request fails.
pub(crate) async fn session(
    thread: Rc<ThreadContext>,
    class: ClassId,
    intended: Time,
    pauses: Pauses,
) -> Result<(), Failed> {
    let mut visit = Visit::new(&thread, class, intended);
    let result = pages(&thread, &mut visit, intended, pauses).await;
    visit.outcome = result.err().map_or(SessionOutcome::Completed, |failed| failed.outcome);
    result
}

async fn pages(
    thread: &Rc<ThreadContext>,
    visit: &mut Visit<'_>,
    mut intended: Time,
    pauses: Pauses,
) -> Result<(), Failed> {
    let last = thread.plan.pages.len().saturating_sub(1);
    let mut thinking = Thinking::of_session(thread.plan.seed, visit.pauses);
    for (number, page) in thread.plan.pages.iter().enumerate() {
        if !visit.client.user.meets(&page.conditions) {
            continue;
        }
        fetch_stubbornly(thread, &visit.client, page.page, intended).await?;
        if !page.embedded.is_empty() {
            embedded(thread, &visit.client, &page.embedded).await?;
        }
        intended = thread.now();
        if number < last && pauses == Pauses::Made && !page.think.is_zero() {
            let pause = thinking.next(&page.think);
            intended += pause;
            visit.think += pause;
            thread.until(intended).await;
            thread.record_lag(intended);
        }
    }
    Ok(())
}

/// Fetches what is embedded in a page, over several connections at once as browsers do. After
/// a failure no more is begun, but what is under way is followed to its end.
pub(crate) async fn embedded(thread: &ThreadContext, client: &Client, objects: &[u32]) -> Result<(), Failed> {
    let next = Cell::new(0);
    let mut connections: FuturesUnordered<_> = (0..thread.plan.connections.min(objects.len()))
        .map(async |_| {
            while let Some(object) = objects.get(next.replace(next.get() + 1)) {
                let result = fetch_stubbornly(thread, client, *object, thread.now()).await;
                if result.is_err() {
                    next.set(objects.len());
                    return result;
                }
            }
            Ok(())
        })
        .collect();
    let mut result = Ok(());
    while let Some(one) = connections.next().await {
        result = result.and(one);
    }
    result
}

/// A session under way. Dropping it writes its row: if the run ends first, as cut off.
struct Visit<'a> {
    thread: &'a ThreadContext,
    client: Client,
    class: ClassId,
    number: u64,
    started: Time,
    /// What its pauses go by: users of a closed loop begin at the same moment, and must not pause alike.
    pauses: Time,
    think: Span,
    outcome: SessionOutcome,
}

impl<'a> Visit<'a> {
    fn new(thread: &'a ThreadContext, class: ClassId, started: Time) -> Self {
        let number = thread.number_session();
        let apart = if thread.plan.is_open { Span::ZERO } else { Span::from_nanos(number) };
        let pauses = started + apart;
        Self {
            thread,
            client: Client::new(thread, class.index(), Some(number), pauses),
            class,
            number,
            started,
            pauses,
            think: Span::ZERO,
            outcome: SessionOutcome::Censored,
        }
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let Some(class) = self.thread.plan.classes.get(self.class.index()) else { return };
        let row = SessionRow {
            session: self.number,
            class: Arc::clone(&class.name),
            started_ns: self.started,
            duration_ns: self.thread.now().since(self.started).saturating_sub(self.think),
            think_ns: self.think,
            requests: self.client.requests.get(),
            completed: self.outcome == SessionOutcome::Completed,
            outcome: self.outcome,
        };
        self.thread.record_session(self.class.index(), row);
    }
}
