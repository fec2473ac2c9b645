//! [`fetch`]: one request, from a connection to its row in the record.

use std::cell::Cell;
use std::pin::pin;

use record::{RequestError, SessionOutcome};
use units::Time;

use crate::client::attempt::Attempt;
use crate::client::context::ThreadContext;
use crate::client::exchange::Fault;
use crate::client::http1::serial::{self, Idle};
use crate::client::http2::{self, Pool};
use crate::client::user::User;

const SERVICE_UNAVAILABLE: u16 = 503;

/// A user with a browser: connections that are kept open between requests.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) user: User,
    idle: Idle,
    pool: Pool,
    /// Requests sent so far.
    pub(crate) requests: Cell<u32>,
}

impl Client {
    /// The browser of a user of the plan's class number `class`.
    pub(crate) fn new(thread: &ThreadContext, class: usize, session: Option<u64>) -> Self {
        Self {
            user: User::new(thread, class, session),
            idle: Idle::default(),
            pool: Pool::default(),
            requests: Cell::new(0),
        }
    }

    /// Sends a request, and sends it again for as long as that is allowed and needed.
    async fn carry(&self, attempt: &mut Attempt<'_>) -> Result<(), Fault> {
        loop {
            let carried = if attempt.thread.plan.is_http2 {
                Box::pin(http2::carry(attempt, &self.pool)).await
            } else {
                serial::carry(attempt, &self.idle).await
            };
            match carried {
                Err(fault) if attempt.exchange.may_repeat(fault) => {
                    attempt.exchange.repeat(attempt.thread.now());
                }
                result => return result,
            }
        }
    }
}

/// Asks for the plan's object number `object`, which was due at `intended`, and records what
/// became of it. The error is how a session ends that depends on it.
pub(crate) async fn fetch(
    thread: &ThreadContext,
    client: &Client,
    object: u32,
    intended: Time,
) -> Result<(), SessionOutcome> {
    let Some(wanted) = thread.plan.objects.get(object as usize) else { return Err(SessionOutcome::Error) };
    client.requests.set(client.requests.get() + 1);
    let mut attempt = Attempt::new(thread, &client.user, wanted, object, intended);
    let carried = {
        // Only a pointer is handed on: the future is large.
        let carry = pin!(client.carry(&mut attempt));
        thread.in_time(carry).await
    };
    match carried {
        Ok(Ok(())) => attempt.succeeded(),
        Ok(Err(fault)) => attempt.failed(fault),
        Err(_) => attempt.error = Some(RequestError::Timeout),
    }
    outcome(attempt.error, attempt.exchange.status())
}

/// What a request means for the session that it belongs to.
fn outcome(error: Option<RequestError>, status: Option<u16>) -> Result<(), SessionOutcome> {
    match (error, status) {
        (Some(RequestError::Timeout), _) => Err(SessionOutcome::Timeout),
        (Some(_), _) => Err(SessionOutcome::Error),
        (None, Some(SERVICE_UNAVAILABLE)) => Err(SessionOutcome::Refused),
        (None, Some(0..400)) => Ok(()),
        (None, _) => Err(SessionOutcome::Error),
    }
}
