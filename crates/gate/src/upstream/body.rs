//! [`Body`]: the body of a request on its way from the client to the upstream.

use std::cell::Cell;
use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use units::Time;

use crate::client::Client;
use crate::clock::Clock;

/// The body of a request.
#[derive(Debug)]
pub(crate) struct Body(Option<Upload>);

#[derive(Debug)]
struct Upload {
    /// What has come already.
    first: VecDeque<Frame<Bytes>>,
    incoming: Incoming,
    client: Rc<Client>,
    clock: Rc<Clock>,
    progress: Progress,
}

/// When a piece of a body last moved, for those who wait for what follows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Rc<Cell<Time>>);

impl Progress {
    pub(crate) fn last(&self) -> Time {
        self.0.get()
    }
}

/// What is read of a body before its request asks for a place: most bodies as a whole. A client
/// that sends slowly then holds a connection and not a place in the server.
const FIRST: u64 = 32 * 1024;

impl Body {
    pub(crate) const EMPTY: Self = Self(None);

    pub(crate) fn new(incoming: Incoming, client: &Rc<Client>, clock: &Rc<Clock>) -> Self {
        if incoming.is_end_stream() {
            return Self::EMPTY;
        }
        let (client, clock) = (Rc::clone(client), Rc::clone(clock));
        Self(Some(Upload { first: VecDeque::new(), incoming, client, clock, progress: Progress::default() }))
    }

    /// Reads the first of it.
    ///
    /// # Errors
    /// When the client breaks off.
    pub(crate) async fn fetch_first(&mut self) -> Result<(), hyper::Error> {
        let Some(upload) = &mut self.0 else { return Ok(()) };
        let mut left = FIRST;
        while left > 0 && !upload.incoming.is_end_stream() {
            let next = std::future::poll_fn(|cx| upload.poll_incoming(cx)).await;
            let Some(frame) = next.transpose()? else { break };
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len) as u64);
            upload.first.push_back(frame);
        }
        Ok(())
    }

    /// When a piece last moved; never, for an empty one.
    pub(crate) fn progress(&self) -> Progress {
        self.0.as_ref().map_or_else(Progress::default, |upload| upload.progress.clone())
    }
}

impl Upload {
    fn poll_incoming(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.incoming).poll_frame(cx);
        if frame.is_pending() {
            self.client.uploading.waits(self.clock.last());
        }
        let frame = ready!(frame);
        match &frame {
            Some(Ok(frame)) => self.client.uploading.moved(frame.data_ref().map_or(0, Bytes::len)),
            _ => self.client.uploading.over(),
        }
        self.progress.0.set(self.clock.last());
        Poll::Ready(frame)
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(upload) = &mut self.0 else { return Poll::Ready(None) };
        match upload.first.pop_front() {
            Some(frame) => Poll::Ready(Some(Ok(frame))),
            None => upload.poll_incoming(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(|upload| upload.first.is_empty() && upload.incoming.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        let Some(upload) = &self.0 else { return SizeHint::with_exact(0) };
        let first: usize = upload.first.iter().filter_map(Frame::data_ref).map(Bytes::len).sum();
        let rest = upload.incoming.size_hint();
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
        self.client.uploading.over();
    }
}
