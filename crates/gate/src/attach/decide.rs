//! Deciding about a request that is still in its socket.

use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use http::HeaderValue;
use http::request::Parts;
use policy::connections::Order;

use super::attached::Attached;
use super::served::Inside;
use super::socket::Socket;
use crate::admission::decision::{Caller, DecisionDetails};
use crate::admission::driver::Decision;
use crate::admission::permit::Permit;
use crate::clients::client::Client;
use crate::dispatch::session::{Cookie, as_asked, caller, current_session};
use crate::observe::access_log::account::Account;
use crate::upstream::body::Progress;

/// What was decided.
pub(super) enum Decided {
    /// It has a place.
    Dispatched(Admitted),
    /// It has none.
    Refused(Refusal),
    /// The client has gone, or is to go.
    Gone,
}

/// A request with its place.
pub(super) struct Admitted {
    pub(super) inside: Inside,
    /// What its session is told.
    pub(super) cookie: Option<HeaderValue>,
    pub(super) caller: Caller,
}

/// A request that is refused.
pub(super) struct Refusal {
    pub(super) head: Option<Box<Parts>>,
    pub(super) details: DecisionDetails,
    pub(super) account: Account,
    pub(super) is_known: bool,
}

/// Asks the policy about a request, for as long as its client is there; `told` is who was told on the same connection which
/// session it has, whether or not it says so.
pub(super) async fn decide(
    attached: &Attached,
    (head, client, socket): (Box<Parts>, &Rc<Client>, &mut Socket),
    told: Caller,
) -> Decided {
    let proxy = &attached.proxy;
    let config = proxy.config();
    let from = config.settings.forwarding.client(&head.headers, client.peer().hop());
    let mut account =
        Account::begin(&proxy.access_log, &proxy.clock, &head, from, &config.settings.telemetry);
    let current = current_session(proxy, &config, &head, from);
    let (cookie, caller, asked) = match (&current, told) {
        (None, Caller::Known(_)) => (Cookie::Never, told, as_asked(&config, &head, from, told)),
        _ => {
            let cookie = Cookie::of(&config, &head, current.as_ref());
            let caller = caller(proxy, &config, &head, current.as_ref());
            (cookie, caller, caller)
        }
    };
    account.arrived(Progress::default(), current.as_ref().map(|current| current.session.id));
    let mut permit = Permit::arrive(proxy.admission(), head, (client.id(), from), asked);
    attached.publish();
    match while_there(&mut permit, client, socket).await {
        None => {
            drop(permit);
            attached.publish();
            Decided::Gone
        }
        Some(Decision::Refuse(head, details)) => {
            account.decided(details);
            drop(permit);
            attached.publish();
            Decided::Refused(Refusal { head, details, account, is_known: current.is_some() })
        }
        Some(Decision::Dispatch(_, details)) => {
            account.decided(details);
            client.dispatched(details.class);
            attached.publish();
            let known = current.as_ref().map(|current| current.known(proxy.clock.last()));
            let raises = current.as_ref().map(|current| current.raises.clone()).unwrap_or_default();
            let session = match cookie {
                Cookie::Never | Cookie::Written => None,
                Cookie::Wanted(_) => Some(current.unwrap_or_else(|| {
                    let begun = proxy.begin_session(details.class, caller.visit());
                    account.begins(begun.session.id);
                    permit.begins(begun.session.id);
                    begun
                })),
            };
            let known = known.or_else(|| Some(session.as_ref()?.known(proxy.clock.last())));
            let cookie = session
                .and_then(|session| config.sessions.cookie(session.session, false, proxy.clock.last()));
            let caller = known.map_or(caller, Caller::Known);
            Decided::Dispatched(Admitted { inside: Inside { permit, account, raises }, cookie, caller })
        }
    }
}

/// The decision; nothing if the client goes before it is made, or is to go.
async fn while_there(permit: &mut Permit, client: &Client, socket: &mut Socket) -> Option<Decision> {
    let (mut decision, mut gone) = (pin!(permit.decision()), pin!(socket.gone()));
    std::future::poll_fn(|cx| {
        if let Poll::Ready(decision) = decision.as_mut().poll(cx) {
            return Poll::Ready(Some(decision));
        }
        let is_told = matches!(client.poll_order(cx), Order::Timeout | Order::Close);
        if is_told || gone.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        Poll::Pending
    })
    .await
}
