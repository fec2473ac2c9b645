//! [`fetch`]: one request, from a connection to its row in the record.

use std::cell::Cell;
use std::pin::pin;

use record::{RequestError, SessionOutcome};
use units::Time;

use crate::client::attempt::Attempt;
use crate::client::context::ThreadContext;
use crate::client::fault::Fault;
use crate::client::http1::serial::{self, Idle};
use crate::client::http2::{self, Pool};
use crate::client::user::User;

const SERVICE_UNAVAILABLE: u16 = 503;

/// A request that did not go as a session needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failed {
    /// How the session ends.
    pub(crate) outcome: SessionOutcome,
    /// Whether a connection came about.
    pub(crate) connected: bool,
}

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
            user: thread.plan.user(class, session),
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
                Err(fault) if attempt.exchange.may_repeat(&fault) => {
                    attempt.exchange.repeat(&fault, attempt.thread.now());
                    let pause = attempt.exchange.pause();
                    if !pause.is_zero() {
                        attempt.thread.until(attempt.thread.now() + pause).await;
                    }
                }
                result => return result,
            }
        }
    }
}

/// Asks for the plan's object number `object`, which was due at `intended`, and records what
/// became of it.
pub(crate) async fn fetch(
    thread: &ThreadContext,
    client: &Client,
    object: u32,
    intended: Time,
) -> Result<(), Failed> {
    let Some(wanted) = thread.plan.objects.get(object as usize) else {
        return Err(Failed { outcome: SessionOutcome::Error, connected: true });
    };
    let mut attempt = Attempt::new(thread, &client.user, wanted, object, intended);
    if let Err(fault) = attempt.prepare() {
        client.requests.set(client.requests.get() + 1);
        attempt.failed(fault);
        return Err(Failed { outcome: SessionOutcome::Error, connected: true });
    }
    let mut left = thread.plan.redirects;
    loop {
        client.requests.set(client.requests.get() + 1);
        let carried = {
            // Only a pointer is handed on: the future is large.
            let carry = pin!(client.carry(&mut attempt));
            thread.in_time(carry).await
        };
        match carried {
            Ok(Ok(())) => attempt.succeeded(),
            Ok(Err(fault)) => attempt.failed(fault),
            Err(_) => attempt.timed_out(),
        }
        match attempt.redirect().filter(|_| attempt.error.is_none()) {
            None => break,
            Some(Err(fault)) => attempt.failed(fault),
            Some(Ok(_)) if left == 0 => attempt.failed(too_many(thread.plan.redirects)),
            Some(Ok(prepared)) => {
                left -= 1;
                attempt = Attempt::redirected(thread, &client.user, (wanted, object), prepared);
                continue;
            }
        }
        break;
    }
    outcome(attempt.error, attempt.exchange.status().filter(|_| !attempt.exchange.expects_statuses()))
}

fn too_many(redirects: u32) -> Fault {
    Fault::Unfit(format!("redirected more than {redirects} times").into())
}

/// What a request means for the session that it belongs to; `status` is that of the response, where its user has not
/// said which are what was asked for.
fn outcome(error: Option<RequestError>, status: Option<u16>) -> Result<(), Failed> {
    let outcome = match (error, status) {
        (Some(RequestError::Timeout), _) => SessionOutcome::Timeout,
        (Some(_), _) => SessionOutcome::Error,
        (None, Some(SERVICE_UNAVAILABLE)) => SessionOutcome::Refused,
        (None, None | Some(0..400)) => return Ok(()),
        (None, Some(_)) => SessionOutcome::Error,
    };
    Err(Failed { outcome, connected: error != Some(RequestError::Connect) })
}
