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
use crate::dispatch::relay::see_to_the_end;
use crate::tunnel::tunnels::Asked;
use crate::upstream::body::Body;
use crate::upstream::failure::Failure;
use crate::upstream::lease::Lease;
use crate::upstream::send::{Asker, send};

/// The head of a response, and what its body still needs.
pub(crate) struct Answer {
    pub(crate) response: Response<()>,
    pub(crate) lease: Lease,
    /// What the connection to the server becomes, and how long it may be idle then.
    pub(crate) tunnel: Option<(Asked, Duration)>,
}

type Sending = Pin<Box<dyn Future<Output = (Result<Answer, Failure>, Permit)>>>;

/// A request inside the server. Dropped before the response has begun (the client has gone), it
/// is seen to its end without the client.
pub(crate) struct InService {
    dispatcher: Rc<Dispatcher>,
    id: RequestId,
    sending: Option<Sending>,
}

/// Sends a request; gives the response with the permit, which must be kept until its body is over.
/// `upgrade` is the protocol that the client asks for; the `client` is given if it takes interim responses.
pub(crate) fn in_service(
    dispatcher: &Rc<Dispatcher>,
    tunnel_idle_timeout: Duration,
    head: Box<Parts>,
    body: Body,
    upgrade: Option<Asked>,
    client: Option<Rc<Client>>,
    permit: Permit,
) -> InService {
    let id = permit.id();
    let sending = Box::pin({
        let dispatcher = Rc::clone(dispatcher);
        async move {
            let request = Some(Request::from_parts(*head, body));
            let asker =
                Asker { upgrade: upgrade.as_ref().map(|asked| &asked.protocol), client: client.as_deref() };
            let begun = send(&dispatcher.pool, request, asker).await;
            let answer = begun.map(|(response, lease)| {
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
                see_to_the_end(&dispatcher, lease, permit).await;
            }
        }));
    }
}
