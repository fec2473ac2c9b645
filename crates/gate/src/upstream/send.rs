//! Sending a dispatched request to the upstream and getting the head of its response.

use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::request::Parts;
use http::{Method, Request, Response};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::time::timeout;
use units::RequestId;

use super::body::Progress;
use super::{Body, Failure, Lease, Pool, relay};
use crate::gate::Gate;
use crate::ticket::Ticket;

/// The head of a response, and what its body still needs.
pub(crate) struct Answer {
    pub(crate) response: Response<Incoming>,
    pub(crate) lease: Lease,
}

/// A request as it goes to the upstream.
type Outgoing = Request<Body>;

type Sending = Pin<Box<dyn Future<Output = (Result<Answer, Failure>, Ticket)>>>;

/// A request inside the server. Dropped before the response has begun (the client has gone), it
/// is seen to its end without the client.
pub(crate) struct InService {
    gate: Rc<Gate>,
    id: RequestId,
    sending: Option<Sending>,
}

/// Sends a request; gives the response with the ticket, which must live until its body is over.
pub(crate) fn in_service(gate: &Rc<Gate>, head: Parts, body: Body, ticket: Ticket) -> InService {
    let id = ticket.id();
    let sending = Box::pin({
        let gate = Rc::clone(gate);
        async move {
            let progress = body.progress();
            let request = Request::from_parts(head, body);
            (patiently(&gate, progress, send(&gate.pool, request)).await, ticket)
        }
    });
    InService { gate: Rc::clone(gate), id, sending: Some(sending) }
}

impl Future for InService {
    type Output = (Result<Answer, Failure>, Ticket);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(sending) = &mut self.sending else { return Poll::Pending };
        let result = sending.as_mut().poll(cx);
        if result.is_ready() {
            self.sending = None;
        }
        result
    }
}

impl Drop for InService {
    fn drop(&mut self) {
        let Some(sending) = self.sending.take() else { return };
        self.gate.core.borrow_mut().abort(self.gate.clock.read(), self.id);
        let gate = Rc::clone(&self.gate);
        self.gate.orphans.adopt(Box::pin(async move {
            if let (Ok(Answer { response, lease }), ticket) = sending.await {
                relay::see_to_the_end(&gate, response.into_body(), lease, ticket).await;
            }
        }));
    }
}

/// A request that may be sent twice: asking again does no harm, and there is no body that would
/// be gone (RFC 9110 section 9.2.2, RFC 9112 section 9.3.1).
fn repeatable(request: &Outgoing) -> bool {
    let idempotent = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS | Method::PUT | Method::DELETE
    );
    idempotent && request.body().is_end_stream()
}

async fn send(pool: &Pool, request: Outgoing) -> Result<Answer, Failure> {
    let Some(mut lease) = pool.reuse().await else { return send_over(pool.connect().await?, request).await };
    // The server may close a connection at the moment it is used again. That says nothing about
    // the request, so it gets a second chance over a new connection.
    let spare = repeatable(&request).then(|| copy(&request));
    match lease.sender.try_send_request(request).await {
        Ok(response) => answer(response, lease),
        Err(mut failed) => {
            let unsent = failed.take_message();
            let error = failed.into_error();
            // A response that cannot be understood is an answer; asking again would get another.
            let again = match (unsent, spare) {
                (Some(request), _) => request,
                (None, Some(spare)) if !error.is_parse() && !error.is_user() => spare,
                _ => return Err(Failure::Broken(error)),
            };
            send_over(pool.connect().await?, again).await
        }
    }
}

/// Waits for a response; the time for it begins when the last piece of the request has gone.
async fn patiently(
    gate: &Gate,
    progress: Progress,
    sending: impl Future<Output = Result<Answer, Failure>>,
) -> Result<Answer, Failure> {
    let mut sending = pin!(sending);
    let longest = gate.pool.settings().timeout;
    let mut wait = longest;
    loop {
        if let Ok(answer) = timeout(wait, &mut sending).await {
            return answer;
        }
        let quiet = Duration::from(gate.clock.read().since(progress.last()));
        match longest.checked_sub(quiet) {
            Some(rest) if !rest.is_zero() => wait = rest,
            _ => return Err(Failure::Timeout),
        }
    }
}

fn copy(request: &Outgoing) -> Outgoing {
    let mut copy = Request::new(Body::EMPTY);
    request.method().clone_into(copy.method_mut());
    request.uri().clone_into(copy.uri_mut());
    request.headers().clone_into(copy.headers_mut());
    copy
}

fn answer(response: Response<Incoming>, lease: Lease) -> Result<Answer, Failure> {
    // The gate asked for no upgrade, so 101 answers nothing (RFC 9110 section 15.2.2).
    if response.status().is_informational() {
        return Err(Failure::Upgrade);
    }
    Ok(Answer { response, lease })
}

async fn send_over(mut lease: Lease, request: Outgoing) -> Result<Answer, Failure> {
    let response = lease.sender.send_request(request).await.map_err(Failure::Broken)?;
    answer(response, lease)
}
