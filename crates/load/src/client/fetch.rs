//! [`fetch`]: one request, from a connection to its row in the record.

use std::cell::{Cell, RefCell};
use std::pin::pin;

use record::{RequestError, SessionOutcome};
use traffic::Thinking;
use units::{Span, Time};

use crate::client::attempt::Attempt;
use crate::client::context::ThreadContext;
use crate::client::fault::Fault;
use crate::client::http1::serial::{self, Idle};
use crate::client::http2::{self, Pool};
use crate::client::user::User;

const TOO_MANY_REQUESTS: u16 = 429;
const SERVICE_UNAVAILABLE: u16 = 503;

/// A request that did not go as a session needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failed {
    /// How the session ends.
    pub(crate) outcome: SessionOutcome,
    /// Whether a connection came about.
    pub(crate) connected: bool,
    /// Whether it may go well another time.
    may_retry: bool,
    /// How long the response asked the client to stay away.
    retry_after: Option<Span>,
}

impl Failed {
    /// It cannot even be sent.
    const FOR_GOOD: Self =
        Self { outcome: SessionOutcome::Error, connected: true, may_retry: false, retry_after: None };
}

/// A user with a browser: connections that are kept open between requests.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) user: User,
    idle: Idle,
    pool: Pool,
    /// Requests sent so far.
    pub(crate) requests: Cell<u32>,
    /// Before retries.
    pauses: RefCell<Thinking>,
}

impl Client {
    /// The browser of a user of the plan's class number `class`, who pauses before retries as somebody does who begins then.
    pub(crate) fn new(thread: &ThreadContext, class: usize, session: Option<u64>, begins: Time) -> Self {
        Self {
            user: thread.plan.user(class, session),
            idle: Idle::default(),
            pool: Pool::default(),
            requests: Cell::new(0),
            pauses: RefCell::new(Thinking::of_retries(thread.plan.seed, begins)),
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

/// Asks for the plan's object number `object`, which was due at `intended`, and where that fails again, as often
/// as users do. Each attempt is a request of its own in the record.
pub(crate) async fn fetch_stubbornly(
    thread: &ThreadContext,
    client: &Client,
    object: u32,
    intended: Time,
) -> Result<(), Failed> {
    let mut result = fetch(thread, client, object, intended).await;
    let Some(retry) = &thread.plan.retry else { return result };
    for number in 1..=retry.times {
        let Some(failed) = result.err().filter(|failed| failed.may_retry) else { return result };
        let pause = retry.pause(number, failed.retry_after, &mut client.pauses.borrow_mut());
        let due = thread.now() + pause;
        if !pause.is_zero() {
            thread.until(due).await;
            thread.record_lag(due);
        }
        result = fetch(thread, client, object, due).await;
    }
    result
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
        return Err(Failed::FOR_GOOD);
    };
    let mut attempt = Attempt::new(thread, &client.user, wanted, object, intended);
    if let Err(fault) = attempt.prepare() {
        client.requests.set(client.requests.get() + 1);
        attempt.failed(fault);
        return Err(Failed::FOR_GOOD);
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
    let status = attempt.exchange.status();
    outcome(attempt.error, status.filter(|_| !attempt.exchange.expects_statuses())).map_err(|outcome| {
        let is_passing = status.is_none_or(|status| status == TOO_MANY_REQUESTS || status >= 500);
        Failed {
            outcome,
            connected: attempt.error != Some(RequestError::Connect),
            may_retry: is_passing || outcome == SessionOutcome::Timeout,
            retry_after: attempt.exchange.retry_after(),
        }
    })
}

fn too_many(redirects: u32) -> Fault {
    Fault::Unfit(format!("redirected more than {redirects} times").into())
}

/// What a request means for the session that it belongs to; `status` is that of the response, where its user has not
/// said which are what was asked for.
fn outcome(error: Option<RequestError>, status: Option<u16>) -> Result<(), SessionOutcome> {
    match (error, status) {
        (Some(RequestError::Timeout), _) => Err(SessionOutcome::Timeout),
        (None, Some(SERVICE_UNAVAILABLE)) => Err(SessionOutcome::Refused),
        (None, None | Some(0..400)) => Ok(()),
        (Some(_), _) | (None, Some(_)) => Err(SessionOutcome::Error),
    }
}
