//! [`Answer`]: what a request is answered with, and what is done before.

use std::io;
use std::time::Duration;

use units::Span;

use crate::body::Body;
use crate::content::{Content, ContentFile};
use crate::delay::{Delay, Pace};
use crate::filler::Filler;
use crate::media_type::{HTML, TEXT};
use crate::options::Mode;
use crate::page::{NoPage, Page};
use crate::request::{Method, Request, Version};
use crate::status::Status;

/// The answer to one request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: Status,
    pub(crate) media_type: &'static str,
    pub(crate) body: Body,
    /// What is done before the response is sent.
    pub(crate) work: Work,
    pub(crate) pace: Pace,
    /// Whether the body is left out, as HEAD asks.
    pub(crate) head_only: bool,
    pub(crate) version: Version,
    /// What becomes of the connection.
    pub(crate) then: Then,
}

/// What is done before a response is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    None,
    /// Burning this much CPU time.
    Burn(Span),
    /// Waiting until this long after the request's arrival.
    Wait(Span),
}

/// What becomes of a connection after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    KeepOpen,
    Close,
    /// Close, but read on for a while: the client may still be sending, and closing a socket with
    /// unread input resets the connection before the client has read why (RFC 9112, section 9.6).
    CloseGently,
}

/// How long a client that was refused is read on, and how far.
pub(crate) const GENTLE_CLOSE: Duration = Duration::from_secs(1);
pub(crate) const GENTLE_CLOSE_BYTES: usize = 1 << 20;

/// What the server has.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) mode: Mode,
    pub(crate) content: Option<Content>,
}

impl Site {
    /// What `request` is answered with.
    pub(crate) fn answer(&self, request: &Request<'_>) -> Answer {
        Answer {
            head_only: request.method == Method::Head,
            version: request.version,
            then: if request.keep_alive { Then::KeepOpen } else { Then::Close },
            ..self.respond(request)
        }
    }

    fn respond(&self, request: &Request<'_>) -> Answer {
        if request.method == Method::Other {
            return Answer::text(Status::MethodNotAllowed, "only GET, HEAD and POST\n");
        }
        match self.file(request.target) {
            Ok(Some(ContentFile { body, media_type })) => return Answer::new(media_type, body),
            Ok(None) => {}
            Err(error) => {
                return Answer::text(Status::InternalError, format!("the file cannot be read: {error}\n"));
            }
        }
        match Page::at(request.target) {
            Ok(Page::Burn(_) | Page::Delay(_)) if self.mode == Mode::Static => Answer::text(
                Status::NotFound,
                "static mode has no pages that burn CPU or wait; start with --mode workers\n",
            ),
            Ok(page) => Answer::of(page),
            Err(NoPage::NotFound) => Answer::text(Status::NotFound, "not found; / names what there is\n"),
            Err(NoPage::Malformed(expected)) => Answer::text(Status::BadRequest, expected),
        }
    }

    fn file(&self, target: &str) -> io::Result<Option<ContentFile>> {
        let path = target.split_once('?').map_or(target, |(path, _)| path);
        self.content.as_ref().map_or(Ok(None), |content| content.find(path))
    }
}

impl Answer {
    /// The answer to what is not a request, or not one that this server can read to its end: where the
    /// next would begin is unknown.
    pub(crate) fn refusal(status: Status) -> Self {
        Self { then: Then::CloseGently, ..Self::text(status, format!("{}\n", status.line())) }
    }

    fn new(media_type: &'static str, body: Body) -> Self {
        Self {
            status: Status::Ok,
            media_type,
            body,
            work: Work::None,
            pace: Pace::AT_ONCE,
            head_only: false,
            version: Version::Http11,
            then: Then::KeepOpen,
        }
    }

    fn text(status: Status, text: impl Into<bytes::Bytes>) -> Self {
        Self { status, ..Self::new(TEXT, Body::text(text)) }
    }

    fn of(page: Page) -> Self {
        match page {
            Page::Home => Self::new(HTML, Body::text(HOME)),
            Page::Health => Self::new(TEXT, Body::text("ok\n")),
            Page::Bytes(length) => Self::new(TEXT, Body::Filler(Filler::new(length))),
            Page::Burn(cost) => {
                let page =
                    format!("<!doctype html>\n<title>Burnt</title>\n<p>This page cost {cost} of CPU time.\n");
                Self { work: Work::Burn(cost), ..Self::new(HTML, Body::text(page)) }
            }
            Page::Delay(Delay { before, bytes, pace }) => {
                Self { work: Work::Wait(before), pace, ..Self::new(TEXT, Body::Filler(Filler::new(bytes))) }
            }
        }
    }
}

const HOME: &str = "<!doctype html>
<html lang=\"en\">
<title>Headworks origin</title>
<h1>Headworks origin</h1>
<p>A web server to measure against.
<ul>
<li><a href=\"/bytes/1024\">/bytes/N</a>: N bytes from memory
<li><a href=\"/burn?cpu=25ms\">/burn?cpu=25ms</a>: a page that costs the server 25 ms of CPU time
<li><a href=\"/delay?before=50ms&amp;bytes=10000&amp;pieces=5&amp;between=10ms\">/delay?before=50ms&amp;bytes=10000&amp;pieces=5&amp;between=10ms</a>:
10000 bytes after 50 ms, in 5 parts 10 ms apart
<li><a href=\"/healthz\">/healthz</a>: whether the server answers
</ul>
";
