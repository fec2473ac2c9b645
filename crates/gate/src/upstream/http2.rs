//! Connections to servers that speak HTTP/2: each carries many requests.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{Reason, SendStream};
use http::header::CONTENT_LENGTH;
use http::{HeaderValue, Method, Request, Response};
use http_body::{Body as _, Frame, SizeHint};
use http1::response::MAX_INTERIM;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use units::{Span, Time};

use crate::clients::client::Client;
use crate::clients::incoming::BrokenOff;
use crate::http2::pour::pour;
use crate::http2::received::Received;
use crate::upstream::body::{Body, Progress};
use crate::upstream::failure::Failure;
use crate::upstream::last_words::LastWords;
use crate::upstream::outgoing::Outgoing;
use crate::upstream::tls::Transport;

/// Requests that one connection carries at once; fewer if the server says so.
const STREAMS: u32 = 100;
/// What a server may send of one response before the client has taken it.
const WINDOW: u32 = 256 * 1024;
/// A connection on which a request waits, and on which nothing has come for so long, gets no further
/// ones before something does: what the server does with one request may have stopped it reading all of them.
const SILENCE: Span = Span::from_secs(1);
/// What is left of a request whose response is over is given up when nothing of it has moved for so long.
const UNWANTED_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection that several requests use.
#[derive(Debug)]
pub(crate) struct Shared {
    sender: SendRequest<Bytes>,
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
        let unheard = Rc::<Cell<Option<Time>>>::default();
        let heard = Rc::clone(&unheard);
        let transport = LastWords::of(transport, move || heard.set(None));
        let (sender, connection) = Builder::new()
            .enable_push(false)
            .initial_window_size(WINDOW)
            // All streams at their limit do not use it up: a client that takes nothing of its
            // response must not stop the others'.
            .initial_connection_window_size(WINDOW * (STREAMS + 1))
            .max_header_list_size(u32::try_from(max_head).unwrap_or(u32::MAX))
            // None before the server has said how many it takes.
            .initial_max_send_streams(0)
            .handshake(transport)
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
                    let allowed = u32::try_from(connection.max_concurrent_send_streams()).unwrap_or(STREAMS);
                    most.set(allowed.min(STREAMS));
                    if let Some(tell) = tell.take_if(|_| allowed > 0) {
                        // The request has stopped waiting when it took too long.
                        let _ = tell.send(Ok(()));
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
        !self.is_closed() && !self.suspect.get()
    }

    /// Whether it takes no further request: it has ended, or the server has said so.
    fn is_closed(&self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        matches!(self.sender.clone().poll_ready(&mut cx), Poll::Ready(Err(_)))
    }

    pub(crate) fn is_worth_keeping(&self, now: Time, longest: Span) -> bool {
        let streams = self.streams.get() > 0;
        (streams && !self.is_closed()) || (self.is_usable() && now.since(self.last.get()) <= longest)
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

    /// Sends a request and waits for the head of its response. The `client`, if one is given, gets the interim
    /// responses before it.
    ///
    /// # Errors
    /// Why there is no response, and the request again if nothing of it was sent.
    pub(crate) async fn ask(
        &self,
        request: Outgoing,
        client: Option<&Client>,
    ) -> Result<(Response<()>, Answering), (Failure, Option<Outgoing>)> {
        let mut sender = self.connection.sender.clone();
        if let Err(why) = poll_fn(|cx| sender.poll_ready(cx)).await {
            return Err((Failure::Broken(why), Some(request)));
        }
        let (mut head, body) = request.into_parts();
        let has_content = |method: &Method| matches!(*method, Method::POST | Method::PUT | Method::PATCH);
        if let Some(length) =
            body.size_hint().exact().filter(|length| *length > 0 || has_content(&head.method))
        {
            head.headers.entry(CONTENT_LENGTH).or_insert_with(|| HeaderValue::from(length));
        }
        let is_whole = body.is_end_stream();
        let (response, sending) = sender
            .send_request(Request::from_parts(head, ()), is_whole)
            .map_err(|why| (Failure::Broken(why), None))?;
        let upload = Upload::begin(body, sending, is_whole);
        match poll_response(response, client).await {
            Ok(response) => {
                let (head, stream) = response.into_parts();
                let mut answering = Answering { body: Received::new(stream, &head.headers), upload };
                answering.look_for_end();
                Ok((Response::from_parts(head, ()), answering))
            }
            Err(why) => Err((upload.broken_off().map_or(Failure::Broken(why), Failure::Client), None)),
        }
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

/// The head of a response, past those of interim ones.
async fn poll_response(
    response: ResponseFuture,
    client: Option<&Client>,
) -> Result<Response<h2::RecvStream>, h2::Error> {
    let mut response = pin!(response);
    let mut left = MAX_INTERIM;
    poll_fn(|cx| {
        while let Poll::Ready(Some(Ok(interim))) = response.poll_informational(cx) {
            if let Some(client) = client.filter(|_| left > 0) {
                client.inform(interim);
                left -= 1;
            }
        }
        response.as_mut().poll(cx)
    })
    .await
}

/// The body of a response, and what is still being sent of its request.
#[derive(Debug)]
pub(crate) struct Answering {
    body: Received,
    upload: Upload,
}

impl Answering {
    /// The next piece of the body.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = self.body.poll_frame(cx);
        self.look_for_end();
        frame.map(|frame| frame.map(|frame| frame.map_err(io::Error::other)))
    }

    /// The server has said all: the rest of the request it may read or not.
    fn look_for_end(&mut self) {
        if self.is_end_stream() {
            self.upload.let_go_on();
        }
    }

    /// Whether the body is over, as far as that is known without reading on.
    pub(crate) fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    /// How long the body is.
    pub(crate) fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a request on its way. It stops when this is dropped.
#[derive(Debug, Default)]
struct Upload {
    sending: Option<JoinHandle<()>>,
    progress: Progress,
    broken: Rc<RefCell<Option<BrokenOff>>>,
}

impl Upload {
    fn begin(body: Body, sending: SendStream<Bytes>, is_whole: bool) -> Self {
        if is_whole {
            return Self::default();
        }
        let broken = Rc::<RefCell<Option<BrokenOff>>>::default();
        let (noted, progress) = (Rc::clone(&broken), body.progress());
        let sending = tokio::task::spawn_local(async move {
            let mut sending = sending;
            if let Err(why) = pour(body, &mut sending, Bytes::new).await {
                noted.replace(Some(why));
                sending.send_reset(Reason::CANCEL);
            }
        });
        Self { sending: Some(sending), progress, broken }
    }

    /// How the client broke off, if it did.
    fn broken_off(&self) -> Option<BrokenOff> {
        self.broken.take()
    }

    /// Goes on by itself for as long as something moves.
    fn let_go_on(&mut self) {
        let Some(sending) = self.sending.take() else { return };
        let progress = self.progress.clone();
        tokio::task::spawn_local(async move {
            let mut before = None;
            while !sending.is_finished() && before != Some(progress.bytes()) {
                before = Some(progress.bytes());
                sleep(UNWANTED_TIMEOUT).await;
            }
            sending.abort();
        });
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(sending) = &self.sending {
            sending.abort();
        }
    }
}
