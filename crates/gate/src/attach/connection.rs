//! A connection until it is the server's, and a request on one that has to wait.

use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use handoff::slot::State;
use http::HeaderValue;
use policy::connections::{Order, Phase};
use rustix::fs::OFlags;
use tokio::time::timeout;

use super::attached::Attached;
use super::decide::{Admitted, Decided, decide};
use super::group::Group;
use super::peek::{self, First};
use super::refuse::refuse;
use super::served::{Inside, Served};
use super::socket::Socket;
use crate::admission::decision::Caller;
use crate::clients::client::Client;
use crate::downstream::accept::Registration;

/// Takes a connection in that was accepted.
pub(super) async fn connection(
    attached: Rc<Attached>,
    group: Rc<Group>,
    mut socket: Socket,
    peer: SocketAddr,
) {
    attached.downstream.accepted.count(false);
    let registration = Registration::new(&attached.downstream, peer.ip());
    let client = Rc::clone(&registration.client);
    client.enter(Phase::New, attached.proxy.clock.last());
    let limit = attached.proxy.config().settings.client.header_timeout;
    let Ok(first) = timeout(limit, socket.first()).await else { return };
    begin(&attached, &group, (socket, client, first), (peer, Caller::Stranger)).await;
}

/// Waits for the next request of a connection that a process has given back.
pub(super) async fn kept(
    attached: Rc<Attached>,
    group: Rc<Group>,
    mut socket: Socket,
    (peer, caller): (SocketAddr, Caller),
) {
    let registration = Registration::new(&attached.downstream, peer.ip());
    let client = Rc::clone(&registration.client);
    client.enter(Phase::Idle, attached.proxy.clock.last());
    let config = attached.proxy.config();
    let limits = &config.settings.client;
    let ends = |order| matches!(order, Order::Finish | Order::Timeout | Order::Close);
    let stirs = unless_told(&client, ends, timeout(limits.idle_timeout, socket.stirs())).await;
    if !matches!(stirs, Some(Ok(true))) {
        return;
    }
    client.enter(Phase::Head, attached.proxy.clock.last());
    let ends = |order| matches!(order, Order::Timeout | Order::Close);
    let first = unless_told(&client, ends, timeout(limits.header_timeout, socket.first())).await;
    let Some(Ok(first)) = first else { return };
    begin(&attached, &group, (socket, client, first), (peer, caller)).await;
}

/// What comes of something, unless a client is to be told that it is over before.
async fn unless_told<T>(
    client: &Client,
    ends: impl Fn(Order) -> bool,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if ends(client.poll_order(cx)) => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
    .await
}

/// A request is there on a connection that no process has.
async fn begin(
    attached: &Rc<Attached>,
    group: &Rc<Group>,
    (mut socket, client, first): (Socket, Rc<Client>, First),
    (peer, caller): (SocketAddr, Caller),
) {
    let admitted = match first {
        First::Gone => return,
        First::Opaque => {
            attached.say_opaque(group);
            return hand_over(attached, group, socket, (peer, None)).await;
        }
        First::Request(head) => {
            client.enter(Phase::Busy, attached.proxy.clock.last());
            // Which places are taken is known before the next is given away.
            attached.read();
            match decide(attached, (head, &client, &mut socket), caller).await {
                Decided::Gone => return,
                Decided::Refused(refusal) => {
                    let Some((stream, _socket)) = socket.into_stream() else { return };
                    return refuse(attached, stream, client, refusal).await;
                }
                Decided::Dispatched(admitted) => admitted,
            }
        }
    };
    hand_over(attached, group, socket, (peer, Some(admitted))).await;
}

/// Gives a connection to a process that wants it. One whose protocol is not followed has no place.
async fn hand_over(
    attached: &Rc<Attached>,
    group: &Rc<Group>,
    socket: Socket,
    (peer, admitted): (SocketAddr, Option<Admitted>),
) {
    let is_opaque = admitted.is_none();
    let (inside, caller, cookie) = match admitted {
        Some(Admitted { inside, cookie, caller }) => (Some(inside), caller, cookie),
        None => (None, Caller::Stranger, None),
    };
    let served = Served::new(peer, caller, inside);
    let Ok(slot) = attached.slots.borrow_mut().add(served) else { return };
    let words = &attached.memory().slots[slot as usize];
    words.set(State::Busy);
    words.set_sleeps(false);
    words.set_may_begin(true);
    words.set_line(&cookie.map(line).unwrap_or_default());
    let held = Held { attached: Rc::clone(attached), slot: Some(slot) };
    if attached.give_now(group, slot, is_opaque, &socket) {
        return held.given();
    }
    give(attached, group, (slot, is_opaque), socket, held).await;
}

