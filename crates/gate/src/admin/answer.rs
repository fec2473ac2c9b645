//! [`Answer`]: what the admin interface says.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use serde::Serialize;

use crate::admin::stream::Stream;

/// What the admin interface says.
pub(super) type Answer = Response<Page>;

/// The body of an answer.
#[derive(Debug)]
pub(super) enum Page {
    Whole(Option<Bytes>),
    Events(Stream),
}

impl Body for Page {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let piece = match &mut *self {
            Self::Whole(text) => Poll::Ready(text.take()),
            Self::Events(stream) => stream.poll_next(cx),
        };
        piece.map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(text) => SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64)),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

pub(super) fn page(content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    answer(content_type, Page::Whole(Some(body.into())))
}

/// A stream of server-sent events.
pub(super) fn events(stream: Stream) -> Answer {
    answer("text/event-stream", Page::Events(stream))
}

fn answer(content_type: &'static str, body: Page) -> Answer {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // What clients sent stands in some answers; no browser is to take it for a page.
    headers.insert(HeaderName::from_static("x-content-type-options"), HeaderValue::from_static("nosniff"));
    response
}

pub(super) fn json(value: &impl Serialize) -> Answer {
    match serde_json::to_string(value) {
        Ok(text) => page("application/json", text + "\n"),
        Err(why) => error(StatusCode::INTERNAL_SERVER_ERROR, &why.to_string()),
    }
}

/// An answer of JSON with another status than 200.
pub(super) fn json_with(status: StatusCode, value: &impl Serialize) -> Answer {
    let mut answer = json(value);
    *answer.status_mut() = status;
    answer
}

/// The body of every answer that says no.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct Problem {
    /// What is wrong, and how to mend it.
    error: String,
}

pub(super) fn error(status: StatusCode, why: &str) -> Answer {
    json_with(status, &Problem { error: why.to_owned() })
}

pub(super) fn not_allowed(methods: &str) -> Answer {
    let mut response = error(StatusCode::METHOD_NOT_ALLOWED, &format!("use {methods}"));
    if let Ok(methods) = HeaderValue::from_str(methods) {
        response.headers_mut().insert(ALLOW, methods);
    }
    response
}
