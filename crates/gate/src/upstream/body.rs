//! [`Body`]: the body of a request on its way from the client to the upstream.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http1::headers::hop_by_hop;
use policy::connections::Awaited;
use units::Time;

use crate::clients::client::Client;
use crate::clients::incoming::{BrokenOff, Incoming};
use crate::runtime::clock::Clock;
use crate::runtime::memory::Memory;

/// The body of a request.
#[derive(Debug)]
pub(crate) struct Body(Option<Upload>);

#[derive(Debug)]
struct Upload {
    /// What has come already.
    first: VecDeque<Frame<Bytes>>,
    /// None when all has come.
    incoming: Option<Incoming>,
    client: Rc<Client>,
    clock: Rc<Clock>,
    memory: Memory,
    progress: Progress,
    /// Called when all has come, or nothing more will.
    when_over: WhenOver,
}

/// What is to be done when a body is over.
#[derive(Default)]
struct WhenOver(Option<Box<dyn FnOnce()>>);

impl fmt::Debug for WhenOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WhenOver").finish_non_exhaustive()
    }
}

fn length(frame: &Frame<Bytes>) -> usize {
    frame.data_ref().map_or(0, Bytes::len)
}

/// How a body gets on, for those who wait for what follows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Option<Rc<Moved>>);

#[derive(Debug, Default)]
struct Moved {
    last: Cell<Time>,
    bytes: Cell<u64>,
    over: Cell<bool>,
    answered: Cell<bool>,
    /// Whether the next piece has been asked for and has not come.
    wanting: Cell<bool>,
}

impl Progress {
    /// When a piece last moved; never, for an empty body.
    pub(crate) fn last(&self) -> Time {
        self.0.as_ref().map_or(Time::ZERO, |moved| moved.last.get())
    }

    /// How much has come.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |moved| moved.bytes.get())
    }

    /// Whether all of it has come.
    pub(crate) fn is_over(&self) -> bool {
        self.0.as_ref().is_none_or(|moved| moved.over.get())
    }

    /// Whether it is the client that is waited for, and not the server, which would take more.
    pub(crate) fn is_wanting(&self) -> bool {
        self.0.as_ref().is_some_and(|moved| moved.wanting.get())
    }

    /// The response has begun: the rest of the body is not waited for.
    pub(crate) fn answered(&self) {
        if let Some(moved) = &self.0 {
            moved.answered.set(true);
        }
    }

    /// Whether somebody waits for the rest of it.
    fn is_awaited(&self) -> bool {
        self.0.as_ref().is_some_and(|moved| !moved.answered.get())
    }

    fn wants(&self, more: bool) {
        if let Some(moved) = &self.0 {
            moved.wanting.set(more);
        }
    }

    fn moved(&self, now: Time, bytes: usize, over: bool) {
        if let Some(moved) = &self.0 {
            moved.last.set(now);
            moved.bytes.set(moved.bytes.get() + bytes as u64);
            moved.over.set(over);
        }
    }
}

/// What is read of a body before its request asks for a place: most bodies as a whole. A client
/// that sends slowly then holds a connection and not a place in the server.
const FIRST: u64 = 32 * 1024;

impl Body {
    pub(crate) const EMPTY: Self = Self(None);

    pub(crate) fn new(incoming: Incoming, client: &Rc<Client>, clock: &Rc<Clock>, memory: &Memory) -> Self {
        if incoming.is_end_stream() {
            return Self::EMPTY;
        }
        let (client, clock, memory) = (Rc::clone(client), Rc::clone(clock), Rc::clone(memory));
        let (incoming, progress) = (Some(incoming), Progress(Some(Rc::default())));
        let (first, when_over) = (VecDeque::new(), WhenOver::default());
        Self(Some(Upload { first, incoming, client, clock, memory, progress, when_over }))
    }

    /// Reads the first of it, or goes on to.
    ///
    /// # Errors
    /// When the client breaks off.
    pub(crate) async fn fetch_first(&mut self) -> Result<(), BrokenOff> {
        let Some(upload) = &mut self.0 else { return Ok(()) };
        let mut left = FIRST.saturating_sub(upload.first.iter().map(length).sum::<usize>() as u64);
        while left > 0 && upload.incoming.is_some() && upload.memory.borrow().may_read_ahead() {
            let next = std::future::poll_fn(|cx| upload.poll_incoming(cx)).await;
            let Some(frame) = next.transpose()? else { break };
            left = left.saturating_sub(length(&frame) as u64);
            upload.memory.borrow_mut().read_ahead(length(&frame) as u64);
            upload.first.push_back(frame);
        }
        Ok(())
    }

