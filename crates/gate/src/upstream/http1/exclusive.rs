//! [`Exclusive`]: a request that has a connection of HTTP/1.1 to itself, and its response.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Method, Request, Response, StatusCode};
use http_body::{Frame, SizeHint};
use http1::response::{Body as Coming, Limits, Malformed, Message, Next, Piece, Reader};
use hyper::ext::ReasonPhrase;
use tokio::io::{AsyncReadExt as _, AsyncWrite as _, AsyncWriteExt as _};

use crate::clients::client::Client;
use crate::clients::incoming::BrokenOff;
use crate::runtime::open::Open;
use crate::upstream::body::Body;
use crate::upstream::failure::Failure;
use crate::upstream::http1::companion::Companion;
use crate::upstream::http1::idle::Idle;
use crate::upstream::http1::patience::Patience;
use crate::upstream::http1::scratch;
use crate::upstream::http1::sending::{Sending, Stopped, write_head};
use crate::upstream::tls::Transport;

/// A request that has been sent, or is being, and whose response comes.
#[derive(Debug)]
pub(crate) struct Exclusive {
    line: Line,
    open: Open,
    patience: Patience,
    /// What the body is read to.
    room: BytesMut,
    /// Of what was read, what has not been passed on.
    here: Bytes,
    body: Coming,
    /// Whether the server takes another request after this one.
    keep: bool,
    /// What has gone wrong with the response, and is told next.
    broken: Option<io::Error>,
}

/// The connection.
#[derive(Debug)]
enum Line {
    Own(Transport),
    /// On which the rest of the request is being sent.
    Shared(Companion),
}

/// Why there is no response.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// Nothing of the request has been sent.
    Unsent(io::Error),
    /// The connection broke off.
    Lost(io::Error),
    /// It did not come in time.
    Timeout,
    Malformed(Malformed),
    /// The client broke off its request.
    Client(BrokenOff),
}

/// Why there is no response, and the request again if none of it was sent.
pub(crate) type Unsent = (Unanswered, Option<Request<Body>>);

impl From<Unanswered> for Failure {
    fn from(why: Unanswered) -> Self {
        match why {
            Unanswered::Unsent(why) | Unanswered::Lost(why) => Self::Lost(why),
            Unanswered::Timeout => Self::Timeout,
            Unanswered::Malformed(why) => Self::Malformed(why),
            Unanswered::Client(why) => Self::Client(why),
        }
    }
}

/// What is read at once of a body.
const PIECE: usize = 64 * 1024;
/// Of a body whose length is not known.
const UNKNOWN: usize = 16 * 1024;

impl Exclusive {
    /// Sends a request without a body, and waits for the head of its response, for so long at most. The
    /// `client`, if one is given, gets the interim responses before it.
    pub(crate) async fn ask<B>(
        idle: Idle,
        request: &Request<B>,
        longest: Duration,
        limits: Limits,
        client: Option<&Client>,
    ) -> Result<(Response<()>, Box<Self>), Unanswered> {
        let Idle { mut transport, open, mut patience } = idle;
        let message = {
            let asked = pin!(async {
                let mut buffer = scratch::take();
                write_head(&mut buffer, request);
                send(&mut transport, &buffer).await?;
                scratch::give_back(buffer);
                read_head(&mut transport, request.method(), limits, client).await
            });
            patience.within(longest, asked).await.ok_or(Unanswered::Timeout)??
        };
        Ok(Self::of(message, Line::Own(transport), open, patience))
    }

    /// Sends a request with a body, and waits for the head of its response, which may come before all of
    /// the request has gone. What cannot be sent any more keeps no response from being read: a server
    /// that refuses a request says so, and closes.
    pub(crate) async fn send(
        idle: Idle,
        request: Request<Body>,
        limits: Limits,
        client: Option<&Client>,
    ) -> Result<(Response<()>, Box<Self>), Unsent> {
        let Idle { mut transport, open, patience } = idle;
        let method = request.method().clone();
        let mut sending = Sending::new(request);
        let mut reader = Reader::new(limits);
        let mut buffer = BytesMut::new();
        let mut unsent = None;
        let read = poll_fn(|cx| {
            loop {
                if unsent.is_none() {
                    match sending.poll(cx, &mut transport) {
                        Poll::Ready(Err(Stopped::Client(why))) => {
                            return Poll::Ready(Err(Unanswered::Client(why)));
                        }
                        Poll::Ready(Err(Stopped::Server(why))) if sending.is_untouched() => {
                            return Poll::Ready(Err(Unanswered::Unsent(why)));
                        }
                        Poll::Ready(Err(Stopped::Server(why))) => unsent = Some(why),
                        Poll::Ready(Ok(())) | Poll::Pending => {}
                    }
                }
                match reader.read(&mut buffer, &method).map_err(Unanswered::Malformed)? {
                    Some(Next::Final(message)) => return Poll::Ready(Ok(message)),
                    Some(Next::Interim(interim)) if interim.status() == StatusCode::CONTINUE => {
                        sending.go_on();
                        continue;
                    }
                    Some(Next::Interim(interim)) => {
                        inform(client, interim);
                        continue;
                    }
                    None => {}
                }
                let why = match ready!(scratch::poll_read(&mut transport, &mut buffer, cx)) {
                    Ok(0) => io::ErrorKind::UnexpectedEof.into(),
                    Ok(_) => continue,
                    Err(why) => why,
                };
                return Poll::Ready(Err(Unanswered::Lost(unsent.take().unwrap_or(why))));
            }
        })
        .await;
        let mut message = match read {
            Ok(message) => message,
            Err(why @ Unanswered::Unsent(_)) => return Err((why, sending.take_back())),
            Err(why) => return Err((why, None)),
        };
        scratch::give_back(buffer);
        let all_sent = sending.is_over();
        if all_sent || unsent.is_some() || sending.has_not_begun() {
            // Where the server has refused to be sent the body, it waits for it or does not.
            message.keep &= all_sent;
            return Ok(Self::of(message, Line::Own(transport), open, patience));
        }
        let line = Line::Shared(Companion::begin(transport, sending));
        Ok(Self::of(message, line, open, patience))
    }

