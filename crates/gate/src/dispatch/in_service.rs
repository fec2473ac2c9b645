//! [`InService`]: a request that has its place in the server, until the head of the response is there.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::request::Parts;
use http::{Request, Response, StatusCode};
use units::RequestId;

use crate::admission::permit::Permit;
use crate::clients::client::Client;
use crate::dispatch::dispatcher::Dispatcher;
use crate::dispatch::relay::abandon;
use crate::tunnel::tunnels::Asked;
use crate::upstream::body::Body;
use crate::upstream::bound::{Bound, Owner};
use crate::upstream::failure::Failure;
use crate::upstream::lease::Lease;
use crate::upstream::send::{Asker, send};

/// The head of a response, and what its body still needs.
pub(crate) struct Answer {
    pub(crate) response: Response<()>,
    pub(crate) lease: Lease,
    /// What the connection to the server becomes, and how long it may be idle then.
    pub(crate) tunnel: Option<(Box<Asked>, Duration)>,
}

type Sending = Pin<Box<dyn Future<Output = (Result<Answer, Failure>, Permit)>>>;

/// A request inside the server. Dropped before the response has begun (the client has gone), it
/// is waited for without the client until it has.
pub(crate) struct InService {
    dispatcher: Rc<Dispatcher>,
    id: RequestId,
    sending: Option<Sending>,
}

/// How a request is sent.
pub(crate) struct Sent {
    /// The protocol that the client asks for.
    pub(crate) upgrade: Option<Box<Asked>>,
    pub(crate) tunnel_idle_timeout: Duration,
    pub(crate) client: Rc<Client>,
    /// Whether the client takes interim responses.
    pub(crate) is_informed: bool,
    /// The connection that belongs to it.
    pub(crate) bound: Option<Box<Bound>>,
    /// Whose the connection is when the request is over.
    pub(crate) owner: Owner,
}

/// Sends a request; gives the response with the permit, which must be kept until its body is over.
pub(crate) fn in_service(
    dispatcher: &Rc<Dispatcher>,
    head: Box<Parts>,
    body: Body,
    sent: Sent,
    permit: Permit,
) -> InService {
    let Sent { upgrade, tunnel_idle_timeout, client, is_informed, bound, owner } = sent;
    let progress = body.progress();
    let id = permit.id();
    let sending = Box::pin({
        let dispatcher = Rc::clone(dispatcher);
        let mut request = Some(Request::from_parts(*head, body));
        async move {
            let upgrade_to = upgrade.as_ref().map(|asked| &asked.protocol);
            let asker = Asker { upgrade: upgrade_to, client: &client, is_informed };
            let begun = send(&dispatcher.pool, &mut request, asker, bound).await;
            let answer = begun.map(|(response, mut lease)| {
                progress.answered();
                lease.owner = owner;
                let switches = response.status() == StatusCode::SWITCHING_PROTOCOLS;
                let tunnel = upgrade.filter(|_| switches).map(|asked| (asked, tunnel_idle_timeout));
                Answer { response, lease, tunnel }
            });
            (answer, permit)
        }
    });
    InService { dispatcher: Rc::clone(dispatcher), id, sending: Some(sending) }
}

impl Future for InService {
    type Output = (Result<Answer, Failure>, Permit);

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
        let admission = &self.dispatcher.admission;
        admission.driver.borrow_mut().abort(admission.clock.read(), self.id);
        let dispatcher = Rc::clone(&self.dispatcher);
        self.dispatcher.abandoned.add(Box::pin(async move {
            if let (Ok(Answer { lease, .. }), permit) = sending.await {
                abandon(&dispatcher, lease, permit);
            }
        }));
    }
}