/// Gives a connection to a process as soon as one wants it.
async fn give(
    attached: &Rc<Attached>,
    group: &Rc<Group>,
    (slot, is_opaque): (u32, bool),
    mut socket: Socket,
    held: Held,
) {
    // The one descriptor is given and waited for.
    let kept = socket.keeping();
    let given = match socket.descriptor().map(|socket| socket.try_clone_to_owned()) {
        Some(Ok(given)) => Socket::of_process(given, attached.keeper),
        // There is no descriptor to be had: whether the client leaves is not seen.
        Some(Err(_)) => {
            if let Some(given) = socket.descriptor() {
                attached.give(group, slot, is_opaque, (given, kept)).await;
                held.given();
            }
            return;
        }
        None => return,
    };
    let Some(given) = given.descriptor() else { return };
    tokio::select! {
        () = attached.give(group, slot, is_opaque, (given, kept)) => held.given(),
        // It has its place while no process wants it, and gives it back.
        () = socket.gone() => {}
    }
}

/// Gives a connection again that a process was given and has not taken.
pub(super) async fn give_again(attached: Rc<Attached>, group: Rc<Group>, slot: (u32, bool), socket: Socket) {
    let held = Held { attached: Rc::clone(&attached), slot: Some(slot.0) };
    give(&attached, &group, slot, socket, held).await;
}

/// `Set-Cookie` as a line.
pub(super) fn line(cookie: HeaderValue) -> Vec<u8> {
    [b"Set-Cookie: ", cookie.as_bytes(), b"\r\n"].concat()
}

/// A slot that no process has yet; its request is over when it is dropped before.
struct Held {
    attached: Rc<Attached>,
    slot: Option<u32>,
}

impl Held {
    fn given(mut self) {
        self.slot = None;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.attached.forget(slot);
        }
    }
}

/// Decides about a request on a kept connection, whose socket the process has sent along.
pub(super) async fn parked(attached: Rc<Attached>, slot: u32, mut socket: Socket) {
    /// A client that is asked about has sent something; not all of its head need be there.
    const HEAD: Duration = Duration::from_secs(10);
    let words = &attached.memory().slots[slot as usize];
    let whose = attached.slots.borrow_mut().get(slot).map(|served| (served.peer.ip(), served.caller));
    // A thread of the server that reads from it waits for the gate now, and has the flags as they were afterwards.
    let descriptor = socket.descriptor();
    let flags =
        descriptor.and_then(|socket| rustix::fs::fcntl_getfl(socket).ok()).unwrap_or(OFlags::NONBLOCK);
    let is_set = flags.contains(OFlags::NONBLOCK)
        || descriptor.is_some_and(|socket| rustix::fs::fcntl_setfl(socket, flags | OFlags::NONBLOCK).is_ok());
    let (Some((address, known)), true) = (whose, is_set) else {
        return attached.resume(slot, State::Idle);
    };
    let registration = Registration::new(&attached.downstream, address);
    let client = Rc::clone(&registration.client);
    client.enter(Phase::Busy, attached.proxy.clock.last());
    let head = match timeout(HEAD, socket.first()).await {
        Ok(First::Request(head)) => head,
        Ok(First::Gone) => return attached.resume(slot, State::Refused),
        // Whatever it is, it waits as others do.
        Ok(First::Opaque) => peek::cut(b""),
        // A head that does not come is not waited for; what the server would say to it is not known.
        Err(_) => {
            end(socket);
            return attached.resume(slot, State::Refused);
        }
    };
    match decide(&attached, (head, &client, &mut socket), known).await {
        Decided::Dispatched(Admitted { inside, cookie, caller }) => {
            words.set_line(&cookie.map(line).unwrap_or_default());
            words.set_may_begin(true);
            go_on(&attached, slot, inside, caller);
            // Until here the gate has the socket as well, and the end that the server gives the connection would not be seen.
            if let Some(socket) = socket.descriptor().filter(|_| !flags.contains(OFlags::NONBLOCK)) {
                let _ = rustix::fs::fcntl_setfl(socket, flags);
            }
            drop(socket);
            attached.resume(slot, State::Busy);
        }
        Decided::Gone => attached.resume(slot, State::Refused),
        Decided::Refused(refusal) => {
            let ends = socket.descriptor().and_then(|socket| rustix::io::dup(socket).ok());
            let (Some(ends), Some((stream, _socket))) = (ends, socket.into_stream()) else {
                return attached.resume(slot, State::Refused);
            };
            let ends = Socket::of_process(ends, attached.keeper);
            refuse(&attached, stream, client, refusal).await;
            // The server learns of it by the end of the connection.
            end(ends);
            attached.resume(slot, State::Refused);
        }
    }
}

/// Ends a connection, also for the process that has it.
fn end(socket: Socket) {
    // One that is over already needs no end.
    let _ = socket.descriptor().map(|socket| rustix::net::shutdown(socket, rustix::net::Shutdown::Both));
}

fn go_on(attached: &Attached, slot: u32, inside: Inside, caller: Caller) {
    if let Some(served) = attached.slots.borrow_mut().get(slot) {
        served.inside = Some(inside);
        served.caller = caller;
    }
}
