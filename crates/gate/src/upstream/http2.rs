//! Connections to servers that speak HTTP/2: each carries many requests.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Waker;

use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use tokio::sync::oneshot;
use units::{Span, Time};

use crate::runtime::notify::keep_waker;
use crate::upstream::body::Body;
use crate::upstream::failure::Failure;
use crate::upstream::last_words::LastWords;
use crate::upstream::tls::Transport;

/// Requests that one connection carries at once; fewer if the server says so.
const STREAMS: u32 = 100;
/// What a server may send of one response before the client has taken it.
const WINDOW: u32 = 256 * 1024;
/// A connection on which a request waits, and on which nothing has come for so long, gets no further
/// ones before something does: what the server does with one request may have stopped it reading all of them.
const SILENCE: Span = Span::from_secs(1);

/// A connection that several requests use.
#[derive(Debug)]
pub(crate) struct Shared {
    sender: SendRequest<Body>,
    streams: Cell<u32>,
    /// How many there may be, as the server says.
    most: Rc<Cell<u32>>,
    /// When it last had a request.
    last: Cell<Time>,
    /// It may be dead: a request has timed out on it, or the server may have stopped reading because of one.
    suspect: Cell<bool>,
    /// When the first request began since something came last.
    unheard: Rc<Cell<Option<Time>>>,
}

/// How a request uses its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// With others.
    Shared,
    /// By itself, until the server has taken it. One that does not take a body further may read nothing
    /// else meanwhile, and none of the other requests on the connection.
    Alone,
}

/// A request's part of a connection.
#[derive(Debug)]
pub(crate) struct Stream {
    connection: Rc<Shared>,
}

impl Shared {
    /// Speaks HTTP/2 over `transport`, with heads of responses of so many bytes at most; `over` is dropped
    /// when the connection is.
    pub(crate) async fn open(
        transport: Transport,
        max_head: usize,
        now: Time,
        over: impl Sized + 'static,
    ) -> Result<Rc<Self>, Failure> {
        let tasks = Tasks::default();
        let unheard = Rc::<Cell<Option<Time>>>::default();
        let heard = Rc::clone(&unheard);
        let transport = LastWords::of(transport, move || heard.set(None));
        let (sender, connection) = Builder::new(tasks.clone())
            .initial_stream_window_size(WINDOW)
            // All streams at their limit do not use it up: a client that takes nothing of its
            // response must not stop the others'.
            .initial_connection_window_size(WINDOW * (STREAMS + 1))
            .max_header_list_size(u32::try_from(max_head).unwrap_or(u32::MAX))
            // None before the server has said how many it takes.
            .initial_max_send_streams(0)
            .handshake(TokioIo::new(transport))
            .await
            .map_err(Failure::Broken)?;
        let most = Rc::new(Cell::new(0));
        let (tell, told) = oneshot::channel();
        tokio::task::spawn_local({
            let most = Rc::clone(&most);
            async move {
                let (mut connection, mut tell) = (connection, Some(tell));
                let ended = poll_fn(|cx| {
                    let ended = Pin::new(&mut connection).poll(cx);
                    let allowed = u32::try_from(connection.current_max_send_streams()).unwrap_or(STREAMS);
                    most.set(allowed.min(STREAMS));
                    match tell.take_if(|_| allowed > 0) {
                        // The request has stopped waiting when it took too long.
                        Some(tell) => drop(tell.send(Ok(()))),
                        None if tell.is_some() => keep_waker(&tasks.0, cx.waker()),
                        None => {}
                    }
                    ended
                })
                .await;
                // What is wrong with it later, the requests that use it are told.
                if let (Some(tell), Err(why)) = (tell, ended) {
                    let _ = tell.send(Err(why));
                }
                drop(over);
            }
        });
        match told.await {
            Ok(Err(why)) => return Err(Failure::Broken(why)),
            Err(_) => return Err(Failure::Connect(io::ErrorKind::ConnectionReset.into())),
            Ok(Ok(())) => {}
        }
        Ok(Rc::new(Self {
            sender,
            streams: Cell::new(0),
            most,
            last: Cell::new(now),
            suspect: Cell::new(false),
            unheard,
        }))
    }

    /// The connection of `all` with the fewest requests, if one takes another.
    pub(crate) fn best(all: &[Rc<Self>], how: Use, now: Time) -> Option<Stream> {
        let takes = |shared: &&Rc<Self>| shared.takes(how, now);
        let best = all.iter().filter(takes).min_by_key(|shared| shared.streams.get())?;
        Some(Stream::on(best, how, now))
    }

    fn takes(&self, how: Use, now: Time) -> bool {
        let most = match how {
            Use::Shared => self.most.get(),
            Use::Alone => self.most.get().min(1),
        };
        self.is_usable() && self.streams.get() < most && !self.is_silent(now)
    }

    fn is_silent(&self, now: Time) -> bool {
        self.streams.get() > 0 && self.unheard.get().is_some_and(|since| now.since(since) > SILENCE)
    }

    fn is_usable(&self) -> bool {
        !self.sender.is_closed() && !self.suspect.get()
    }

    pub(crate) fn is_worth_keeping(&self, now: Time, longest: Span) -> bool {
        let streams = self.streams.get() > 0;
        (streams && !self.sender.is_closed()) || (self.is_usable() && now.since(self.last.get()) <= longest)
    }
}

impl Stream {
    pub(crate) fn on(connection: &Rc<Shared>, how: Use, now: Time) -> Self {
        let unheard = connection.unheard.get().filter(|_| connection.streams.get() > 0);
        connection.unheard.set(unheard.or(Some(now)));
        connection.streams.set(connection.streams.get() + 1);
        connection.suspect.set(how == Use::Alone);
        Self { connection: Rc::clone(connection) }
    }

    pub(crate) fn sender(&self) -> SendRequest<Body> {
        self.connection.sender.clone()
    }

    /// Its connection gets no further requests.
    pub(crate) fn distrust(&self) {
        self.connection.suspect.set(true);
    }

    /// The server has taken all of its request and answered: others may have the connection, too.
    pub(crate) fn taken(&self) {
        self.connection.suspect.set(false);
    }

    /// Its request was over at `now`.
    pub(crate) fn over(self, now: Time) {
        self.connection.last.set(now);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.connection.streams.set(self.connection.streams.get() - 1);
    }
}

/// Runs a connection's tasks on this thread. One of them reads what the server says of itself, and
/// the task that waits for that is woken when they move.
#[derive(Debug, Clone, Default)]
struct Tasks(Rc<RefCell<Option<Waker>>>);

impl<F> Executor<F> for Tasks
where
    F: Future<Output = ()> + 'static,
{
    fn execute(&self, task: F) {
        let waiting = Rc::clone(&self.0);
        tokio::task::spawn_local(async move {
            let mut task = pin!(task);
            poll_fn(|cx| {
                let done = task.as_mut().poll(cx);
                if let Some(waker) = waiting.take() {
                    waker.wake();
                }
                done
            })
            .await;
        });
    }
}
