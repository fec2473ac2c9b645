//! One request at a time on a connection, which is kept for the next.

use std::cell::RefCell;

use crate::client::attempt::Attempt;
use crate::client::fault::Fault;
use crate::client::http1::behind::Behind;
use crate::client::http1::connection::{Connection, Event, Next};
use crate::client::http1::response::Response;
use crate::client::plan::Persistence;

/// Connections that no request is under way on.
#[derive(Debug, Default)]
pub(crate) struct Idle(RefCell<Vec<Connection>>);

impl Idle {
    /// The one that was used last and is still open.
    fn take(&self) -> Option<Connection> {
        let mut idle = self.0.borrow_mut();
        while let Some(mut connection) = idle.pop() {
            if !connection.is_stale() {
                return Some(connection);
            }
        }
        None
    }
}

/// Sends the request of `attempt` over an idle connection, or a new one, and follows its
/// response to the end. What is repeated goes over a new one.
pub(crate) async fn carry(attempt: &mut Attempt<'_>, idle: &Idle) -> Result<(), Fault> {
    let kept = if attempt.exchange.is_repeated() { None } else { idle.take() };
    let connection = match kept {
        Some(connection) => {
            attempt.exchange.on_open_connection(attempt.thread.now());
            attempt.connection = connection.number;
            connection
        }
        None => Connection::open(attempt).await?,
    };
    follow(attempt, connection, idle).await
}

async fn follow(attempt: &mut Attempt<'_>, mut connection: Connection, idle: &Idle) -> Result<(), Fault> {
    let thread = attempt.thread;
    let persistence = thread.persistence(connection.requests + 1);
    connection.expect_response();
    connection.send(attempt.http1_head(persistence), attempt.body()).await?;
    let mut response = Response::default();
    let exchange = &mut attempt.exchange;
    let whole = connection.receive(thread, |now, event| {
        let used = response.take(event, now, &thread.heads, exchange)?;
        match response.is_complete() {
            true => Ok(Next::Done(match event {
                Event::Bytes(bytes) => Behind::of(bytes.get(used..).unwrap_or_default()),
                Event::Discarded(_) | Event::Sent | Event::Closed | Event::Cut => Behind::Nothing,
            })),
            false => Ok(Next::More { discard: response.discardable(exchange) }),
        }
    });
    let behind = match whole.await? {
        Behind::Nothing => connection.behind(),
        behind => behind,
    };
    match behind {
        Behind::Surplus => return Err(Fault::Surplus),
        Behind::Nothing if response.keeps_alive() && persistence == Persistence::Keep => {
            connection.expect_nothing();
            idle.0.borrow_mut().push(connection);
        }
        Behind::Nothing | Behind::Farewell => (),
    }
    Ok(())
}