    /// Its length, if all of it is at hand and no trailers follow.
    pub(crate) fn whole_length(&self) -> Option<u64> {
        let Some(upload) = &self.0 else { return Some(0) };
        let whole = upload.incoming.is_none() && upload.first.iter().all(Frame::is_data);
        whole.then(|| upload.first.iter().map(length).sum::<usize>() as u64)
    }

    /// Whether all of it has come.
    pub(crate) fn is_at_hand(&self) -> bool {
        self.0.as_ref().is_none_or(|upload| upload.incoming.is_none())
    }

    /// Puts a piece back that was taken from it and not sent.
    pub(crate) fn put_back(&mut self, frame: Frame<Bytes>) {
        if let Some(upload) = &mut self.0 {
            upload.memory.borrow_mut().read_ahead(length(&frame) as u64);
            upload.first.push_front(frame);
        }
    }

    /// How it gets on.
    pub(crate) fn progress(&self) -> Progress {
        self.0.as_ref().map_or_else(Progress::default, |upload| upload.progress.clone())
    }

    /// The same body once more, if all of it is at hand.
    pub(crate) fn copy(&self) -> Option<Self> {
        let Some(upload) = &self.0 else { return Some(Self::EMPTY) };
        if upload.incoming.is_some() {
            return None;
        }
        let first = upload.first.iter().map(|frame| match (frame.data_ref(), frame.trailers_ref()) {
            (Some(data), _) => Frame::data(data.clone()),
            (_, trailers) => Frame::trailers(trailers.cloned().unwrap_or_default()),
        });
        let first: VecDeque<_> = first.collect();
        upload.memory.borrow_mut().read_ahead(first.iter().map(length).sum::<usize>() as u64);
        Some(Self(Some(Upload {
            first,
            incoming: None,
            client: Rc::clone(&upload.client),
            clock: Rc::clone(&upload.clock),
            memory: Rc::clone(&upload.memory),
            progress: upload.progress.clone(),
            when_over: WhenOver::default(),
        })))
    }

    /// Has something done when all of it has come, or nothing more will; at once, if that is so already.
    pub(crate) fn when_over(&mut self, done: Box<dyn FnOnce()>) {
        match &mut self.0 {
            Some(upload) if upload.incoming.is_some() => upload.when_over.0 = Some(done),
            _ => done(),
        }
    }
}

impl Upload {
    fn poll_incoming(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        let Some(incoming) = &mut self.incoming else { return Poll::Ready(None) };
        let frame = Pin::new(&mut *incoming).poll_frame(cx);
        self.progress.wants(frame.is_pending());
        if frame.is_pending() && self.progress.is_awaited() {
            self.client.waits(Awaited::Upload, self.clock.last());
        }
        let mut frame = ready!(frame);
        let (bytes, over) = match &mut frame {
            Some(Ok(frame)) => {
                if let Some(trailers) = frame.trailers_mut() {
                    hop_by_hop::trailers(trailers);
                }
                (length(frame), incoming.is_end_stream())
            }
            _ => (0, true),
        };
        self.progress.moved(self.clock.last(), bytes, over);
        if over {
            self.client.over(Awaited::Upload);
            self.incoming = None;
            self.end();
        } else {
            self.client.moved(Awaited::Upload, bytes);
        }
        Poll::Ready(frame)
    }

    fn end(&mut self) {
        if let Some(done) = self.when_over.0.take() {
            done();
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        let Some(upload) = &mut self.0 else { return Poll::Ready(None) };
        match upload.first.pop_front() {
            Some(frame) => {
                upload.memory.borrow_mut().sent_ahead(length(&frame) as u64);
                Poll::Ready(Some(Ok(frame)))
            }
            None => upload.poll_incoming(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(|upload| upload.first.is_empty() && upload.incoming.is_none())
    }

    fn size_hint(&self) -> SizeHint {
        let Some(upload) = &self.0 else { return SizeHint::with_exact(0) };
        let first: usize = upload.first.iter().map(length).sum();
        let rest = upload.incoming.as_ref().map_or_else(|| SizeHint::with_exact(0), Incoming::size_hint);
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower() + first as u64);
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper + first as u64);
        }
        hint
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.memory.borrow_mut().sent_ahead(self.first.iter().map(length).sum::<usize>() as u64);
        self.client.over(Awaited::Upload);
        self.end();
    }
}
