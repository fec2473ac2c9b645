//! [`session`]: one user, from page to page.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use record::{SessionOutcome, SessionRow};
use tokio::task::JoinSet;
use units::{ClassId, Span, Time};

use crate::engine::Engine;
use crate::fetch::{Client, fetch};

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
    engine: Rc<Engine>,
    class: ClassId,
    intended: Time,
    pauses: Pauses,
) -> SessionOutcome {
    let mut visit = Visit::new(&engine, class, intended);
    visit.outcome = match pages(&engine, &mut visit, intended, pauses).await {
        Ok(()) => SessionOutcome::Completed,
        Err(outcome) => outcome,
    };
    visit.outcome
}

async fn pages(
    engine: &Rc<Engine>,
    visit: &mut Visit<'_>,
    mut intended: Time,
    pauses: Pauses,
) -> Result<(), SessionOutcome> {
    let last = engine.plan.pages.len().saturating_sub(1);
    for (number, page) in engine.plan.pages.iter().enumerate() {
        fetch(engine, &visit.client, &page.page, intended).await?;
        if !page.embedded.is_empty() {
            embedded(engine, &visit.client, number).await?;
        }
        intended = engine.clock.now();
        if number < last && pauses == Pauses::Made && !page.think.is_zero() {
            intended += page.think;
            visit.think += page.think;
            engine.alarms.until(intended).await;
            engine.record_lag(intended);
        }
    }
    Ok(())
}

/// Fetches what is embedded in a page, over several connections at once as browsers do. After
/// a failure no more is begun, but what is under way is followed to its end.
async fn embedded(engine: &Rc<Engine>, client: &Rc<Client>, page: usize) -> Result<(), SessionOutcome> {
    let count = engine.plan.pages.get(page).map_or(0, |page| page.embedded.len());
    let next = Rc::new(Cell::new(0));
    let mut connections = JoinSet::new();
    for _ in 0..engine.plan.connections.min(count) {
        let (engine, client, next) = (Rc::clone(engine), Rc::clone(client), Rc::clone(&next));
        connections.spawn_local(async move {
            let objects = engine.plan.pages.get(page).map_or(&[][..], |page| &page.embedded);
            while let Some(object) = objects.get(next.replace(next.get() + 1)) {
                let result = fetch(&engine, &client, object, engine.clock.now()).await;
                if result.is_err() {
                    next.set(objects.len());
                    return result;
                }
            }
            Ok(())
        });
    }
    let mut result = Ok(());
    while let Some(connection) = connections.join_next().await {
        result = result.and(connection.unwrap_or(Err(SessionOutcome::Error)));
    }
    result
}

/// A session under way. Dropping it writes its row: if the run ends first, as cut off.
struct Visit<'a> {
    engine: &'a Engine,
    client: Rc<Client>,
    class: ClassId,
    number: u64,
    started: Time,
    think: Span,
    outcome: SessionOutcome,
}

impl<'a> Visit<'a> {
    fn new(engine: &'a Engine, class: ClassId, started: Time) -> Self {
        let number = engine.number_session();
        Self {
            engine,
            client: Rc::new(Client::new(engine, class.index(), Some(number))),
            class,
            number,
            started,
            think: Span::ZERO,
            outcome: SessionOutcome::Censored,
        }
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let Some(class) = self.engine.plan.classes.get(self.class.index()) else { return };
        self.engine.record_session(SessionRow {
            session: self.number,
            class: Arc::clone(&class.name),
            started_ns: self.started,
            duration_ns: self.engine.clock.now().since(self.started).saturating_sub(self.think),
            think_ns: self.think,
            requests: self.client.requests.get(),
            completed: self.outcome == SessionOutcome::Completed,
            outcome: self.outcome,
        });
    }
}