    fn of(message: Message, line: Line, open: Open, patience: Patience) -> (Response<()>, Box<Self>) {
        let Message { mut response, body, keep, reason, rest } = message;
        if let Some(reason) = reason.and_then(|reason| ReasonPhrase::try_from(reason).ok()) {
            response.extensions_mut().insert(reason);
        }
        let room = BytesMut::new();
        // In a box: it is passed on from each function to the next.
        let exclusive = Self { line, open, patience, room, here: rest, body, keep, broken: None };
        (response, Box::new(exclusive))
    }

    /// The next piece of the response's body.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(why) = self.broken.take() {
            return Poll::Ready(Some(Err(why)));
        }
        let why = loop {
            match self.body.next(&mut self.here) {
                Ok(Piece::Data(data)) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Ok(Piece::Trailers(fields)) => return Poll::Ready(Some(Ok(Frame::trailers(fields)))),
                Ok(Piece::End) => return Poll::Ready(None),
                Ok(Piece::More) => {}
                Err(malformed) => break io::Error::other(malformed),
            }
            match ready!(self.poll_read(cx)) {
                Ok(0) if self.body == Coming::UntilClose => {
                    (self.body, self.keep) = (Coming::Nothing, false);
                }
                Ok(0) => break io::ErrorKind::UnexpectedEof.into(),
                Ok(_) => {}
                Err(why) => break why,
            }
        };
        // After an error nothing goes out any more, so what has come before it goes out first.
        self.broken = Some(why);
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        // One byte more than there should be: a read that fills its room says nothing about
        // whether there is more, and costs another.
        let most = self.body.left().map_or(UNKNOWN, |left| left.min(PIECE as u64) as usize + 1);
        self.room.reserve(most);
        let read = match &mut self.line {
            Line::Own(transport) => pin!(transport.read_buf(&mut self.room)).poll(cx),
            Line::Shared(companion) => companion.poll_read(cx, &mut self.room),
        };
        let Poll::Ready(read) = read else {
            if self.body.left().is_none() {
                // It may be long until there is more, and there may be many such responses.
                self.room = BytesMut::new();
            }
            return Poll::Pending;
        };
        self.here = self.room.split().freeze();
        Poll::Ready(read)
    }

    /// Whether the response's body is over, as far as that is known without reading on.
    pub(crate) fn is_end_stream(&self) -> bool {
        self.body == Coming::Nothing
    }

    /// Whether all that is to come of the response's body has been read.
    pub(crate) fn is_at_hand(&self) -> bool {
        self.body.left().is_some_and(|left| left <= self.here.len() as u64)
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        self.body.left().map_or_else(SizeHint::default, SizeHint::with_exact)
    }

    /// The connection for another request, now that the response is over; none if it cannot carry
    /// one. What the server has said beyond this response makes it unfit for one.
    pub(crate) fn settle(self) -> Option<Idle> {
        let Self { line, open, patience, here, body, keep, .. } = self;
        let fit = keep && body == Coming::Nothing && here.is_empty();
        let (transport, open) = match line {
            Line::Own(transport) => (transport, open),
            Line::Shared(companion) if fit => companion.settle(open)?,
            Line::Shared(_) => return None,
        };
        fit.then_some(Idle { transport, open, patience })
    }

    /// The connection as it is, and what has come after the head of the response, for another
    /// protocol; none where a request is still being sent.
    pub(crate) fn into_transport(self) -> Option<(Transport, Bytes)> {
        match self.line {
            Line::Own(transport) => Some((transport, self.here)),
            Line::Shared(_) => None,
        }
    }
}

/// Tells the client of an interim response, if one is to be told.
fn inform(client: Option<&Client>, interim: Response<()>) {
    if let Some(client) = client {
        client.inform(interim);
    }
}

async fn send(transport: &mut Transport, bytes: &[u8]) -> Result<(), Unanswered> {
    let first = poll_fn(|cx| Pin::new(&mut *transport).poll_write(cx, bytes)).await;
    let sent = first.map_err(Unanswered::Unsent)?;
    if sent < bytes.len() {
        transport.write_all(&bytes[sent..]).await.map_err(Unanswered::Lost)?;
    }
    transport.flush().await.map_err(Unanswered::Lost)
}

/// Reads the head of the response, past those of interim responses (RFC 9110 section 15.2).
async fn read_head(
    transport: &mut Transport,
    method: &Method,
    limits: Limits,
    client: Option<&Client>,
) -> Result<Message, Unanswered> {
    let mut reader = Reader::new(limits);
    let mut buffer = BytesMut::new();
    loop {
        match reader.read(&mut buffer, method).map_err(Unanswered::Malformed)? {
            Some(Next::Final(message)) => {
                scratch::give_back(buffer);
                return Ok(message);
            }
            Some(Next::Interim(interim)) => {
                inform(client, interim);
                continue;
            }
            None => {}
        }
        let read = poll_fn(|cx| scratch::poll_read(transport, &mut buffer, cx)).await;
        if read.map_err(Unanswered::Lost)? == 0 {
            return Err(Unanswered::Lost(io::ErrorKind::UnexpectedEof.into()));
        }
    }
}
