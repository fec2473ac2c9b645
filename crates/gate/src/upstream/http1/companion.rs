//! [`Companion`]: sends the rest of a request while its response comes.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::AsyncReadExt as _;
use tokio::time::{Instant, sleep};

use crate::runtime::notify::keep_waker;
use crate::runtime::open::Open;
use crate::upstream::http1::sending::Sending;
use crate::upstream::tls::Transport;

/// Sends the rest of a request while its response comes, in a task of its own: the client may send all
/// of its request before it takes any of the response. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Companion(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    transport: RefCell<Option<Transport>>,
    sending: RefCell<Option<Sending>>,
    open: RefCell<Option<Open>>,
    /// What is to become of the rest of the request.
    rest: Cell<Rest>,
    /// Whether all of the request was sent.
    all_sent: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Sent,
    /// As long as the server goes on taking it: the response is over.
    SentWhileTaken,
    Dropped,
}

/// A server that has answered, and for so long takes nothing of what is left of the request, will not
/// read it.
const UNWANTED_TIMEOUT: Duration = Duration::from_secs(5);

impl Companion {
    pub(super) fn begin(transport: Transport, sending: Sending) -> Self {
        let shared = Rc::new(Shared {
            transport: RefCell::new(Some(transport)),
            sending: RefCell::new(Some(sending)),
            open: RefCell::default(),
            rest: Cell::new(Rest::Sent),
            all_sent: Cell::new(false),
            waker: RefCell::default(),
        });
        tokio::task::spawn_local({
            let shared = Rc::clone(&shared);
            async move { shared.send().await }
        });
        Self(shared)
    }

    /// Reads what comes of the response.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, to: &mut BytesMut) -> Poll<io::Result<usize>> {
        let mut transport = self.0.transport.borrow_mut();
        let Some(transport) = transport.as_mut() else { return Poll::Ready(Ok(0)) };
        let read = pin!(transport.read_buf(to)).poll(cx);
        // TLS may have something to write on its own account, for which only one task is woken.
        self.0.wake();
        read
    }

    /// The connection, now that the response is over and if all of the request was sent. If not, the
    /// server gets the rest for as long as it takes it; then the connection is closed.
    pub(super) fn settle(self, open: Open) -> Option<(Transport, Open)> {
        let Self(shared) = &self;
        if shared.poll_send(&mut Context::from_waker(Waker::noop())).is_pending() {
            shared.open.replace(Some(open));
            shared.rest.set(Rest::SentWhileTaken);
            shared.wake();
            return None;
        }
        let transport = shared.transport.take().filter(|_| shared.all_sent.get());
        transport.map(|transport| (transport, open))
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        if self.0.rest.get() == Rest::Sent {
            self.0.rest.set(Rest::Dropped);
            self.0.wake();
        }
    }
}

impl Shared {
    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    async fn send(&self) {
        let mut unwanted = pin!(sleep(UNWANTED_TIMEOUT));
        let mut last = None;
        poll_fn(|cx| {
            keep_waker(&self.waker, cx.waker());
            let rest = self.rest.get();
            if rest == Rest::Dropped {
                return Poll::Ready(());
            }
            if self.poll_send(cx).is_ready() {
                return Poll::Ready(());
            }
            let taken = self.sending.borrow().as_ref().and_then(Sending::untaken);
            if rest == Rest::Sent || taken.is_none() {
                // Either the response is not over, or it is the client that sends nothing.
                return Poll::Pending;
            }
            if last != taken {
                last = taken;
                unwanted.as_mut().reset(Instant::now() + UNWANTED_TIMEOUT);
            }
            unwanted.as_mut().poll(cx)
        })
        .await;
        self.sending.take();
        if self.rest.get() != Rest::Sent {
            self.transport.take();
        }
    }

    /// Sends on, until all is sent or nothing more can be.
    fn poll_send(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut slot = self.sending.borrow_mut();
        let mut transport = self.transport.borrow_mut();
        let (Some(sending), Some(transport)) = (slot.as_mut(), transport.as_mut()) else {
            return Poll::Ready(());
        };
        let sent = ready!(sending.poll(cx, transport));
        self.all_sent.set(sent.is_ok());
        *slot = None;
        Poll::Ready(())
    }
}
