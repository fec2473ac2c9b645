//! Refusals: what a client is told that cannot be served now.

use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response};

use crate::reply::{Busy, Reply};
use crate::settings::{Close, Reject};

/// Refusals, prepared as far as they can be: there are most of them when there is least time.
#[derive(Debug)]
pub(crate) struct Refusals {
    settings: Reject,
    retry_after: Vec<HeaderValue>,
    next: std::cell::Cell<usize>,
}

impl Refusals {
    pub(crate) fn new(settings: Reject) -> Self {
        /// Spreading over more seconds makes no difference any more.
        const WIDEST: u32 = 1000;
        let (from, to) = settings.retry_after;
        let retry_after = (from..=to.min(from.saturating_add(WIDEST))).map(HeaderValue::from).collect();
        Self { settings, retry_after, next: std::cell::Cell::new(0) }
    }

    /// A refusal; `known` when the client has a session.
    pub(crate) fn refuse(&self, busy: Busy, known: bool) -> Response<Reply> {
        let mut response = Response::new(Reply::whole(busy, self.settings.body.clone()));
        *response.status_mut() = self.settings.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, self.settings.content_type.clone());
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.next_retry_after() {
            headers.insert(RETRY_AFTER, seconds.clone());
        }
        let close = match self.settings.close {
            Close::New => !known,
            Close::Always => true,
            Close::Never => false,
        };
        if close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// In turn, in steps that reach every value: spread as evenly as chance would.
    fn next_retry_after(&self) -> Option<&HeaderValue> {
        const STRIDE: usize = 7;
        let next = self.next.get();
        self.next.set(next.wrapping_add(STRIDE));
        self.retry_after.get(next % self.retry_after.len().max(1))
    }
}
